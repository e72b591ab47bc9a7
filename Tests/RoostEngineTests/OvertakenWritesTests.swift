import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// Writes that others overtake, or that come after what was enqueued.
@Suite(.timeLimit(.minutes(5))) struct OvertakenWritesTests {
    private static let name = SampleNumbers.name

    private static func engine() async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        return try await Engine.open(
            at: "/overtaken", fileSystem: MemoryFileSystem(), configuration: configuration)
    }

    /// The story: a synced put waits for its sync; the dictionary is emptied meanwhile, which waits for none,
    /// and is told; then the sync is through. Nobody reads the put any more, so nobody is told of it.
    @Test func watchersAreNotToldOfAPutThatIsRemovedBeforeItIsVisible() async throws {
        let engine = try await Self.engine()
        let hash = engine.hash(of: "k", in: Self.name)
        let shard = engine.shard(of: hash)
        let watcher = engine.watch(
            WatchTarget(key: "k", in: Self.name, hashSeed: engine.hashSeed), .values(capacity: 10))
        let token = BatchToken()
        let appended = try await shard.stageWrite(
            SampleNumbers.value(1), key: "k", name: Self.name, hash: hash, token: token)
        var clear = EncodedBatch(hashSeed: engine.hashSeed)
        clear.clear(Self.name)
        _ = try await engine.commit(clear, durability: .process)
        let change = EncodedBatch.Change(hash: hash, frameOffset: Frame.headerSizeBytes)
        try await engine.settle(
            token, on: [shard], appended: appended, changes: [change], isSynced: false)
        #expect(try SampleNumbers.read("k", engine) == nil)
        var isTold = false
        while let event = watcher.nextReady() {
            if case .changed = event.content { isTold = true }
        }
        #expect(!isTold)
        try await engine.close()
    }

    /// The story: a transaction has read a key that only a snapshot has; the dictionary is emptied, and a flush and what
    /// comes with it forget that it was. A batch that waited for its sync meanwhile kept a table in use that had no key,
    /// in which nothing had changed: so what was read counted as current, and the transaction brought it back.
    @Test func whatWasEmptiedHasChangedThoughTheClearIsForgotten() async throws {
        var configuration = EngineConfiguration()
        configuration.durability = .process
        configuration.shardCount = 1
        configuration.restDelay = .seconds(3_600)
        let engine = try await Engine.open(
            at: "/emptied", fileSystem: MemoryFileSystem(), configuration: configuration)
        _ = try await engine.write(
            SampleNumbers.value(1), key: "k", name: Self.name, durability: nil)
        try await engine.flush()
        var attempt = EngineTransaction(engine)
        let old = try attempt.withValue("k", name: Self.name) { SampleNumbers.number($0) ?? 0 }
        #expect(old == 1)
        try attempt.put(SampleNumbers.value(old + 1), forKey: "k", in: Self.name)
        let (batch, reads) = (attempt.batch, attempt.reads!)
        var clear = EncodedBatch(hashSeed: engine.hashSeed)
        clear.clear(Self.name)
        _ = try await engine.commit(clear, durability: nil)
        let shard = engine.shards[0]
        // As one that came to the log behind the flush's begin.
        let token = BatchToken()
        token.noteAppended(sequence: 1_000, frameLocation: 0)
        let hash = engine.hash(of: "other", in: Self.name)
        try await shard.prepare(
            StagedBatch(token: token, claim: shard.claim("other", Self.name, hash: hash)))
        try await engine.compact()
        #expect(engine.clearCounts == [0])
        token.abort()
        shard.foldResolved()
        let sequence = try await engine.commit(batch, reads: reads, durability: nil)
        #expect(sequence == nil)
        #expect(try SampleNumbers.read("k", engine) == nil)
        reads.view.close()
        try await engine.close()
    }

    /// A batch keeps `k` back, so an enqueued write of it waits, and after that what `body` queues.
    private func behindAnEnqueuedWrite<Result: Sendable>(
        _ engine: Engine, _ body: @escaping @Sendable (Shard) async throws -> Result
    ) async throws -> Result {
        let hash = engine.hash(of: "k", in: Self.name)
        let shard = engine.shard(of: hash)
        let token = BatchToken()
        try await shard.prepare(
            StagedBatch(token: token, claim: shard.claim("k", Self.name, hash: hash)))
        try engine.enqueue(SampleNumbers.value(1), key: "k", name: Self.name)
        async let result = body(shard)
        while shard.turn.withLock({ $0.queue.count }) < 2 { await Task.yield() }
        token.abort()
        shard.foldResolved()
        return try await result
    }

    @Test func aConditionHoldsOfAnEnqueuedWriteThatIsMadeJustBefore() async throws {
        let engine = try await Self.engine()
        let sequence = try await behindAnEnqueuedWrite(engine) { shard in
            let hash = engine.hash(of: "k", in: Self.name)
            let version = try Self.name.withRecordKey("k") { key in
                try shard.findVersioned(key, hash: hash).version
            }
            return try await shard.inTurn(shard.claim("k", Self.name, hash: hash, rests: true)) {
                turn -> UInt64? in
                try Self.name.withRecordKey("k") { key in
                    guard try shard.isCurrent(version, key, hash: hash) else { return nil }
                    return try shard.write(SampleNumbers.value(2), key, hash: hash, in: &turn)
                        .sequence
                }
            }
        }
        #expect(sequence != nil)
        #expect(try SampleNumbers.read("k", engine) == 2)
        try await engine.close()
    }

    @Test func aBatchBehindAnEnqueuedWriteIsSeenWhole() async throws {
        let engine = try await Self.engine()
        let seen = try await behindAnEnqueuedWrite(engine) { shard in
            // Another key of the same shard.
            let other = (0...).lazy.map { "m\($0)" }.first {
                engine.shard(of: engine.hash(of: $0, in: Self.name)) === shard
            }!
            var batch = EncodedBatch(hashSeed: engine.hashSeed)
            for key in ["k", other] {
                batch.put(SampleNumbers.value(2), forKey: key, in: Self.name)
            }
            let claim = Claim(.batch(batch), changes: batch.changes, clears: [])
            return try await shard.inTurn(claim) { [batch] turn in
                _ = try shard.write(batch, in: &turn)
                let view = try engine.view()
                defer { view.close() }
                return try ["k", other].map { try SampleNumbers.read($0, view) }
            }
        }
        #expect(seen == [2, 2])
        try await engine.close()
    }

    /// The marks of a guarded dictionary were taken away before its guard was known.
    @Test func anEnqueuedWriteThatKnowsNothingOfItsGuardIsNotMade() async throws {
        let engine = try await Self.engine()
        let hash = engine.hash(of: "k", in: Self.name)
        await engine.guardWrites(of: Self.name, marks: [Self.name.prefix + Array("mark".utf8)])
        #expect(throws: GuardsChanged.self) {
            _ = try engine.shard(of: hash).enqueue(
                SampleNumbers.value(1), key: "k", name: Self.name, hash: hash, guardGeneration: 0)
        }
        #expect(try SampleNumbers.read("k", engine) == nil)
        try engine.enqueue(SampleNumbers.value(1), key: "k", name: Self.name)
        #expect(try SampleNumbers.read("k", engine) == 1)
        try await engine.close()
    }

    /// The story: a version was read from an enqueued write, which has its number in the log since. Nobody else
    /// changed the key, and whoever writes on the condition of that version was told otherwise.
    @Test func inAGuardedDictionaryAConditionHoldsOfAnEnqueuedWriteThatIsMadeSince() async throws {
        let engine = try await Self.engine()
        let hash = engine.hash(of: "k", in: Self.name)
        let shard = engine.shard(of: hash)
        await engine.guardWrites(of: Self.name, marks: [Self.name.prefix + Array("mark".utf8)])
        let place = try await shard.takePlace(shard.claim("k", Self.name, hash: hash))
        try engine.enqueue(SampleNumbers.value(1), key: "k", name: Self.name)
        let version = try engine.findVersioned("k", name: Self.name).version
        #expect(version.sequence >= EnqueuedWrites.firstVersion)
        shard.giveBack(place)
        #expect(
            try await engine.write(
                SampleNumbers.value(2), key: "k", name: Self.name, if: version, durability: nil)
                != nil)
        #expect(try SampleNumbers.read("k", engine) == 2)
        // And once only.
        #expect(
            try await engine.write(
                SampleNumbers.value(3), key: "k", name: Self.name, if: version, durability: nil)
                == nil)
        #expect(try SampleNumbers.read("k", engine) == 2)
        try await engine.close()
    }

    /// The story: a write is enqueued, and looks for marks; an index is declared, and its building begins a view; the
    /// write is made. The view does not have it, so the mark must not stay.
    @Test func aMarkThatComesWhileAWriteIsEnqueuedGoes() async throws {
        let engine = try await Self.engine()
        let catalog = DictionaryName("marks")!
        let mark = catalog.prefix + Array("mark".utf8)
        func isMarked() throws -> Bool {
            let view = try engine.view()
            defer { view.close() }
            return try view.find(recordKey: mark, in: catalog) != nil
        }
        await engine.guardWrites(of: Self.name, marks: [mark])
        var marking = EncodedBatch(hashSeed: engine.hashSeed)
        marking.keptMarks = [mark]
        marking.write(SampleNumbers.value(1), recordKey: mark, in: catalog)
        _ = try await engine.commit(marking, durability: nil)
        try engine.enqueue(SampleNumbers.value(1), key: "k", name: Self.name)
        #expect(try !isMarked())
        let hash = mark.withUnsafeBytes { engine.hashSeed.hash($0) }
        try engine.enqueue(SampleNumbers.value(2), key: "k", name: Self.name) {
            _ = try mark.withUnsafeBytes {
                try engine.shard(of: hash).writeAtOnce(SampleNumbers.value(1), $0, hash: hash)
            }
            #expect(try isMarked())
            #expect(try SampleNumbers.read("k", engine) == 1)
        }
        #expect(try !isMarked())
        #expect(try SampleNumbers.read("k", engine) == 2)
        try await engine.close()
    }

    /// A removal that a flush has taken in may be in none of its snapshots, but it is on disk.
    @Test func aManifestCoversWhatWasOnDiskWhenItWasWritten() {
        var manifest = ManifestRecord(
            workspace: WorkspaceIdentifier(first: 1, second: 2),
            hashSeed: HashSeed(first: 0, second: 0))
        manifest.flushedSequence = 5
        manifest.durableSequence = 7
        #expect(manifest.coveredSequence == 7)
    }
}
