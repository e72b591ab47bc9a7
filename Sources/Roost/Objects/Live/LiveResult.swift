/// The result of one live query, kept in order while objects change.
///
/// - `kept` has every match up to `horizon` in the order, and no other; where that is `nil`, every match.
///   A query with a limit keeps some more than it shows, so that it has what moves up.
/// - Between `stage…` and `finish` it is as it was before the batch.
/// - Where `isReloadDue`, what it keeps is not enough any more: it stages nothing and is loaded anew.
final class LiveResult<Item: Identifiable & Sendable> where Item.ID: Sendable {
    typealias Element = LiveElement<Item>

    /// What the batch under way does to one object.
    private struct StagedChange {
        let object: LiveObject<Item>
        /// Where it was; `nil` where it was not in the result.
        let old: SortKey?
        var new: SortKey?
    }

    let id: UInt64
    let query: Query<Item>
    let order: LiveOrder<Item>
    let outlet: LiveOutlet<Item>
    private lazy var stored = query.storedCondition
    private let window: LiveWindow?
    private var kept = SortedElements<Item>()
    private var horizon: SortKey?
    private var staged: [StagedChange] = []
    /// What was shown last, of a query with a limit or an offset.
    private var shown: [Element] = []
    private var toldBatch: UInt64 = 0
    private(set) var isReloadDue = false
    /// Whether batches were missed since it was shown last: what changed in it cannot be told.
    private(set) var isMissed = false

    /// `false` where an object's stored bytes say that it does not match.
    func mayMatch(_ bytes: UnsafeRawBufferPointer) -> Bool { stored?.answer(bytes) != false }

    /// Set where the batch under way was found to touch it.
    var isTouched = false
    /// The last look-up that found it.
    var foundBy: UInt64 = 0

    init(
        _ id: UInt64, _ query: Query<Item>, _ order: LiveOrder<Item>, _ outlet: LiveOutlet<Item>
    ) {
        self.id = id
        self.query = query
        self.order = order
        self.outlet = outlet
        window = LiveWindow(query)
    }

    var items: [Item] {
        if window != nil { return shown.map(\.object.item) }
        var items: [Item] = []
        items.reserveCapacity(kept.count)
        kept.forEach { items.append($0.object.item) }
        return items
    }

    var count: Int { window == nil ? kept.count : shown.count }

    // MARK: Loading

    /// Takes what was read, in order: all matches, or where not `isComplete` the first. Returns what of
    /// them it does not keep any more.
    func load(
        _ objects: [LiveObject<Item>], isComplete: Bool, in batch: UInt64
    ) -> [LiveObject<Item>] {
        let before = kept
        kept = SortedElements(
            sorted: objects.map { LiveElement(key: $0.sortKey(order), object: $0) })
        horizon = isComplete ? nil : objects.last?.sortKey(order)
        // So many of those that were read have gone meanwhile that there may be others to show.
        isReloadDue =
            !isComplete && window.map { objects.isEmpty || objects.count < $0.end } ?? false
        staged = []
        before.forEach { $0.object.removeHolder(self) }
        for object in objects { object.holders.append(self) }
        var dropped: [LiveObject<Item>] = []
        before.forEach { if $0.object.holders.isEmpty { dropped.append($0.object) } }
        return dropped
    }

    /// Begins to show what is kept, and tells nobody.
    func show(in batch: UInt64) {
        if let window { shown = kept.elements(from: window.offset, to: window.end) }
        toldBatch = batch
        isMissed = false
    }

    /// Lets go of all objects; returns those that nobody keeps any more.
    func removeAll() -> [LiveObject<Item>] {
        var dropped: [LiveObject<Item>] = []
        kept.forEach { element in
            element.object.removeHolder(self)
            if element.object.holders.isEmpty { dropped.append(element.object) }
        }
        kept = SortedElements()
        shown = []
        return dropped
    }

    // MARK: One batch

    /// The object, as it was before the batch, leaves its place.
    func stageDeparture(_ object: LiveObject<Item>) {
        if isReloadDue { return }
        staged.append(StagedChange(object: object, old: object.sortKey(order)))
    }

    /// The object, as it is now, matches; whether it is kept.
    func stageArrival(_ object: LiveObject<Item>) -> Bool {
        if isReloadDue { return false }
        let key = object.sortKey(order)
        if let horizon, horizon < key { return false }
        // An object's changes come one after the other.
        if let last = staged.last, last.object === object, last.new == nil {
            staged[staged.count - 1].new = key
        } else {
            staged.append(StagedChange(object: object, old: nil, new: key))
        }
        return true
    }

    /// Makes the result that of after the batch.
    ///
    /// - Parameter dropped: Takes the objects that nobody keeps any more.
    /// - Returns: what changed in what is shown; `nil` for nothing, and empty where positions were not
    ///   asked for.
    func finish(in batch: UInt64, dropped: inout [LiveObject<Item>]) -> ResultChange<Item>? {
        isTouched = false
        let changes = staged
        staged.removeAll(keepingCapacity: changes.count < 64)
        guard let window else { return changeWhole(changes, in: batch) }
        if changes.isEmpty { return nil }
        let (departed, arrived) = leavingPlaces(changes)
        changeKept(departed, arrived)
        if kept.count > window.largestCount { trim(to: window.keptCount, &dropped) }
        guard horizon == nil || kept.count >= window.end else {
            isReloadDue = true
            return nil
        }
        return showNew(window, in: batch)
    }

    /// What changed in what is shown since it was shown last.
    func reloaded(in batch: UInt64) -> ResultChange<Item>? {
        window.flatMap { showNew($0, in: batch) }
    }

    func noteMissed() {
        isReloadDue = true
        isMissed = true
    }

    private func showNew(_ window: LiveWindow, in batch: UInt64) -> ResultChange<Item>? {
        let new = kept.elements(from: window.offset, to: window.end)
        let change = ResultDifference.between(
            shown, new, changedSince: toldBatch, number: LiveComparisons.next())
        shown = new
        toldBatch = batch
        return change.isEmpty ? nil : change
    }

    private func trim(to count: Int, _ dropped: inout [LiveObject<Item>]) {
        let all = kept.all
        for element in all[count...] {
            element.object.removeHolder(self)
            if element.object.holders.isEmpty { dropped.append(element.object) }
        }
        kept = SortedElements(sorted: Array(all[..<count]))
        horizon = all[count - 1].key
    }

    // MARK: What is kept

    private func changeKept(_ departed: [Element], _ arrived: [Element]) {
        guard isMany(departed.count + arrived.count) else {
            for element in departed { kept.remove(at: kept.rank(of: element.key)) }
            for element in arrived { _ = kept.insert(element) }
            return
        }
        kept = SortedElements(sorted: Self.merged(kept.all, departed, arrived))
    }

    private func changeWhole(_ changes: [StagedChange], in batch: UInt64) -> ResultChange<Item>? {
        toldBatch = batch
        if changes.isEmpty { return nil }
        let (departed, arrived) = leavingPlaces(changes)
        guard outlet.wantsPositions else {
            changeKept(departed, arrived)
            return ResultChange()
        }
        if isMany(departed.count + arrived.count) {
            let old = kept.all
            let new = Self.merged(old, departed, arrived)
            kept = SortedElements(sorted: new)
            return ResultDifference.between(
                old, new, changedSince: batch - 1, number: LiveComparisons.next())
        }
        return changePlaces(changes, departed, arrived)
    }

    private func changePlaces(
        _ changes: [StagedChange], _ departed: [Element], _ arrived: [Element]
    ) -> ResultChange<Item> {
        var difference = ResultDifference<Item>()
        difference.departures = departed.map { kept.rank(of: $0.key) }
        for position in difference.departures.reversed() { kept.remove(at: position) }
        let number = LiveComparisons.next()
        for (index, element) in departed.enumerated() { element.object.mark(index, number) }
        for element in arrived {
            let object = element.object
            difference.arrivals.append(
                .init(
                    position: kept.insert(element), object: object, source: object.place(number)))
        }
        var change = difference.change()
        for update in changes where update.old != nil && update.old == update.new {
            let object = update.object
            change.updated.append(
                .init(position: kept.rank(of: object.sortKey(order)), item: object.item))
        }
        change.updated.sort { $0.position < $1.position }
        return change
    }

    /// A pass over all costs less than to look for each.
    private func isMany(_ count: Int) -> Bool { count > 16 + kept.count / 32 }

    /// What leaves its place, and what comes to one, in order.
    private func leavingPlaces(
        _ changes: [StagedChange]
    ) -> (departed: [Element], arrived: [Element]) {
        var departed: [Element] = []
        var arrived: [Element] = []
        for change in changes where change.old != change.new {
            if let old = change.old {
                departed.append(LiveElement(key: old, object: change.object))
            }
            if let new = change.new {
                arrived.append(LiveElement(key: new, object: change.object))
            }
        }
        departed.sort { $0.key < $1.key }
        arrived.sort { $0.key < $1.key }
        return (departed, arrived)
    }

    private static func merged(
        _ old: [Element], _ departed: [Element], _ arrived: [Element]
    ) -> [Element] {
        var merged: [Element] = []
        merged.reserveCapacity(old.count + arrived.count - departed.count)
        var (nextDeparted, nextArrived) = (0, 0)
        for element in old {
            if nextDeparted < departed.count, departed[nextDeparted].key == element.key {
                nextDeparted += 1
                continue
            }
            while nextArrived < arrived.count, arrived[nextArrived].key < element.key {
                merged.append(arrived[nextArrived])
                nextArrived += 1
            }
            merged.append(element)
        }
        merged += arrived[nextArrived...]
        return merged
    }
}

/// What of the matches a query with a limit or an offset shows, and how many are kept for that.
struct LiveWindow {
    let offset: Int
    /// After the last position that is shown.
    let end: Int
    /// How many of the first matches are read and kept.
    let keptCount: Int
    /// With more than so many the last are let go of.
    let largestCount: Int

    init?<Item>(_ query: Query<Item>) {
        guard query.limitCount != nil || query.offsetCount > 0 else { return nil }
        offset = query.offsetCount
        let (end, isEndless) = offset.addingReportingOverflow(query.limitCount ?? .max)
        self.end = isEndless ? .max : end
        let spareCount = Swift.max(16, Swift.min(self.end, 1024))
        let (count, isAll) = self.end.addingReportingOverflow(spareCount)
        keptCount = isAll ? .max : count
        largestCount = isAll || count > .max - spareCount ? .max : count + spareCount
    }
}
