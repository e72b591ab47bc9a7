/// What the workspace should hold: the oracle of a run.
///
/// - `batches[i]` is the batch with sequence number `i + 1`; `nil` where it is not known which
///   of the `pending` calls it came from, if any.
/// - `acknowledgedCount`: batches up to this number were acknowledged, so the death of the
///   process leaves them. `durableCount`: they were promised to be on disk, so a power cut does.
/// - A batch that failed after it was appended is in the log and not visible: the next opening
///   may bring it.
package struct History: Sendable {
    package enum Change: Sendable, Equatable {
        case put(dictionary: String, key: String, value: [UInt8])
        case remove(dictionary: String, key: String)
        case clear(dictionary: String)
    }

    package struct Batch: Sendable {
        package var changes: [Change]
        /// Somebody waited for it to be on disk: an opening that shows it has seen to that.
        package var isAwaited: Bool

        package init(changes: [Change], isAwaited: Bool) {
            self.changes = changes
            self.isAwaited = isAwaited
        }
    }

    /// A call whose batch's place in the log, if it has one, is not known.
    struct Pending: Sendable {
        enum State { case underWay, failed, acknowledged, enqueued }

        var identifier: Int
        var batch: Batch
        var state = State.underWay
        /// The last batch when the call began, and when it ended: its own is between.
        var lowest: Int
        var highest = Int.max
        /// Whoever asked was told that it is on disk.
        var isOnDisk = false
        /// A reader saw it, so what a power cut leaves has it, if it waits for the disk.
        var wasSeen = false
    }

    /// The values by key by dictionary; no dictionary in it is empty.
    package typealias Content = [String: [String: [UInt8]]]

    /// Places in `batches` that were given to calls because all of it then showed what was found;
    /// another order of the calls may have shown the same.
    private struct Guess {
        var indices: [Int]
        var calls: [Pending]
    }

    package private(set) var batches: [Batch?] = []
    private var guesses: [Guess] = []
    private(set) var pending: [Pending] = []
    private(set) var visibleContent: Content = [:]
    package var acknowledgedCount = 0
    package var durableCount = 0
    /// Batches up to this one were promised to be on disk within a time.
    var promisedCount = 0
    /// What the transactions rested on, whose places in the log are known.
    private var rests: [Rest] = []
    private var nextIdentifier = 0
    /// The time of day that values expire by, in milliseconds since 1970.
    private let clock: @Sendable () -> UInt64

    package init(clock: @escaping @Sendable () -> UInt64 = { 0 }) { self.clock = clock }

    var now: UInt64 { clock() }

    package var lastKnown: Int { batches.count }

    /// The batch with a number, where it is known which one that is.
    func certainBatch(_ sequence: Int) -> Batch? {
        guard batches.indices.contains(sequence - 1),
            !guesses.contains(where: { $0.indices.contains(sequence - 1) })
        else { return nil }
        return batches[sequence - 1]
    }

    /// A value that the transaction with a number has read, or that there was none.
    struct Rest: Sendable {
        var sequence: Int
        var dictionary: String
        var key: String
        var value: [UInt8]?
    }

    mutating func noteRest(_ rest: Rest) { rests.append(rest) }

    /// The first of the transactions that are kept and rest on what is not, where there is one. An
    /// opening may have cut off what was visible when they read it, or never found it.
    private func unfoundedRest() -> Rest? {
        rests.first { rest in
            !allows(
                rest.value, dictionary: rest.dictionary, key: rest.key, before: rest.sequence)
        }
    }

    // MARK: Calls

    /// A call begins that makes one batch, when `lastSequence` is the last.
    mutating func begin(_ batch: Batch, lastSequence: Int) -> Int {
        nextIdentifier += 1
        pending.append(Pending(identifier: nextIdentifier, batch: batch, lowest: lastSequence))
        return nextIdentifier
    }

    /// A put is visible, and gets its number later, or never.
    mutating func enqueue(_ change: Change, lastSequence: Int) -> Int {
        let batch = Batch(changes: [change], isAwaited: false)
        let identifier = begin(batch, lastSequence: lastSequence)
        if let index = index(of: identifier) { pending[index].state = .enqueued }
        return identifier
    }

    /// What these calls enqueued is on disk.
    mutating func noteOnDisk(_ identifiers: [Int]) {
        for identifier in identifiers {
            if let index = index(of: identifier) { pending[index].isOnDisk = true }
        }
    }

    /// The call succeeded and its batch got the number `sequence`.
    mutating func place(_ identifier: Int, at sequence: Int) throws {
        guard let index = index(of: identifier) else { return }
        let call = pending.remove(at: index)
        guard sequence > call.lowest else {
            throw SimulationFailure("batch \(sequence) was called for behind batch \(call.lowest)")
        }
        if call.isOnDisk { durableCount = max(durableCount, sequence) }
        while batches.count < sequence { batches.append(nil) }
        guard batches[sequence - 1] == nil else {
            throw SimulationFailure("two batches have the number \(sequence)")
        }
        batches[sequence - 1] = call.batch
        if sequence == batches.count {
            Self.apply(call.batch, to: &visibleContent)
        } else {
            visibleContent = content(of: batches)
        }
    }

    /// The call ended without saying its batch's number.
    mutating func end(_ identifier: Int, isAcknowledged: Bool, lastSequence: Int) {
        guard let index = index(of: identifier) else { return }
        pending[index].state = isAcknowledged ? .acknowledged : .failed
        // A frame whose write failed may be whole though it does not count.
        pending[index].highest = lastSequence + (isAcknowledged ? 0 : 1)
        // Nothing was appended meanwhile but what is known.
        if pending[index].highest <= pending[index].lowest { pending.remove(at: index) }
    }

    /// The call ended and made no batch.
    mutating func drop(_ identifier: Int) { pending.removeAll { $0.identifier == identifier } }

    private func index(of identifier: Int) -> Int? {
        pending.firstIndex { $0.identifier == identifier }
    }

    package mutating func append(_ batch: Batch) {
        batches.append(batch)
        Self.apply(batch, to: &visibleContent)
    }

    // MARK: Openings

    /// An opening kept the first `count` batches and shows `found`: finds out which calls made
    /// the batches that are not known. `isWhole` where every acknowledged batch must be there;
    /// `isDamaged` where none of those must, as a part of the log was declared torn after damage.
    /// `nil`, or how the two differ.
    package mutating func keep(
        _ count: Int, showing found: Content, isWhole: Bool = false, isDamaged: Bool = false
    ) -> String? {
        if count < batches.count {
            // A part of what was guessed is cut off, or what hid how it was: it is open again.
            for guess in guesses {
                for index in guess.indices where index < count { batches[index] = nil }
                pending += guess.calls
            }
            guesses = []
        }
        batches.removeSubrange(min(count, batches.count)...)
        while batches.count < count { batches.append(nil) }
        let gaps = batches.indices.filter { batches[$0] == nil }
        let required = Set(
            pending.filter {
                if isDamaged { return false }
                return $0.isOnDisk || $0.state == .acknowledged && (isWhole || $0.batch.isAwaited)
                    || $0.wasSeen && $0.batch.isAwaited
            }.map(\.identifier))
        var search = Search(found: found, required: required)
        fill(gaps[...], &search)
        guard let explanation = search.explanation else {
            let expected = Self.live(content(of: batches), at: now)
            return (search.difference ?? "\(gaps.count) batches that nobody called for")
                + (expected == found
                    ? "" : "; " + (Self.difference(found: found, expected: expected) ?? ""))
        }
        batches = explanation
        rests.removeAll { $0.sequence > count }
        // What was guessed may be otherwise: it says nothing of what came before.
        if gaps.isEmpty, guesses.isEmpty, let rest = unfoundedRest() {
            return "transaction \(rest.sequence) is kept, and not what it read of \(rest.key)"
        }
        if !gaps.isEmpty { guesses.append(Guess(indices: gaps, calls: pending)) }
        pending = []
        visibleContent = found
        acknowledgedCount = count
        promisedCount = 0
        durableCount = max(min(durableCount, count), search.leastAwaitedCount)
        return nil
    }

    /// What is looked for in the places of unknown batches, and what was found.
    private struct Search {
        let found: Content
        /// Calls that must have a place.
        let required: Set<Int>
        var used: Set<Int> = []
        /// The first of the ways to fill the places that shows what was found.
        var explanation: [Batch?]?
        /// Batches up to this one are on disk whichever of those ways is the right one.
        var leastAwaitedCount = Int.max
        var triesLeft = 2000
        var difference: String?
    }

    /// Tries the calls in the places that may be theirs.
    private mutating func fill(_ gaps: ArraySlice<Int>, _ search: inout Search) {
        guard search.triesLeft > 0 || search.explanation == nil else {
            // Too many ways to look at all of them: what is certain without them.
            search.leastAwaitedCount = min(search.leastAwaitedCount, durableCount)
            return
        }
        guard let gap = gaps.first else { return judge(&search) }
        for call in pending
        where call.lowest <= gap && gap < call.highest && !search.used.contains(call.identifier) {
            batches[gap] = call.batch
            search.used.insert(call.identifier)
            fill(gaps.dropFirst(), &search)
            search.used.remove(call.identifier)
        }
        batches[gap] = nil
    }

    private func judge(_ search: inout Search) {
        search.triesLeft -= 1
        guard search.required.isSubset(of: search.used) else {
            search.difference = search.difference ?? "an acknowledged batch is not there"
            return
        }
        let expected = Self.live(content(of: batches), at: now)
        guard expected == search.found else {
            search.difference =
                search.difference ?? Self.difference(found: search.found, expected: expected)
            return
        }
        search.explanation = search.explanation ?? batches
        // A guess of an earlier opening may have it in another's place.
        let lastAwaited = batches.indices.last { index in
            batches[index]?.isAwaited == true
                && !guesses.contains { $0.indices.contains(index) }
        }
        search.leastAwaitedCount = min(search.leastAwaitedCount, lastAwaited.map { $0 + 1 } ?? 0)
    }

    // MARK: Content

    private func content(of batches: [Batch?]) -> Content {
        var content: Content = [:]
        for case let batch? in batches { Self.apply(batch, to: &content) }
        return content
    }

    static func apply(_ batch: Batch, to content: inout Content) {
        for case .clear(let dictionary) in batch.changes { content[dictionary] = nil }
        for change in batch.changes {
            switch change {
            case .put(let dictionary, let key, let value):
                content[dictionary, default: [:]][key] = value
            case .remove(let dictionary, let key):
                content[dictionary]?[key] = nil
                if content[dictionary]?.isEmpty == true { content[dictionary] = nil }
            case .clear: break
            }
        }
    }

    mutating func noteSeen(_ identifiers: Set<Int>) {
        for index in pending.indices where identifiers.contains(pending[index].identifier) {
            pending[index].wasSeen = true
        }
    }
}
