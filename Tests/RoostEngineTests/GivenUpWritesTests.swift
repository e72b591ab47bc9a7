import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

/// What rests on a write that is given up, be it enqueued or staged, or had the number of another.
@Suite(.timeLimit(.minutes(5))) struct GivenUpWritesTests {
    private static let name = SampleNumbers.name

    /// Of one shard, that makes nothing small by itself.
    private static func engine(
        at path: String, _ fileSystem: any FileSystem = PosixFileSystem()
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.shardCount = 1
        configuration.restDelay = .seconds(3_600)
        return try await Engine.open(
            at: path, fileSystem: fileSystem, configuration: configuration)
    }

    /// Two enqueued writes, of `k` and `m`, are made together, and neither can be, as no segment is to be had. Calls `body`
    /// while the second is tried.
    private func givingUpEnqueuedWrites(
        _ body: @escaping @Sendable (Engine) throws -> Void
    ) async throws -> Engine {
        let hook = Mutex<(@Sendable () throws -> Void)?>(nil)
        let fileSystem = ObservedFileSystem(MemoryFileSystem()) { call in
            guard case .createFile = call else { return }
            try hook.withLock { $0 }?()
        }
        let engine = try await Self.engine(at: "/given-up", fileSystem)
        var keeping = EncodedBatch(hashSeed: engine.hashSeed)
        for key in ["k", "m"] { keeping.put(SampleNumbers.value(1), forKey: key, in: Self.name) }
        let token = BatchToken()
        let claim = Claim(.batch(keeping), changes: keeping.changes, clears: [])
        let shard = engine.shards[0]
        try await shard.prepare(StagedBatch(token: token, claim: claim))
        // Larger than the segment: each append needs a new file.
        let large = EncodedValue(
            kind: ValueKind.bytes.rawValue, payload: .bytes([UInt8](repeating: 7, count: 2 << 20)))
        for key in ["k", "m"] { try engine.enqueue(large, key: key, name: Self.name) }
        let triedCount = Mutex(0)
        let fail: @Sendable () throws -> Void = {
            let number = triedCount.withLock { count in
                count += 1
                return count
            }
            if number == 2 { try body(engine) }
            throw RoostError(.io, "no file is made")
        }
        hook.withLock { $0 = fail }
        token.abort()
        shard.foldResolved()
        hook.withLock { $0 = nil }
        #expect(triedCount.withLock { $0 } == 2)
        #expect(try SampleNumbers.read("k", engine) == nil)
        await #expect(throws: RoostError.self) { try await engine.synchronize() }
        return engine
    }

    /// The story: an enqueued write cannot be made, and readers see it until those that are made with it have been tried
    /// too. A transaction that read it in that moment was committed, though nobody ever wrote it.
    @Test func whatRestsOnAnEnqueuedWriteThatIsGivenUpIsNotCommitted() async throws {
        let begun = Mutex<EngineView?>(nil)
        let engine = try await givingUpEnqueuedWrites { engine in
            let view = try engine.view()
            begun.withLock { $0 = view }
        }
        let view = try #require(begun.withLock { $0 })
        #expect(try view.contains("k", name: Self.name))
        var reads = TransactionReads(view)
        reads.note("k", in: Self.name)
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        batch.put(SampleNumbers.value(2), forKey: "other", in: Self.name)
        let sequence = try await engine.commit(batch, reads: reads, durability: nil)
        #expect(sequence == nil)
        view.close()
        try await engine.close()
    }

    /// The story: as above, of a reader whose value was kept in memory, where every later one found it.
    @Test func anEnqueuedWriteThatIsGivenUpDoesNotStayInMemory() async throws {
        let engine = try await givingUpEnqueuedWrites { engine in
            guard let found = try engine.find("k", name: Self.name) else { return }
            engine.makeResident(
                Resident(type: ObjectIdentifier(Int.self)), costBytes: 8, found: found, key: "k",
                name: Self.name)
        }
        let found = try engine.find("k", name: Self.name)
        let isFound = found != nil
        #expect(!isFound)
        try await engine.close()
    }

    /// Reads `k` and changes nothing; what it has read is to be on disk.
    private static func readOnDisk(_ engine: Engine) async throws -> UInt64? {
        let view = try engine.view()
        defer { view.close() }
        var reads = TransactionReads(view)
        reads.note("k", in: name)
        let batch = EncodedBatch(hashSeed: engine.hashSeed)
        return try await engine.commit(batch, reads: reads, durability: .synced)
    }

    /// The story: a transaction that changes nothing, and that was to return once what it had read is on disk, read an
    /// enqueued write that was not in the log yet. It returned once the log was on disk, and the write was given up
    /// after that.
    @Test(arguments: [true, false])
    func whatIsReadAndOnDiskIsNoEnqueuedWriteThatIsGivenUp(isGivenUp: Bool) async throws {
        let isFailing = Mutex(false)
        let fileSystem = ObservedFileSystem(MemoryFileSystem()) { call in
            guard case .createFile = call, isFailing.withLock({ $0 }) else { return }
            throw RoostError(.io, "no file is made")
        }
        let engine = try await Self.engine(at: "/read-on-disk", fileSystem)
        let shard = engine.shards[0]
        let hash = engine.hash(of: "k", in: Self.name)
        let place = try await shard.takePlace(shard.claim("k", Self.name, hash: hash))
        // Larger than the segment: the append needs a new file.
        let large = EncodedValue(
            kind: ValueKind.bytes.rawValue, payload: .bytes([UInt8](repeating: 7, count: 2 << 20)))
        try engine.enqueue(large, key: "k", name: Self.name)
        let isOver = Mutex(false)
        let reading = Task {
            defer { isOver.withLock { $0 = true } }
            return try await Self.readOnDisk(engine)
        }
        while !isOver.withLock({ $0 }), shard.turn.withLock({ $0.waiters.isEmpty }) {
            await Task.yield()
        }
        isFailing.withLock { $0 = isGivenUp }
        shard.giveBack(place)
        let sequence = try await reading.value
        #expect((sequence == nil) == isGivenUp)
        if isGivenUp {
            await #expect(throws: RoostError.self) { try await engine.synchronize() }
        } else {
            #expect(engine.log?.durableSequence == 1)
        }
        isFailing.withLock { $0 = false }
        try await engine.close()
    }

    /// Sets `n` if nobody changes `k` meanwhile.
    private static func setResting(_ engine: Engine) async throws -> UInt64? {
        let view = try engine.view()
        defer { view.close() }
        var reads = TransactionReads(view)
        reads.note("k", in: name)
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        batch.put(SampleNumbers.value(3), forKey: "n", in: name)
        return try await engine.commit(batch, reads: reads, durability: .process)
    }

    /// The story: a batch waits for its sync, and a transaction that has read what it changes waits for the batch. The sync
    /// fails, so the batch is given up, and the transaction was committed on what had been there before. But the batch
    /// stands in the log, where the next opening finds it before the transaction.
    @Test func whatWaitsForABatchWhoseSyncFailsIsNotCommitted() async throws {
        let gate = Gate()
        let isFailing = Mutex(false)
        let fileSystem = ObservedFileSystem(MemoryFileSystem()) { call in
            guard case .syncData(let name) = call, name.hasPrefix("log") else { return }
            gate.pass()
            if isFailing.withLock({ $0 }) { throw RoostError(.io, "the disk takes nothing") }
        }
        let engine = try await Self.engine(at: "/failing", fileSystem)
        _ = try await engine.write(
            SampleNumbers.value(1), key: "k", name: Self.name, durability: nil)
        isFailing.withLock { $0 = true }
        gate.close()
        var changing = EncodedBatch(hashSeed: engine.hashSeed)
        for key in ["k", "m"] { changing.put(SampleNumbers.value(2), forKey: key, in: Self.name) }
        let batch = changing
        let synced = Task { try await engine.commit(batch, durability: .synced) }
        await gate.waitForArrival()
        let resting = Task { try await Self.setResting(engine) }
        let shard = engine.shards[0]
        while shard.turn.withLock({ $0.queue.isEmpty }) { await Task.yield() }
        gate.open()
        let (first, second) = (await synced.result, await resting.result)
        #expect {
            _ = try first.get()
        } throws: {
            ($0 as? RoostError)?.code == .poisoned
        }
        #expect {
            _ = try second.get()
        } throws: {
            ($0 as? RoostError)?.code == .poisoned
        }
        #expect(try SampleNumbers.read("k", engine) == 1)
        #expect(try SampleNumbers.read("n", engine) == nil)
        try await engine.close()
    }

    /// The story: a version was read from an enqueued write in an earlier opening. In a later one somebody enqueues a write
    /// of the key, which had the same number before it came to the log: so it was taken for the one that was read.
    @Test func aVersionOfAnEnqueuedWriteIsOfItsOpeningAlone() async throws {
        try await withTemporaryDirectory { path in
            let first = try await Self.engine(at: path)
            let version = try await Self.enqueueBehindAPlace(1, first)
            #expect(version.sequence >= EnqueuedWrites.firstVersion)
            try await first.close()
            let second = try await Self.engine(at: path)
            _ = try await Self.enqueueBehindAPlace(2, second)
            let sequence = try await second.write(
                SampleNumbers.value(3), key: "k", name: Self.name, if: version, durability: nil)
            #expect(sequence == nil)
            #expect(try SampleNumbers.read("k", second) == 2)
            try await second.close()
        }
    }

    /// Enqueues a value of `k` behind a place that is given back then; the version that was read before.
    private static func enqueueBehindAPlace(
        _ number: UInt64, _ engine: Engine
    ) async throws -> RecordVersion {
        let hash = engine.hash(of: "k", in: name)
        let shard = engine.shard(of: hash)
        let place = try await shard.takePlace(shard.claim("k", name, hash: hash))
        try engine.enqueue(SampleNumbers.value(number), key: "k", name: name)
        let version = try engine.findVersioned("k", name: name).version
        shard.giveBack(place)
        return version
    }
}
