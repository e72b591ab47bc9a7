import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Batches and transactions of several shards, which are committed at once where they are small, and staged
/// where they are not.
@Suite(.timeLimit(.minutes(10))) struct BatchPartsTests {
    private static let name = SampleNumbers.name
    private static let keys = (0..<6).map { "k\($0)" }

    private static func engine(
        isStaged: Bool = false, _ faults: PlantedFaults = []
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.declinesChangesAtOnce = isStaged
        configuration.plantedFaults = faults
        return try await Engine.open(
            at: "/parts", fileSystem: MemoryFileSystem(), configuration: configuration)
    }

    private static func batch(_ number: UInt64, _ keys: [String], _ engine: Engine) -> EncodedBatch
    {
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for key in keys { batch.put(SampleNumbers.value(number), forKey: key, in: name) }
        return batch
    }

    /// A transaction that adds one to each of the keys; `false` where it was overtaken.
    private static func increment(_ keys: [String], _ engine: Engine) async throws -> Bool {
        var transaction = EngineTransaction(engine)
        for key in keys {
            let old = try transaction.withValue(key, name: name) { SampleNumbers.number($0) ?? 0 }
            try transaction.put(SampleNumbers.value(old + 1), forKey: key, in: name)
        }
        let (batch, found) = (transaction.batch, transaction.reads)
        let reads = try #require(found)
        defer { transaction.close() }
        return try await engine.commit(batch, reads: reads, durability: nil) != nil
    }

    @Test(arguments: [false, true])
    func whatMeetsIsLostAndWhatDoesNotIsCommitted(isStaged: Bool) async throws {
        let engine = try await Self.engine(isStaged: isStaged)
        let begun = Mutex(EngineTransaction(engine))
        let reads = try begun.withLock { transaction in
            _ = try transaction.withValue("k0", name: Self.name) { SampleNumbers.number($0) }
            try transaction.put(SampleNumbers.value(9), forKey: "k1", in: Self.name)
            return (transaction.batch, transaction.reads)
        }
        let found = try #require(reads.1)
        #expect(try await Self.increment(["k2", "k3"], engine))
        #expect(try await engine.commit(reads.0, reads: found, durability: nil) != nil)
        #expect(try await Self.increment(["k0", "k1"], engine))
        #expect(try await engine.commit(reads.0, reads: found, durability: nil) == nil)
        begun.withLock { $0.close() }
        #expect(try SampleNumbers.read("k1", engine) == 10)
        try await engine.close()
    }

    private final class Seen: Sendable {
        let halves = Atomic<Int>(0)
        let writerCount = Atomic<Int>(2)
        let isDone = Atomic<Bool>(false)
    }

    /// Every increment counts, and of the keys, which are always incremented together, nobody sees some of
    /// one moment and some of another.
    @Test(arguments: [false, true], [PlantedFaults(), .tornEntries])
    func nobodySeesATransactionByHalf(isStaged: Bool, faults: PlantedFaults) async throws {
        // What is staged is not entered key by key, so the fault is not there.
        let isTorn = !faults.isEmpty && !isStaged
        let engine = try await Self.engine(isStaged: isStaged, faults)
        let keys = Self.keys
        _ = try await engine.commit(Self.batch(0, keys, engine), durability: nil)
        let seen = Seen()
        let reader = WorkerThread(name: "roost-test")
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    defer { seen.writerCount.subtract(1, ordering: .relaxed) }
                    var count = 0
                    for _ in 0..<(isTorn ? 100_000 : runCount(1_500, whole: 5_000)) {
                        if isTorn, seen.halves.load(ordering: .relaxed) > 0 { break }
                        if try await Self.increment(keys, engine) { count += 1 }
                        await Task.yield()
                    }
                    return count
                }
            }
            // Where other tests hold the pool's threads it would see nothing.
            group.addTask(executorPreference: isTorn ? reader.forTasks : nil) {
                while seen.writerCount.load(ordering: .relaxed) > 0 {
                    let view = try engine.view()
                    defer { view.close() }
                    let numbers = try keys.map { key -> UInt64? in
                        guard let found = try view.find(key, name: Self.name) else { return nil }
                        return withExtendedLifetime(found.owner) {
                            SampleNumbers.number(found.bytes)
                        }
                    }
                    if Set(numbers).count != 1 { seen.halves.add(1, ordering: .relaxed) }
                    await Task.yield()
                }
                return 0
            }
            return try await group.reduce(0, +)
        }
        let isSeenByHalf = seen.halves.load(ordering: .relaxed) > 0
        #expect(isSeenByHalf == isTorn)
        if !isTorn {
            for key in keys { #expect(try SampleNumbers.read(key, engine) == UInt64(counts)) }
        }
        try await engine.close()
    }

    /// It waits where it conflicts, and comes after what is there first.
    @Test(arguments: [false, true])
    func aBatchWaitsForWhatComesFirst(isPlaceHeld: Bool) async throws {
        let engine = try await Self.engine()
        let hash = engine.hash(of: "k0", in: Self.name)
        let shard = engine.shard(of: hash)
        let claim = shard.claim("k0", Self.name, hash: hash)
        let token = BatchToken()
        var place: UInt64?
        if isPlaceHeld {
            place = try await shard.takePlace(claim)
        } else {
            try await shard.prepare(StagedBatch(token: token, claim: claim))
        }
        let seen = Seen()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                _ = try await engine.commit(Self.batch(1, Self.keys, engine), durability: nil)
                seen.isDone.store(true, ordering: .relaxed)
            }
            for _ in 0..<100 { await Task.yield() }
            let isDoneBefore = seen.isDone.load(ordering: .relaxed)
            #expect(!isDoneBefore)
            #expect(try SampleNumbers.read("k5", engine) == nil)
            // Others that conflict with neither are not in its way.
            _ = try await engine.commit(Self.batch(2, ["o1", "o2", "o3"], engine), durability: nil)
            if let place {
                shard.giveBack(place)
            } else {
                token.abort()
                shard.foldResolved()
            }
            try await group.waitForAll()
        }
        for key in Self.keys { #expect(try SampleNumbers.read(key, engine) == 1) }
        try await engine.close()
    }

    @Test func whatItHasToBringWithItIsAdded() async throws {
        let engine = try await Self.engine()
        let mark = Self.name.prefix + Array("mark".utf8)
        await engine.guardWrites(of: Self.name, marks: [mark])
        _ = try await engine.commit(Self.batch(1, ["mark"], engine), durability: nil)
        _ = try await engine.commit(Self.batch(1, Self.keys, engine), durability: nil)
        // Who writes plainly takes the marks away.
        #expect(try SampleNumbers.read("mark", engine) == nil)
        #expect(try SampleNumbers.read("k5", engine) == 1)
        try await engine.close()
    }

    /// Small ones, large ones, and ones that clear: each is there after a reopening, whole.
    @Test func allSizesAreThereAfterAReopening() async throws {
        try await withTemporaryDirectory { path in
            try await Self.commitAllSizes(at: path)
            try await Self.checkAllSizes(at: path)
        }
    }

    private static let counts = [2, 31, 32, 33, 500]

    private static func open(at path: String) async throws -> Engine {
        try await Engine.open(
            at: path, fileSystem: PosixFileSystem(), configuration: EngineConfiguration())
    }

    private static func commitAllSizes(at path: String) async throws {
        let engine = try await open(at: path)
        var handles: [UInt64] = []
        let watcher = engine.watch(
            WatchTarget(prefix: "", in: name), .changes(since: nil, capacity: 10_000))
        for count in counts {
            let keys = (0..<count).map { "\(count)-\($0)" }
            handles.append(
                try await engine.commit(
                    batch(UInt64(count), keys, engine), durability: .process))
        }
        #expect(handles == handles.sorted() && Set(handles).count == handles.count)
        var versions: [UInt64: Int] = [:]
        while let event = watcher.nextReady() { versions[event.version, default: 0] += 1 }
        #expect(zip(handles, counts).allSatisfy { versions[$0] == $1 })
        try await engine.close()
    }

    private static func checkAllSizes(at path: String) async throws {
        let engine = try await open(at: path)
        for count in counts {
            for index in 0..<count {
                #expect(try SampleNumbers.read("\(count)-\(index)", engine) == UInt64(count))
            }
        }
        var clear = batch(1, ["a", "b"], engine)
        clear.clear(name)
        clear.put(SampleNumbers.value(3), forKey: "c", in: name)
        _ = try await engine.commit(clear, durability: nil)
        #expect(
            try SampleNumbers.read("500-7", engine) == nil && SampleNumbers.read("c", engine) == 3)
        try await engine.close()
    }
}
