import RoostFormat
import RoostIO
import RoostLog

/// Makes the tables of the shards from the operations of replayed frames.
///
/// - `pending` is a ring: an operation enters its table some operations after it was read, when the
///   slot that was asked for has come, and the operation is still in the cache.
struct Replay {
    private struct Pending {
        var location: UInt = 0
        var hash: UInt64 = 0
        var sequence: UInt64 = 0
    }

    private let hashSeed: HashSeed
    private var tables: [LogTable]
    private var pending = Array(repeating: Pending(), count: pendingCount)
    private var next = 0
    private var clears: [(prefix: [UInt8], sequence: UInt64)] = []
    private var regions: [MappedRegion] = []
    private(set) var operationCount = 0
    private(set) var sizeBytes: UInt64 = 0

    private static let pendingCount = 32

    init(shardCount: Int, hashSeed: HashSeed) {
        self.hashSeed = hashSeed
        tables = (0..<shardCount).map { _ in LogTable() }
    }

    mutating func add(_ frame: Frame.View, _ reader: LogReader) throws {
        if regions.last !== reader.region { regions.append(reader.region) }
        sizeBytes += UInt64(frame.sizeBytes)
        let sequence = frame.sequence
        let isWhole = frame.forEachOperation { operation in
            operationCount += 1
            if operation.rawKind == Operation.Kind.clear.rawValue {
                clears.append((Array(operation.key), sequence))
            } else {
                enter(operation, sequence)
            }
        }
        guard isWhole else {
            throw RoostError(
                .corrupt, "a batch's operations make no sense though its checksum holds",
                file: reader.file.path,
                offset: UInt64(frame.start - UnsafeRawPointer(reader.region.base)))
        }
    }

    @inline(__always)
    private mutating func enter(_ operation: Operation, _ sequence: UInt64) {
        let hash = hashSeed.hash(operation.key)
        tables[shardIndex(of: hash, shardCount: tables.count)].prefetchSlot(hash)
        settle(pending[next])
        pending[next] = Pending(location: operation.location, hash: hash, sequence: sequence)
        next = (next + 1) & (Self.pendingCount - 1)
    }

    @inline(__always)
    private mutating func settle(_ entry: Pending) {
        guard entry.location != 0 else { return }
        tables[shardIndex(of: entry.hash, shardCount: tables.count)].insert(
            Operation(location: entry.location), hash: entry.hash, sequence: entry.sequence)
    }

    /// Gives the shards what was replayed; to be called once, at the end.
    mutating func apply(to shards: [Shard]) {
        for offset in 0..<Self.pendingCount {
            settle(pending[(next + offset) & (Self.pendingCount - 1)])
        }
        for (shard, var table) in zip(shards, tables) {
            for clear in clears { shard.replayClear(clear.prefix, sequence: clear.sequence) }
            for region in regions { table.hold(region) }
            shard.replay(table)
        }
        // From here on the shards alone have them, and need not copy them to change them.
        tables = []
    }
}
