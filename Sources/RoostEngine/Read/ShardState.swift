import RoostFormat
import RoostSnapshot
import Synchronization

/// What a shard publishes to readers, under the shard's mutex.
///
/// - Only who has the shard's turn changes anything here but `residents`, `counters` and `layers`.
/// - A key's newest visible record is the one with the highest sequence number among: the
///   committed batches in `staged`, `active`, `frozen`, `cold`. A record
///   older than its dictionary's entry in `clears` is gone.
/// - None of `clears` is newer than `newestClear`, so that a record which is as new needs no look at them.
/// - `residents` holds only values that are the newest visible ones of their keys.
/// - `epoch` counts the changes of `cold`. No other shard of the process has the same, be it of an earlier opening:
///   what was read in one opening may be compared in another.
struct ShardState: ~Copyable {
    var active = LogTable()
    /// What is being written to a snapshot.
    var frozen: LogTable?
    var cold = ColdHold(.none)
    var epoch: UInt64
    /// Changed by `noteClear` alone, but for those that are forgotten.
    var clears: [[UInt8]: UInt64] = [:]
    private var newestClear: UInt64 = 0
    var staged: [StagedBatch] = []
    /// What the last view held, for the next; dropped with whatever it would keep on disk.
    var viewPart: ViewPart?
    /// What live read views need of `active`.
    var layers = ViewLayers()
    var residents: ResidentValues
    var counters = ReadCounters()
    /// Newer than all else; what is in it has no place among the changes yet.
    var enqueued: EnqueuedWrites?
    /// Of which the next enqueued write gets its provisional number; as with `epoch`, no other shard of the process gives
    /// the same.
    var enqueuedCount: UInt64
    var places = EnqueuedPlaces()
    var watches = ShardWatches()
    /// Whether a change is being appended that `watches` was asked about already, and the last
    /// watcher that began since.
    var isAppending = false
    var appendObserver: UInt64 = 0

    /// From where the last shard that was made counts its epochs and enqueued writes.
    private static let lastEpoch = Atomic<UInt64>(0)

    init(residentBudgetBytes: Int) {
        residents = ResidentValues(budgetBytes: residentBudgetBytes)
        let first = Self.lastEpoch.wrappingAdd(1 << 32, ordering: .relaxed).newValue
        epoch = first
        enqueuedCount = first
    }

    /// Where the newest visible record of a key is.
    enum Place: Sendable {
        /// In the log; a put or a tombstone.
        case log(Operation)
        /// In a snapshot, if anywhere; records up to `clearedSequence` are gone.
        case cold(clearedSequence: UInt64)
        case absent
    }

    @inline(__always)
    func place(of key: UnsafeRawBufferPointer, hash: UInt64) -> Place {
        if enqueued != nil, let found = enqueued!.table.find(key, hash: hash) {
            return found.isPut ? .log(found) : .absent
        }
        var newest: Operation?
        var stagedClear: UInt64?
        if !staged.isEmpty {
            // Before what it writes: a batch that is committed between the two looks must not show its clear alone.
            if !staged.allSatisfy(\.clears.isEmpty) { stagedClear = clearedSequence(of: key) }
            newest = newestStaged(key, hash: hash)
        }
        if let found = active.find(key, hash: hash), found.sequence >= newest?.sequence ?? 0 {
            newest = found
        }
        if newest == nil, let frozen { newest = frozen.find(key, hash: hash) }
        guard let newest else {
            if let stagedClear { return .cold(clearedSequence: stagedClear) }
            return .cold(clearedSequence: clears.isEmpty ? 0 : clearedSequence(of: key))
        }
        if stagedClear != nil || newest.sequence < newestClear,
            newest.sequence < stagedClear ?? clearedSequence(of: key)
        {
            return .absent
        }
        return newest.isPut ? .log(newest) : .absent
    }

    mutating func noteClear(_ prefix: [UInt8], sequence: UInt64) {
        clears[prefix] = max(clears[prefix] ?? 0, sequence)
        newestClear = max(newestClear, sequence)
    }

    @inline(never)
    private func newestStaged(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        var newest: Operation?
        var newestSequence: UInt64 = 0
        for batch in staged where batch.token.isCommitted && batch.token.sequence >= newestSequence
        {
            guard let operation = batch.find(key, hash: hash) else { continue }
            newest = operation
            newestSequence = batch.token.sequence
        }
        return newest
    }

    /// So many clears take less to be compared one by one than a list takes that one is looked up by.
    private static let fewClearsCount = 4

    @inline(never)
    func clearedSequence(of key: UnsafeRawBufferPointer) -> UInt64 {
        if clears.count <= Self.fewClearsCount, staged.allSatisfy(\.clears.isEmpty) {
            for (prefix, sequence) in clears where hasPrefix(key, prefix) { return sequence }
            return 0
        }
        guard let (dictionary, _) = splitRecordKey(key) else { return 0 }
        return clearedSequence(ofPrefix: [UInt8(dictionary.count)] + Array(dictionary))
    }

    /// What keeps the memory of `operation` mapped.
    @inline(__always)
    func owner(of operation: Operation) -> RegionList {
        if enqueued != nil, enqueued!.table.regions.contains(operation.location) {
            return enqueued!.table.regions
        }
        if let frozen, !active.regions.contains(operation.location) { return frozen.regions }
        return active.regions
    }

    func clearedSequence(ofPrefix prefix: [UInt8]) -> UInt64 {
        var sequence = clears[prefix] ?? 0
        for batch in staged where batch.token.isCommitted && batch.clears.contains(prefix) {
            sequence = max(sequence, batch.token.sequence)
        }
        return sequence
    }

    /// Whether a committed batch that is not in the table yet may have changed the key.
    func isStaged(_ hash: UInt64) -> Bool {
        staged.contains { batch in
            guard batch.token.isCommitted else { return false }
            return !batch.clears.isEmpty || batch.changes.contains { $0.hash == hash }
        }
    }
}

/// How reads were answered. Counted under the shard's mutex, which a read holds anyway.
package struct ReadCounters: Sendable {
    package var residentCount: UInt64 = 0
    package var logCount: UInt64 = 0
    package var coldCount: UInt64 = 0

    package init() {}
}
