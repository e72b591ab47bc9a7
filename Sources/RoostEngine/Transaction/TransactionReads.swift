import RoostFormat

/// What a transaction read, all of it from one view: keys, with a value or without, and ranges of
/// keys, each whole.
package struct TransactionReads {
    struct Key: Sendable, Hashable {
        let hash: UInt64
        let recordKey: [UInt8]
    }

    package let view: EngineView
    private var keys: Set<Key> = []
    private var ranges: Set<RecordRange> = []
    /// The dictionaries of the keys and ranges, by prefix.
    private var dictionaries: Set<[UInt8]> = []
    /// When the first of the values that were there expires.
    private var earliestDeadline = Deadline.never

    init(_ view: EngineView) { self.view = view }

    package var isEmpty: Bool { keys.isEmpty && ranges.isEmpty }
    var hasRanges: Bool { !ranges.isEmpty }

    mutating func note(_ recordKey: UnsafeRawBufferPointer, hash: UInt64, in name: DictionaryName) {
        if keys.insert(Key(hash: hash, recordKey: Array(recordKey))).inserted {
            dictionaries.insert(name.prefix)
        }
    }

    mutating func note(_ range: RecordRange) {
        if ranges.insert(range).inserted { dictionaries.insert(range.prefix) }
    }

    /// Notes that a value was there that is so only before `deadline`.
    mutating func note(_ deadline: Deadline) {
        earliestDeadline = min(earliestDeadline, deadline)
    }

    /// The reads by shard. A range has keys in all of them.
    func byShard(count: Int) -> [Int: ShardReads] {
        var parts = Array(repeating: [Key](), count: count)
        for key in keys { parts[shardIndex(of: key.hash, shardCount: count)].append(key) }
        var reads: [Int: ShardReads] = [:]
        for (index, keys) in parts.enumerated() where !keys.isEmpty || hasRanges {
            reads[index] = ShardReads(
                view: view, part: view.parts[index], keys: keys, ranges: Array(ranges),
                dictionaries: dictionaries, earliestDeadline: earliestDeadline)
        }
        return reads
    }
}

/// A transaction's reads in one shard.
final class ShardReads: Sendable {
    private let view: EngineView
    private let part: ViewPart
    private let keys: [TransactionReads.Key]
    private let hashes: Set<UInt64>
    private let ranges: [RecordRange]
    private let rangeDictionaries: Set<[UInt8]>
    private let dictionaries: Set<[UInt8]>
    /// From here on a value is gone that the transaction read, be it in another shard.
    let earliestDeadline: Deadline
    private let faults: PlantedFaults

    init(
        view: EngineView, part: ViewPart, keys: [TransactionReads.Key], ranges: [RecordRange],
        dictionaries: Set<[UInt8]>, earliestDeadline: Deadline
    ) {
        self.view = view
        self.part = part
        self.keys = keys
        hashes = Set(keys.map(\.hash))
        self.ranges = ranges
        rangeDictionaries = Set(ranges.map(\.prefix))
        self.dictionaries = dictionaries
        self.earliestDeadline = earliestDeadline
        faults = view.plantedFaults
    }

    /// Whether nothing that was read has changed since the view began, as far as is visible.
    ///
    /// Once the table that the view began on was frozen, what changed is not known any more key
    /// by key, and counts as changed: the transaction runs again.
    func areCurrent(in state: borrowing ShardState) -> Bool {
        guard state.layers.isOnActiveTable(view.id),
            dictionaries.allSatisfy({ state.clears[$0] == part.clears[$0] })
        else { return false }
        let isAnyKeyChanged = keys.contains { key in
            key.recordKey.withUnsafeBytes {
                state.layers.isChanged($0, hash: key.hash, since: view.id)
            }
        }
        if isAnyKeyChanged && !faults.contains(.ignoredReads) { return false }
        return faults.contains(.ignoredRanges)
            || !ranges.contains { range in
                state.layers.isAnyChanged(since: view.id) { range.contains($0) }
            }
    }

    // MARK: While the transaction is staged

    /// Whether a write of `hash` in the dictionary with `prefix` would change what was read. In a
    /// dictionary of which a range was read, any write counts.
    func blocks(hash: UInt64, prefix: [UInt8]) -> Bool {
        hashes.contains(hash) || rangeDictionaries.contains(prefix)
    }

    /// Whether a batch would change what was read.
    func areChanged(by batch: StagedBatch) -> Bool {
        batch.changes.contains { hashes.contains($0.hash) }
            || batch.clears.contains { dictionaries.contains($0) }
            || batch.dictionaries.contains { rangeDictionaries.contains($0) }
    }
}
