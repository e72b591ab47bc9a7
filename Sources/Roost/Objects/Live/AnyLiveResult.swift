/// The result of one live query, of whatever type its objects are, kept in order while they change.
///
/// What happens for each object and each batch is here and of no type: in code that is generic over it, the
/// runtime's look-ups of types took longer than the work. docs/decisions/0251.
///
/// - `kept` has every match up to `horizon` in the order, and no other; where that is `nil`, every match.
///   A query with a limit keeps some more than it shows, so that it has what moves up.
/// - Between `stage…` and `finish` it is as it was before the batch.
/// - Where `isReloadDue`, what it keeps is not enough any more: it stages nothing and is loaded anew.
class AnyLiveResult {
    typealias Element = LiveElement
    /// Whether an object matches that stands there; of the result's type.
    typealias Test = (UnsafeRawPointer) throws -> Bool

    /// What the batch under way does to one object.
    private struct StagedChange {
        let object: AnyLiveObject
        /// Where it was; `nil` where it was not in the result.
        let old: SortKey?
        var new: SortKey?
    }

    let id: UInt64
    private let order: AnyLiveOrder
    private let window: LiveWindow?
    private let wantsPositions: Bool
    /// Made when it is first asked for.
    private final lazy var stored = makeStored()
    private let makeStored: () -> StoredCondition?
    let matches: Test
    private final var kept = SortedElements()
    private final var horizon: SortKey?
    private final var staged: [StagedChange] = []
    /// What was shown last, of a query with a limit or an offset.
    private final var shown: [Element] = []
    private final var toldBatch: UInt64 = 0
    private(set) final var isReloadDue = false
    /// Whether batches were missed since it was shown last: what changed in it cannot be told.
    private(set) final var isMissed = false
    /// Set where the batch under way was found to touch it.
    final var isTouched = false
    /// The last look-up that found it.
    final var foundBy: UInt64 = 0

    init(
        _ id: UInt64, _ order: AnyLiveOrder, _ window: LiveWindow?, wantsPositions: Bool,
        _ makeStored: @escaping () -> StoredCondition?, _ matches: @escaping Test
    ) {
        self.id = id
        self.order = order
        self.window = window
        self.wantsPositions = wantsPositions
        self.makeStored = makeStored
        self.matches = matches
    }

    /// As what it is: all results of a repository are of its type.
    final func of<Item: Identifiable & Sendable>(_ type: Item.Type) -> LiveResult<Item>
    where Item.ID: Sendable {
        unsafeDowncast(self, to: LiveResult<Item>.self)
    }

    /// `false` where an object's stored bytes say that it does not match.
    final func mayMatch(_ bytes: UnsafeRawBufferPointer) -> Bool { stored?.answer(bytes) != false }

    final func forEachShown(_ body: (AnyLiveObject) -> Void) {
        if window == nil {
            kept.forEach { body($0.object) }
        } else {
            for element in shown { body(element.object) }
        }
    }

    final var count: Int { window == nil ? kept.count : shown.count }

    // MARK: Loading

    /// Takes what was read, in order: all matches, or where not `isComplete` the first. Returns what of
    /// them it does not keep any more.
    final func load(
        _ objects: [AnyLiveObject], isComplete: Bool, in batch: UInt64
    ) -> [AnyLiveObject] {
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
        var dropped: [AnyLiveObject] = []
        before.forEach { if $0.object.holders.isEmpty { dropped.append($0.object) } }
        return dropped
    }

    /// Begins to show what is kept, and tells nobody.
    final func show(in batch: UInt64) {
        if let window { shown = kept.elements(from: window.offset, to: window.end) }
        toldBatch = batch
        isMissed = false
    }

    /// Lets go of all objects; returns those that nobody keeps any more.
    final func removeAll() -> [AnyLiveObject] {
        var dropped: [AnyLiveObject] = []
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
    final func stageDeparture(_ object: AnyLiveObject) {
        if isReloadDue { return }
        staged.append(StagedChange(object: object, old: object.sortKey(order)))
    }

    /// The object, as it is now, matches; whether it is kept.
    final func stageArrival(_ object: AnyLiveObject) -> Bool {
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
    final func finish(in batch: UInt64, dropped: inout [AnyLiveObject]) -> PlacesChange? {
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
    final func reloaded(in batch: UInt64) -> PlacesChange? {
        window.flatMap { showNew($0, in: batch) }
    }

    final func noteMissed() {
        isReloadDue = true
        isMissed = true
    }

    private final func showNew(_ window: LiveWindow, in batch: UInt64) -> PlacesChange? {
        let new = kept.elements(from: window.offset, to: window.end)
        let change = ResultDifference.between(
            shown, new, changedSince: toldBatch, number: LiveComparisons.next())
        shown = new
        toldBatch = batch
        return change.isEmpty ? nil : change
    }

    private final func trim(to count: Int, _ dropped: inout [AnyLiveObject]) {
        let all = kept.all
        for element in all[count...] {
            element.object.removeHolder(self)
            if element.object.holders.isEmpty { dropped.append(element.object) }
        }
        kept = SortedElements(sorted: Array(all[..<count]))
        horizon = all[count - 1].key
    }

    // MARK: What is kept

    private final func changeKept(_ departed: [Element], _ arrived: [Element]) {
        guard isMany(departed.count + arrived.count) else {
            for element in departed { kept.remove(at: kept.rank(of: element.key)) }
            for element in arrived { _ = kept.insert(element) }
            return
        }
        kept = SortedElements(sorted: Self.merged(kept.all, departed, arrived))
    }

    private final func changeWhole(_ changes: [StagedChange], in batch: UInt64) -> PlacesChange? {
        toldBatch = batch
        if changes.isEmpty { return nil }
        let (departed, arrived) = leavingPlaces(changes)
        guard wantsPositions else {
            changeKept(departed, arrived)
            return PlacesChange()
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

    private final func changePlaces(
        _ changes: [StagedChange], _ departed: [Element], _ arrived: [Element]
    ) -> PlacesChange {
        var difference = ResultDifference()
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
                .init(position: kept.rank(of: object.sortKey(order)), object: object))
        }
        change.updated.sort { $0.position < $1.position }
        return change
    }

    /// A pass over all costs less than to look for each.
    private final func isMany(_ count: Int) -> Bool { count > 16 + kept.count / 32 }

    /// What leaves its place, and what comes to one, in order.
    private final func leavingPlaces(
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
