import RoostFormat
import RoostIO
import RoostLog

/// Collects the operations of replayed frames for their shards.
struct Replay {
    private let hashSeed: HashSeed
    private var operations: [[(location: UInt, hash: UInt64)]]
    private var clears: [(prefix: [UInt8], sequence: UInt64)] = []
    private var regions: [MappedRegion] = []
    private(set) var operationCount = 0
    private(set) var sizeBytes: UInt64 = 0

    init(shardCount: Int, hashSeed: HashSeed) {
        self.hashSeed = hashSeed
        operations = Array(repeating: [], count: shardCount)
    }

    mutating func add(_ frame: Frame.View, _ reader: LogReader) throws {
        if regions.last !== reader.region { regions.append(reader.region) }
        sizeBytes += UInt64(frame.sizeBytes)
        let isWhole = frame.forEachOperation { operation in
            operationCount += 1
            if operation.rawKind == Operation.Kind.clear.rawValue {
                clears.append((Array(operation.key), frame.sequence))
                return
            }
            let hash = hashSeed.hash(operation.key)
            let shard = shardIndex(of: hash, shardCount: operations.count)
            operations[shard].append((operation.location, hash))
        }
        guard isWhole else {
            throw RoostError(
                .corrupt, "a batch's operations make no sense though its checksum holds",
                file: reader.file.path,
                offset: UInt64(frame.start - UnsafeRawPointer(reader.region.base)))
        }
    }

    func apply(to shards: [Shard]) {
        for (shard, operations) in zip(shards, operations) {
            for clear in clears { shard.replayClear(clear.prefix, sequence: clear.sequence) }
            shard.replay(operations, regions: regions)
        }
    }
}
