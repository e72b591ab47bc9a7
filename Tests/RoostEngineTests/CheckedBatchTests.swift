import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// Batches that are committed at once, if what they rest on is still so.
@Suite(.timeLimit(.minutes(10))) struct CheckedBatchTests {
    private static let name = SampleNumbers.name

    private static func recordKey(_ key: String) -> [UInt8] { name.prefix + Array(key.utf8) }

    private static func engine(
        _ faults: PlantedFaults = [], at path: String? = nil, shardCount: Int = 16
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.shardCount = shardCount
        configuration.plantedFaults = faults
        return try await Engine.open(
            at: path ?? "/checked",
            fileSystem: path == nil ? MemoryFileSystem() : PosixFileSystem(),
            configuration: configuration)
    }

    private static func begin(_ engine: Engine) -> CheckedBatch {
        CheckedBatch(engine, guardGeneration: engine.guards.generation)
    }

    private static func put(_ number: UInt64, _ keys: [String], _ engine: Engine) throws {
        var batch = begin(engine)
        for key in keys { batch.write(SampleNumbers.value(number), name.prefix, Array(key.utf8)) }
        guard case .committed = try engine.commitAtOnce(batch, durability: nil) else {
            throw RoostError(.conflict, "something comes first")
        }
    }

    private static func isCommitted(_ outcome: Engine.AtOnceOutcome) -> Bool {
        if case .committed = outcome { true } else { false }
    }

    // MARK: What was read

    enum Meanwhile: CaseIterable, Sendable {
        case nothing, otherKey, put, samePut, remove, clear, flush, flushOfPut

        func change(_ engine: Engine) async throws {
            switch self {
            case .nothing: break
            case .otherKey: try CheckedBatchTests.put(7, ["other"], engine)
            case .put: try CheckedBatchTests.put(7, ["read"], engine)
            case .samePut: try CheckedBatchTests.put(1, ["read"], engine)
            case .remove:
                _ = try await engine.write(
                    nil, key: "read", name: CheckedBatchTests.name, durability: nil)
            case .clear:
                var batch = EncodedBatch(hashSeed: engine.hashSeed)
                batch.clear(CheckedBatchTests.name)
                _ = try await engine.commit(batch, durability: nil)
            case .flush: try await engine.compact()
            case .flushOfPut:
                try CheckedBatchTests.put(7, ["read"], engine)
                try await engine.compact()
            }
        }

        var overtakes: Bool { self != .nothing && self != .otherKey }
    }

    /// What it then changes is as it was, after a reopening too; without a change it is there.
    @Test(arguments: Meanwhile.allCases, [true, false])
    func aBatchIsOvertakenByAChangeOfWhatItRead(meanwhile: Meanwhile, isCold: Bool) async throws {
        try await withTemporaryDirectory { path in
            let engine = try await Self.engine(at: path)
            try Self.put(1, ["read", "written"], engine)
            if isCold { try await engine.compact() }
            var batch = Self.begin(engine)
            let read = try batch.withValue(of: Self.recordKey("read")) { SampleNumbers.number($0) }
            #expect(read == .some(1))
            batch.write(SampleNumbers.value(2), Self.name.prefix, Array("written".utf8))
            batch.write(SampleNumbers.value(2), Self.name.prefix, Array("new".utf8))
            try await meanwhile.change(engine)
            // A second flush makes nothing of what is cold already.
            let overtakes = meanwhile.overtakes && !(isCold && meanwhile == .flush)
            let isCommitted = Self.isCommitted(try engine.commitAtOnce(batch, durability: nil))
            if !(isCold && meanwhile == .flush) { #expect(isCommitted == !overtakes) }
            try await engine.close()
            let reopened = try await Self.engine(at: path)
            let isCleared = meanwhile == .clear
            #expect(try SampleNumbers.read("new", reopened) == (isCommitted ? 2 : nil))
            #expect(
                try SampleNumbers.read("written", reopened)
                    == (isCommitted ? 2 : isCleared ? nil : 1))
            try await reopened.close()

        }
    }

    @Test func aBatchIsOvertakenByWhatComesWhereItFoundNothing() async throws {
        let engine = try await Self.engine()
        var batch = Self.begin(engine)
        let isAbsent = try batch.withValue(of: Self.recordKey("read")) { $0 == nil }
        #expect(isAbsent == true)
        batch.write(SampleNumbers.value(2), Self.name.prefix, Array("written".utf8))
        try Self.put(7, ["read"], engine)
        let isCommitted = Self.isCommitted(try engine.commitAtOnce(batch, durability: nil))
        #expect(!isCommitted)
        #expect(try SampleNumbers.read("written", engine) == nil)
        try await engine.close()
    }

    @Test func aBatchThatForgotWhatItReadWouldBeNoticed() async throws {
        let engine = try await Self.engine(.ignoredReads)
        var batch = Self.begin(engine)
        _ = try batch.withValue(of: Self.recordKey("read")) { $0 == nil }
        batch.write(SampleNumbers.value(2), Self.name.prefix, Array("written".utf8))
        try Self.put(7, ["read"], engine)
        let isCommitted = Self.isCommitted(try engine.commitAtOnce(batch, durability: nil))
        #expect(isCommitted)
        try await engine.close()
    }

    // MARK: What comes first

    /// On a key that it reads and on one that it writes; and with the fault of doing so it goes on.
    @Test(arguments: ["read", "written"], [PlantedFaults(), .ignoredTurns])
    func aBatchWaitsForNobodyAndComesBeforeNobody(key: String, faults: PlantedFaults) async throws {
        let engine = try await Self.engine(faults)
        let hash = engine.hash(of: key, in: Self.name)
        let shard = engine.shard(of: hash)
        var batch = Self.begin(engine)
        _ = try batch.withValue(of: Self.recordKey("read")) { $0 == nil }
        batch.write(SampleNumbers.value(2), Self.name.prefix, Array("written".utf8))

        let place = try await shard.takePlace(shard.claim(key, Self.name, hash: hash))
        let besideAPlace = try engine.commitAtOnce(batch, durability: nil)
        shard.giveBack(place)
        if faults == .ignoredTurns {
            #expect(Self.isCommitted(besideAPlace))
            return try await engine.close()
        }
        guard case .blocked = besideAPlace else { throw RoostError(.conflict, "not blocked") }

        let token = BatchToken()
        let claim = shard.claim(key, Self.name, hash: hash)
        try await shard.prepare(StagedBatch(token: token, claim: claim))
        guard case .blocked = try engine.commitAtOnce(batch, durability: nil) else {
            throw RoostError(.conflict, "not blocked")
        }
        #expect(try SampleNumbers.read("written", engine) == nil)
        token.abort()
        shard.foldResolved()
        let isCommitted = Self.isCommitted(try engine.commitAtOnce(batch, durability: nil))
        #expect(isCommitted)
        #expect(try SampleNumbers.read("written", engine) == 2)
        try await engine.close()
    }

    @Test func whatIsStagedOfOtherKeysIsInNobodysWay() async throws {
        let engine = try await Self.engine(shardCount: 1)
        let shard = engine.shards[0]
        let token = BatchToken()
        let hash = engine.hash(of: "other", in: Self.name)
        try await shard.prepare(
            StagedBatch(token: token, claim: shard.claim("other", Self.name, hash: hash)))
        try Self.put(2, ["written"], engine)
        token.abort()
        shard.foldResolved()
        #expect(try SampleNumbers.read("written", engine) == 2)
        try await engine.close()
    }

    // MARK: What has to come with it

    @Test(arguments: [PlantedFaults(), .ignoredGuards])
    func aBatchIsNotCommittedForGuardsThatItDoesNotKnow(faults: PlantedFaults) async throws {
        let engine = try await Self.engine(faults)
        var batch = Self.begin(engine)
        batch.write(SampleNumbers.value(2), Self.name.prefix, Array("written".utf8))
        let mark = Self.recordKey("mark")
        await engine.guardWrites(of: Self.name, marks: [mark])
        let isCommitted = Self.isCommitted(try engine.commitAtOnce(batch, durability: nil))
        #expect(isCommitted == (faults == .ignoredGuards))
        // Who keeps the marks may, and who does not may not.
        #expect(KeptMarks([mark]).generation(of: engine.guards, Self.name) == 1)
        #expect(KeptMarks([]).generation(of: engine.guards, Self.name) == nil)
        #expect(KeptMarks([]).generation(of: engine.guards, DictionaryName("e")!) == 1)
        try await engine.close()
    }

    @Test func whatItDoesNotDoIsDeclined() async throws {
        let engine = try await Self.engine()
        var batch = Self.begin(engine)
        for number in 0..<33 { batch.write(nil, Self.name.prefix, [UInt8(number)]) }
        let isDeclinedForMany = batch.isDeclined
        #expect(isDeclinedForMany)
        batch = Self.begin(engine)
        let large = EncodedValue(
            kind: ValueKind.bytes.rawValue,
            payload: .bytes(Array(repeating: 1, count: 300 << 10)))
        batch.write(large, Self.name.prefix, [1])
        let isDeclinedForBytes = batch.isDeclined
        #expect(isDeclinedForBytes)

        var old = EncodedBatch(hashSeed: engine.hashSeed)
        old.put(
            SampleNumbers.value(1).with(deadline: Deadline(milliseconds: 1 << 42)), forKey: "read",
            in: Self.name)
        _ = try await engine.commit(old, durability: nil)
        for _ in 0..<2 {
            batch = Self.begin(engine)
            let isRead = try batch.withValue(of: Self.recordKey("read")) { _ in true }
            let isDeclined = batch.isDeclined
            #expect(isRead == nil && isDeclined)
            try await engine.compact()
        }
        try await engine.close()
    }

    // MARK: Who looks on

    @Test func aViewDoesNotSeeWhatComesAfterItAndATransactionLosesToIt() async throws {
        let engine = try await Self.engine()
        try Self.put(1, ["a", "b"], engine)
        var transaction = EngineTransaction(engine)
        let before = try transaction.withValue("a", name: Self.name) { SampleNumbers.number($0) }
        #expect(before == 1)
        try Self.put(2, ["a", "b", "c"], engine)
        let changed = try transaction.withValue("b", name: Self.name) { SampleNumbers.number($0) }
        let added = try transaction.withValue("c", name: Self.name) { SampleNumbers.number($0) }
        #expect(changed == 1 && added == nil)
        try transaction.put(SampleNumbers.value(3), forKey: "d", in: Self.name)
        let (batch, found) = (transaction.batch, transaction.reads)
        let reads = try #require(found)
        #expect(try await engine.commit(batch, reads: reads, durability: nil) == nil)
        transaction.close()
        try await engine.close()
    }

    private final class Seen: Sendable {
        let isOver = Atomic<Bool>(false)
        let halves = Atomic<Int>(0)
    }

    /// Of the keys of one batch nobody sees one in its newer form and then another in its older.
    @Test(arguments: [PlantedFaults(), .tornEntries])
    func nobodySeesABatchByHalf(faults: PlantedFaults) async throws {
        let engine = try await Self.engine(faults)
        let keys = (0..<6).map { "k\($0)" }
        try Self.put(0, keys, engine)
        let seen = Seen()
        let reader = WorkerThread(name: "roost-test")
        let writes = faults.isEmpty ? 20_000 : 200_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { seen.isOver.store(true, ordering: .relaxed) }
                for number in 1...UInt64(writes) {
                    if !faults.isEmpty, seen.halves.load(ordering: .relaxed) > 0 { return }
                    try Self.put(number, keys, engine)
                    if number % 64 == 0 { await Task.yield() }
                }
            }
            // Where another test holds the pool's second thread it would see nothing.
            group.addTask(executorPreference: faults.isEmpty ? nil : reader.forTasks) {
                while !seen.isOver.load(ordering: .relaxed) {
                    let newer = try keys.map { try SampleNumbers.read($0, engine) ?? 0 }
                    if newer != newer.sorted() { seen.halves.add(1, ordering: .relaxed) }
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
            }
            try await group.waitForAll()
        }
        #expect((seen.halves.load(ordering: .relaxed) > 0) == !faults.isEmpty)
        try await engine.close()
    }

    @Test func watchersAreToldOfAllOfItBeforeItReturns() async throws {
        let engine = try await Self.engine()
        let handle = engine.watch(
            WatchTarget(prefix: "", in: Self.name), .changes(since: nil, capacity: 100))
        let other = engine.watch(
            WatchTarget(key: "b", in: Self.name, hashSeed: engine.hashSeed),
            .values(capacity: 10))
        _ = other.nextReady()
        try Self.put(5, ["a", "b", "c"], engine)
        var versions: [UInt64] = []
        while let event = handle.nextReady() { versions.append(event.version) }
        #expect(versions == [1, 1, 1])
        #expect(other.nextReady()?.version == 1)
        try Self.put(6, ["a"], engine)
        #expect(handle.nextReady()?.version == 2)
        #expect(other.nextReady() == nil)
        try await engine.close()
    }
}
