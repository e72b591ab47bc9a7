import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// A small store on a simulated disk, and what it held after each of its batches.
struct SampleStore: Sendable {
    let name: String
    let disk: Disk
    let configuration: EngineConfiguration
    /// Ended by a close and not by a kill.
    let isClosed: Bool
    /// What readers see with that many batches.
    private(set) var contents: [History.Content] = [[:]]
    /// Every key that was ever written, by dictionary, and one that was not.
    private(set) var keys: [String: Set<String>] = [:]
    /// Batches up to this one are kept whichever bit is flipped.
    ///
    /// Of a store that was closed the manifest says that all are on disk. In the log that a kill leaves the frames
    /// behind a batch that was synced say so of it: a flip in a frame before them is damage therefore, and one in them
    /// leaves what stands before them.
    private(set) var certainCount = 0
    /// Batches up to this one are in snapshots, or in a log of which the manifest says that it is on disk: they are
    /// kept whatever is cut off.
    private(set) var flushedCount = 0

    private typealias Body = (Engine, inout Recorder) async throws -> Void

    /// Carries out batches and takes note of them.
    private struct Recorder {
        var contents: [History.Content] = [[:]]
        var keys: [String: Set<String>] = ["a": ["absent"]]
        var syncedCount = 0
        /// The last batch that was synced before another was made.
        var certainCount = 0
        var flushedCount = 0

        var count: Int { contents.count - 1 }

        mutating func make(
            _ changes: [History.Change], _ durability: Durability, on engine: Engine
        ) async throws {
            _ = try await engine.make(changes, durability)
            certainCount = syncedCount
            var content = contents[contents.count - 1]
            History.apply(.init(changes: changes, isAwaited: false), to: &content)
            contents.append(content)
            if durability == .synced { syncedCount = count }
            for change in changes {
                switch change {
                case .put(let dictionary, let key, _), .remove(let dictionary, let key):
                    keys[dictionary, default: []].insert(key)
                case .clear: break
                }
            }
        }
    }

    static func all(_ scheduling: any Scheduling) async throws -> [SampleStore] {
        try await [
            make("a log left by a kill", scheduling, closes: false, writeLog),
            make("a closed log", scheduling, closes: true, writeLog),
            make("snapshots", scheduling, closes: true, writeSnapshots),
            make("snapshots and a log", scheduling, closes: false) { engine, recorder in
                try await writeSnapshots(engine, &recorder)
                try await writeLog(engine, &recorder)
            },
        ]
    }

    private static func make(
        _ name: String, _ scheduling: any Scheduling, closes: Bool, _ body: Body
    ) async throws -> SampleStore {
        var configuration = EngineConfiguration()
        configuration.shardCount = 2
        configuration.durability = .process
        configuration.memoryBudgetBytes = 1 << 16
        configuration.segmentSizeBytes = 4096
        configuration.compactionThreadCount = 1
        configuration.snapshotSizeBytes = 1024
        let fileSystem = SimulatedFileSystem(disk: Disk(seed: 7), scheduling: scheduling)
        let engine = try await Engine.open(
            at: "/simulated", fileSystem: fileSystem.underEngine, configuration: configuration)
        var recorder = Recorder()
        try await body(engine, &recorder)
        if closes { try await engine.close() }
        var store = SampleStore(
            name: name, disk: fileSystem.turnOff().afterKill(), configuration: configuration,
            isClosed: closes)
        store.contents = recorder.contents
        store.keys = recorder.keys
        store.flushedCount = closes ? recorder.count : recorder.flushedCount
        store.certainCount =
            closes ? recorder.count : max(recorder.certainCount, recorder.flushedCount)
        return store
    }

    private init(
        name: String, disk: Disk, configuration: EngineConfiguration, isClosed: Bool
    ) {
        self.name = name
        self.disk = disk
        self.configuration = configuration
        self.isClosed = isClosed
    }

    private static func put(
        _ key: String, _ number: UInt8, _ count: Int = 12, in dictionary: String = "a",
        deadline: Deadline = .never, version: UInt32 = 1
    ) -> History.Change {
        let header = ValueHeader(
            kind: ValueKind.data.rawValue, deadline: deadline, version: version)
        let value = header.bytes + [number] + (0..<count).map { UInt8($0 & 15) }
        return .put(dictionary: dictionary, key: key, value: value)
    }

    /// Overwrites, removals, a batch, a clear; half of it known to be on disk.
    private static func writeLog(_ engine: Engine, _ recorder: inout Recorder) async throws {
        try await recorder.make([put("x", 1)], .process, on: engine)
        try await recorder.make(
            [put("x", 2), put("y", 2), put("z", 2, in: "b")], .process, on: engine)
        try await recorder.make([.remove(dictionary: "a", key: "y")], .synced, on: engine)
        try await recorder.make([put("w", 4, in: "b")], .process, on: engine)
        try await recorder.make(
            [.clear(dictionary: "b"), put("v", 5, in: "b")], .synced, on: engine)
        try await recorder.make(
            [put("x", 6, 100, deadline: .latest), put("y", 6, version: 7)], .process, on: engine)
        try await recorder.make([.remove(dictionary: "b", key: "v")], .process, on: engine)
    }

    /// Two snapshots on each shard, with tombstones, overwritten records, compressed values and a
    /// compression dictionary, and a clear.
    private static func writeSnapshots(_ engine: Engine, _ recorder: inout Recorder) async throws {
        let many = (0..<90).map { put("key \($0)", UInt8($0), 24 + $0 % 40, in: "many") }
        try await recorder.make(many, .process, on: engine)
        try await recorder.make(
            [put("x", 1), put("y", 1), put("z", 1, in: "b")], .process, on: engine)
        try await engine.compact()
        try await recorder.make(
            [put("key 3", 200, in: "many"), .remove(dictionary: "many", key: "key 4")], .process,
            on: engine)
        try await recorder.make(
            [.clear(dictionary: "b"), put("u", 3, in: "b")], .process, on: engine)
        try await recorder.make(
            [put("y", 2, deadline: .latest), put("w", 2, version: 300)], .process, on: engine)
        try await engine.flush()
        recorder.flushedCount = recorder.count
    }
}
