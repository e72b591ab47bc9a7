import RoostFormat

/// What a transaction read, all of it from one view: keys, with a value or without, and ranges of
/// keys, each whole.
package struct TransactionReads {
    struct Key: Sendable, Hashable {
        let hash: UInt64
        let recordKey: [UInt8]

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    package let view: EngineView
    private(set) var keys: Set<Key> = []
    private(set) var ranges: Set<RecordRange> = []
    /// The ranges that were asked for, of which `ranges` has what was looked at.
    private(set) var wholeRanges: Set<RecordRange> = []
    /// The dictionaries of the keys and ranges, by prefix.
    private(set) var dictionaries: Set<[UInt8]> = []
    /// When the first of the values that were there expires.
    private(set) var earliestDeadline = Deadline.never
    /// Whether the keys that the batch changes have to be as they were in the view too.
    package var includesChanges = false

    package init(_ view: EngineView) { self.view = view }

    mutating func note(_ recordKey: UnsafeRawBufferPointer, hash: UInt64, in name: DictionaryName) {
        if keys.insert(Key(hash: hash, recordKey: Array(recordKey))).inserted {
            dictionaries.insert(name.prefix)
        }
    }

    /// Notes that a dictionary is not emptied.
    package mutating func note(_ name: DictionaryName) { dictionaries.insert(name.prefix) }

    mutating func note(_ range: RecordRange, of whole: RecordRange) {
        wholeRanges.insert(whole)
        if ranges.insert(range).inserted { dictionaries.insert(range.prefix) }
    }

    /// Notes what a scan in this order has looked at when `last` was the last record key that it gave; all of the range
    /// where that is `nil`.
    package mutating func note(
        scanned range: RecordRange, _ order: ScanOrder, behind last: [UInt8]? = nil
    ) {
        note(last.map { range.cut(behind: $0, order) } ?? range, of: range)
    }

    /// Notes that a value was there that is so only before `deadline`.
    mutating func note(_ deadline: Deadline) {
        earliestDeadline = min(earliestDeadline, deadline)
    }

    /// The reads by shard, of a batch with these changes. A range has keys in all of them.
    func byShard(_ changes: [[EncodedBatch.Change]]) -> [ShardReads?] {
        let count = changes.count
        let ranges = MergedRanges(ranges)
        var parts = Array(repeating: [Key](), count: count)
        for key in keys { parts[shardIndex(of: key.hash, shardCount: count)].append(key) }
        return parts.enumerated().map { index, keys in
            let changes = includesChanges ? changes[index] : []
            if keys.isEmpty && ranges.isEmpty && changes.isEmpty { return nil }
            return ShardReads(
                view: view, part: view.parts[index], keys: keys, changes: changes,
                claim: ReadClaim(
                    hashes: Set(keys.lazy.map(\.hash)), ranges: ranges,
                    dictionaries: dictionaries),
                earliestDeadline: earliestDeadline)
        }
    }
}

/// A transaction's reads in one shard.
final class ShardReads: Sendable {
    private let view: EngineView
    private let part: ViewPart
    private let keys: [TransactionReads.Key]
    /// Of the batch, where it rests on what it changes.
    private let changes: [EncodedBatch.Change]
    let claim: ReadClaim
    /// From here on a value is gone that the transaction read, be it in another shard.
    let earliestDeadline: Deadline
    private let faults: PlantedFaults

    init(
        view: EngineView, part: ViewPart, keys: [TransactionReads.Key],
        changes: [EncodedBatch.Change], claim: ReadClaim, earliestDeadline: Deadline
    ) {
        self.view = view
        self.part = part
        self.keys = keys
        self.changes = changes
        self.claim = claim
        self.earliestDeadline = earliestDeadline
        faults = view.plantedFaults
    }

    /// Whether nothing that was read has changed since the view began, as far as is visible.
    ///
    /// Once the table that the view began on was frozen, what changed is not known any more key
    /// by key, and counts as changed: the transaction runs again.
    func areCurrent(in state: borrowing ShardState) -> Bool {
        guard state.layers.isOnActiveTable(view.id),
            claim.dictionaries.allSatisfy({ state.clears[$0] == part.clears[$0] })
        else { return false }
        let isAnyKeyChanged =
            keys.contains { state.layers.isChanged(hash: $0.hash, since: view.id) }
            || changes.contains { state.layers.isChanged(hash: $0.hash, since: view.id) }
        if isAnyKeyChanged && !faults.contains(.ignoredReads) { return false }
        return faults.contains(.ignoredRanges) || claim.ranges.isEmpty
            || !state.layers.isAnyChanged(since: view.id) { claim.ranges.contains($0) }
    }
}
