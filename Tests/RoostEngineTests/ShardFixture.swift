import RoostFormat
import RoostIO
import Synchronization

@testable import RoostEngine
@testable import RoostLog

/// A log in memory: hands out sequence numbers, keeps the frames, and calls `hook` between a frame and
/// what its writer does next.
final class MemoryStorage: Storage {
    private let region = MappedRegion.anonymous(sizeBytes: 1 << 16)
    private let state = Mutex((offset: 0, sequence: UInt64(0)))
    let hook = Mutex<(@Sendable () throws -> Void)?>(nil)

    var lastSequence: UInt64 { state.withLock { $0.sequence } }

    func append(
        payloadCount: Int, isAwaited: Bool, fill: (UnsafeMutableRawPointer) -> Void
    ) throws -> LogWriter.Appended {
        let appended = state.withLock { state in
            let start = region.base + state.offset
            fill(start + Frame.headerSizeBytes)
            state.sequence += 1
            Frame.finish(
                at: start, payloadCount: payloadCount, sequence: state.sequence,
                durableSequence: 0, flags: .none, seed: ChecksumSeed(1))
            state.offset += Frame.sizeBytes(payloadCount: payloadCount)
            return LogWriter.Appended(
                sequence: state.sequence, location: UInt(bitPattern: start), region: region,
                totalBytes: UInt64(state.offset))
        }
        try hook.withLock { $0 }?()
        return appended
    }
}

/// One shard over a log in memory.
struct ShardFixture {
    let storage = MemoryStorage()
    let seed = HashSeed(first: 3, second: 4)
    let name = DictionaryName("d")!
    let shard: Shard

    init() {
        shard = Shard(hashSeed: seed, residentBudgetBytes: 1 << 20, storage: storage)
    }

    func hash(_ key: String) -> UInt64 { name.withRecordKey(key) { seed.hash($0) } }

    func value(_ number: Int) -> EncodedValue {
        EncodedValue(kind: ValueKind.uint8.rawValue, payload: .inline(UInt64(number), count: 1))
    }

    func write(_ number: Int, _ key: String) async throws {
        _ = try await shard.write(value(number), key: key, name: name, hash: hash(key))
    }

    func read(_ key: String) throws -> UInt8? {
        try name.withRecordKey(key) { bytes in
            try shard.find(bytes, seed.wideHash(bytes), isResidentAllowed: true)?.bytes.last
        }
    }

    /// A batch of one put, laid out for the log.
    func batch(_ number: Int, _ key: String) -> EncodedBatch {
        var batch = EncodedBatch(hashSeed: seed)
        batch.put(value(number), forKey: key, in: name)
        return batch
    }
}

/// A task on a thread of its own, for one that is held at a gate.
func taskOnItsOwnThread(_ body: @escaping @Sendable () async throws -> Void) -> Task<
    Void, any Error
> {
    let thread = WorkerThread(name: "test")
    return Task.detached(executorPreference: thread.forTasks) {
        try await body()
        withExtendedLifetime(thread) {}
    }
}
