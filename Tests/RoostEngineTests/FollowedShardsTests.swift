import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// What views show while a reader's shards take over another moment's tables.
@Suite(.timeLimit(.minutes(5))) struct FollowedShardsTests {
    private let name = DictionaryName("d")!
    private let shardCount = 64

    /// The story: a dictionary was emptied and the log put into snapshots, so that in the older tables its keys are
    /// there with the clear above them, and in the newer ones is neither. A view with the newer clears and an
    /// older table had the keys again.
    @Test func whatWasEmptiedIsNeverBackForAMoment() async throws {
        var configuration = EngineConfiguration()
        configuration.shardCount = shardCount
        let engine = try await Engine.open(
            at: "/followed", fileSystem: MemoryFileSystem(), configuration: configuration)
        let followed = FollowedShards(
            shards: engine.shards, feed: engine.feed, publication: engine.publication,
            hashSeed: engine.hashSeed, log: FollowedLog(lastSequence: 0, segments: []))
        let cold = ColdStorage()
        let emptied = tables(engine)
        let flushed = FollowedTables(
            tables: emptied.tables.map { _ in LogTable() }, clears: [:])
        _ = followed.install(cold, emptied)
        let isOver = Flag()
        let installing = taskOnItsOwnThread {
            while !isOver.isSet {
                _ = followed.install(cold, flushed)
                _ = followed.install(cold, emptied)
            }
        }
        var shown: [Int] = []
        for _ in 0..<3_000 {
            let view = try engine.view()
            shown.append(try view.countLive(in: name).count)
            view.close()
        }
        isOver.set()
        try await installing.value
        #expect(shown.allSatisfy { $0 == 0 }, "\(shown.filter { $0 != 0 }.prefix(5))")
        try await engine.close()
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        func set() { value.store(true, ordering: .relaxed) }
        var isSet: Bool { value.load(ordering: .relaxed) }
    }

    /// Some keys in each shard, and a later clear of all of them.
    private func tables(_ engine: Engine) -> FollowedTables {
        let operations = SampleOperations()
        var tables = (0..<shardCount).map { _ in LogTable() }
        let keyCount = shardCount * 4
        for number in 0..<keyCount {
            let key = name.prefix + Array("k\(number)".utf8)
            let hash = key.withUnsafeBytes { engine.hashSeed.hash($0) }
            let sequence = UInt64(number + 1)
            let operation = operations.add(
                key, sequence: sequence, value: [ValueKind.bool.rawValue])
            let index = shardIndex(of: hash, shardCount: shardCount)
            tables[index].hold(operations.region)
            tables[index].insert(operation, hash: hash, sequence: sequence)
        }
        return FollowedTables(
            tables: tables, clears: [name.prefix: UInt64(keyCount + 1)])
    }
}
