import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Who is called that there are events holds no shard's turn: what the call lets go of may write.
@Suite(.timeLimit(.minutes(5))) struct WatcherTurnTests {
    private static let name = SampleNumbers.name

    /// Whether the turn could be had at each call.
    private final class Calls: Sendable {
        private let seen = Mutex<[Bool]>([])
        func note(_ shard: Shard) {
            let isFree = shard.turn.withLockIfAvailable { _ in true } ?? false
            seen.withLock { $0.append(isFree) }
        }
        var all: [Bool] { seen.withLock { $0 } }
    }

    private static func engine(
        _ path: String, _ fileSystem: any FileSystem = MemoryFileSystem()
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.shardCount = 2
        return try await Engine.open(
            at: path, fileSystem: fileSystem, configuration: configuration)
    }

    private static func watch(_ engine: Engine, _ key: String, _ calls: Calls) -> WatchHandle {
        let shard = engine.shard(of: engine.hash(of: key, in: name))
        return engine.watch(
            WatchTarget(key: key, in: name, hashSeed: engine.hashSeed), .values(capacity: 10)
        ) { calls.note(shard) }
    }

    private func putAtOnce(_ number: UInt64, _ key: String, _ engine: Engine) throws {
        let sequence = try engine.writeAtOnce(
            SampleNumbers.value(number), key: key, prefix: Self.name.prefixBytes,
            durability: nil)
        #expect(sequence != nil)
    }

    @Test func whoeverWritesGivesTheTurnBackBeforeItCalls() async throws {
        let engine = try await Self.engine("/called")
        let calls = Calls()
        let handle = Self.watch(engine, "k", calls)
        func read() { while handle.nextReady() != nil {} }
        #expect(calls.all == [true])
        read()
        try putAtOnce(1, "k", engine)
        read()
        _ = try await engine.write(
            SampleNumbers.value(2), key: "k", name: Self.name, durability: .synced)
        read()
        try engine.enqueue(SampleNumbers.value(3), key: "k", name: Self.name)
        read()
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for key in (0..<8).map({ "\($0)" }) + ["k"] {
            batch.put(SampleNumbers.value(4), forKey: key, in: Self.name)
        }
        _ = try await engine.commit(batch, durability: nil)
        read()
        #expect(calls.all == [true, true, true, true, true])
        // Of other keys nobody is called.
        try putAtOnce(5, "other", engine)
        #expect(calls.all.count == 5)
        try await engine.close()
    }

    /// The story: the last holder of what is called goes within the call, and writes then.
    @Test func whatACallLetsGoOfMayWrite() async throws {
        final class Writer: Sendable {
            let engine: Engine
            init(_ engine: Engine) { self.engine = engine }
            deinit {
                do {
                    try engine.enqueue(
                        SampleNumbers.value(9), key: "k", name: WatcherTurnTests.name)
                } catch { Issue.record(error) }
            }
        }
        let engine = try await Self.engine("/let-go")
        let held = Mutex<Writer?>(Writer(engine))
        let handle = engine.watch(
            WatchTarget(key: "k", in: Self.name, hashSeed: engine.hashSeed),
            .changes(since: nil, capacity: 10)
        ) { _ = held.withLock { $0.take() } }
        try putAtOnce(1, "k", engine)
        #expect(try SampleNumbers.read("k", engine) == 9)
        withExtendedLifetime(handle) {}
        try await engine.close()
    }

    private struct Full: Error {}

    /// A watcher that begins during a put's append is told of nothing before that has ended, be it that it fails.
    @Test func aPutWhoseAppendFailsLetsThoseGoOnWhoWaitedForIt() throws {
        let storage = MemoryStorage()
        let feed = ChangeFeed()
        let seed = HashSeed(first: 3, second: 4)
        let shards = (0..<2).map { _ in
            Shard(hashSeed: seed, residentBudgetBytes: 1 << 20, feed: feed, storage: storage)
        }
        @Sendable func put(_ shard: Shard) throws {
            try Self.name.withRecordKey("k") { key in
                _ = try shard.writeAtOnce(SampleNumbers.value(1), key, hash: seed.hash(key))
            }
        }
        let calls = Calls()
        storage.hook.withLock { hook in
            hook = {
                storage.hook.withLock { $0 = nil }
                let target = WatchTarget(prefix: "", in: Self.name)
                _ = feed.add { id in
                    Watcher(
                        id: id, target: target, isOrdered: true, buffering: .bounded(10),
                        history: nil, onReady: { calls.note(shards[0]) })
                } register: { id, observedCount in
                    for shard in shards {
                        shard.published.withLock { state in
                            if state.watch(target, by: id) { observedCount += 1 }
                        }
                    }
                    return nil
                }
                // It comes to the watcher behind what is under way.
                try put(shards[1])
                throw Full()
            }
        }
        #expect(throws: Full.self) { try put(shards[0]) }
        #expect(calls.all == [true])
    }

    /// The story: a watcher begins while a put is between its append and its becoming visible, so the put did not
    /// know of it at its begin.
    @Test func soDoesAWriterThatWasNotWatchedAtItsBegin() async throws {
        try await withTemporaryDirectory { path in
            let gate = Gate()
            let fileSystem = ObservedFileSystem { call in
                if case .createFile(let name) = call, name.hasPrefix("log-") { gate.pass() }
            }
            let engine = try await Self.engine(path, fileSystem)
            gate.close()
            let large = EncodedValue(
                kind: ValueKind.bytes.rawValue,
                payload: .bytes([UInt8](repeating: 1, count: 4 << 20)))
            let writing = taskOnItsOwnThread {
                // Larger than the segment: the append needs a new file.
                _ = try engine.writeAtOnce(
                    large, key: "k", prefix: Self.name.prefixBytes, durability: nil)
            }
            await gate.waitForArrival()
            let shard = engine.shard(of: engine.hash(of: "k", in: Self.name))
            while !shard.published.withLock({ $0.isAppending }) { await Task.yield() }
            let calls = Calls()
            let watching = taskOnItsOwnThread {
                let handle = engine.watch(
                    WatchTarget(key: "k", in: Self.name, hashSeed: engine.hashSeed),
                    .changes(since: nil, capacity: 10)
                ) { calls.note(shard) }
                // By now it is told of what was under way, or will be by its writer.
                while calls.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
                #expect(handle.nextReady() != nil)
            }
            while shard.published.withLock({ $0.appendObserver == 0 }) { await Task.yield() }
            gate.open()
            try await writing.value
            try await watching.value
            #expect(calls.all == [true])
            try await engine.close()
        }
    }
}
