import RoostFormat
import RoostIO

/// A transaction's places in the queues of all shards that it touches: from the moment at which it has them
/// until it gives them back nobody changes what it has read and changed in its attempts so far, so an
/// attempt that reads and changes the same cannot lose. docs/decisions/0075.
///
/// - Places are taken in ascending order of the shards, each once the one before it is held.
/// - What the next attempt reads that those before did not is not covered. The attempt may be lost, and the
///   turn is taken anew, for that too. A turn that was taken often is for everything.
/// - Whoever keeps others waiting for too long loses its places (`TurnWatch`): its body may wait for
///   them. Then what it rests on is checked as without a turn.
package struct TransactionTurn: ~Copyable {
    /// After as many turns that did not cover what was read, the next is for everything.
    private static let narrowCount = 4
    /// How many turns may be taken from a transaction.
    private static let lateCount = 2

    private let engine: Engine
    private var claim = TransactionClaim()
    private var held: [(shard: Shard, number: UInt64)] = []
    /// The number of the place in each shard where it has one.
    private var numbers: [Int: UInt64] = [:]
    private var watch: UInt64?
    private var takenCount = 0
    private var lateTurns = 0

    package init(_ engine: Engine) { self.engine = engine }

    deinit { _ = Self.giveBack(held, watch, engine) }

    /// Waits for the turn on what an attempt read and would have changed, and on all before it.
    ///
    /// - Parameter longest: How long the longest attempt took.
    /// - Throws: `.cancelled`, with nothing held; `.conflict` where its turns were taken from it.
    package mutating func take(
        for reads: TransactionReads, _ batch: EncodedBatch, longest: Duration
    ) async throws {
        if !Self.giveBack(held, watch, engine) { lateTurns += 1 }
        held = []
        numbers = [:]
        watch = nil
        guard lateTurns < Self.lateCount else {
            throw RoostError(
                .conflict,
                "a transaction kept others waiting for too long, and what it read has changed: "
                    + "its body must not wait for writers of what it reads")
        }
        if try engine.condition.checkWritable() { try await engine.waitForRoom() }
        claim.add(reads, batch)
        takenCount += 1
        if takenCount > Self.narrowCount { claim.isEverything = true }
        for (index, claim) in claim.byShard(count: engine.shards.count) {
            let shard = engine.shards[index]
            let number = try await shard.takePlace(claim)
            held.append((shard, number))
            numbers[index] = number
        }
        watch = engine.turnWatch.add(held, longest: longest)
    }

    /// Lets the others go on; `false` where the places had been taken from it.
    private static func giveBack(
        _ held: [(shard: Shard, number: UInt64)], _ watch: UInt64?, _ engine: Engine
    ) -> Bool {
        defer { for (shard, number) in held { shard.giveBack(number) } }
        return watch.map { engine.turnWatch.remove($0) } ?? true
    }

    /// The places that are held, for the commit of an attempt.
    package func places(for reads: TransactionReads, _ batch: EncodedBatch) -> Places {
        Places(numbers: numbers, coverAll: claim.covers(reads, batch))
    }

    package struct Places: Sendable {
        fileprivate let numbers: [Int: UInt64]
        /// Whether all that the attempt read and changes is claimed.
        let coverAll: Bool

        subscript(shard: Int) -> Place { Place(number: numbers[shard] ?? 0, covers: coverAll) }
    }

    /// The place in one shard; number zero where there is none, which nobody holds.
    struct Place: Sendable {
        let number: UInt64
        let covers: Bool
    }
}

/// What the attempts of a transaction read and would have changed.
private struct TransactionClaim {
    typealias Key = TransactionReads.Key

    private var keysRead: Set<Key> = []
    private var ranges: Set<RecordRange> = []
    /// Of `ranges`.
    private var merged = MergedRanges.none
    private var dictionariesRead: Set<[UInt8]> = []
    private var keysChanged: Set<Key> = []
    private var dictionariesChanged: Set<[UInt8]> = []
    private var clears: Set<[UInt8]> = []
    var isEverything = false

    mutating func add(_ reads: TransactionReads, _ batch: EncodedBatch) {
        keysRead.formUnion(reads.keys)
        ranges.formUnion(reads.wholeRanges)
        merged = MergedRanges(ranges)
        dictionariesRead.formUnion(reads.dictionaries)
        for (hash, key) in batch.changedKeys {
            keysChanged.insert(Key(hash: hash, recordKey: key))
        }
        dictionariesChanged.formUnion(batch.dictionaries)
        clears.formUnion(batch.clears)
    }

    func covers(_ reads: TransactionReads, _ batch: EncodedBatch) -> Bool {
        if isEverything { return true }
        return batch.clears.allSatisfy { clears.contains($0) }
            && batch.changedKeys.allSatisfy {
                keysChanged.contains(Key(hash: $0.hash, recordKey: $0.key))
            }
            && reads.keys.allSatisfy { key in
                keysRead.contains(key) || keysChanged.contains(key)
                    || key.recordKey.withUnsafeBytes { merged.contains($0) }
            }
            && reads.ranges.allSatisfy { merged.contains($0) }
    }

    func byShard(count: Int) -> [(index: Int, claim: Claim)] {
        var read = Array(repeating: [Key](), count: count)
        for key in keysRead { read[shardIndex(of: key.hash, shardCount: count)].append(key) }
        var changed = Array(repeating: [Key](), count: count)
        for key in keysChanged { changed[shardIndex(of: key.hash, shardCount: count)].append(key) }
        return (0..<count).compactMap { index in
            let isTouched = !read[index].isEmpty || !changed[index].isEmpty
            guard isTouched || !merged.isEmpty || !clears.isEmpty || isEverything else {
                return nil
            }
            let reads = ReadClaim(
                hashes: Set(read[index].lazy.map(\.hash)), ranges: merged,
                dictionaries: dictionariesRead)
            let claim = Claim(
                hashes: changed[index].lazy.map(\.hash), keys: changed[index].map(\.recordKey),
                dictionaries: dictionariesChanged, clears: Array(clears), reads: reads,
                isEverything: isEverything)
            return (index, claim)
        }
    }
}

extension EncodedBatch {
    /// The keys of the puts and removals, in their order.
    fileprivate var changedKeys: [(hash: UInt64, key: [UInt8])] {
        withPayload { payload in
            changes.map { change in
                let offset = change.frameOffset - Frame.headerSizeBytes
                return (change.hash, Array(Operation(address: payload.baseAddress! + offset).key))
            }
        }
    }
}
