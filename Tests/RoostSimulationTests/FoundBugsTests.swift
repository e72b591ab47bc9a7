import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation
import RoostSimulator
import Testing

/// What the simulator found, each bug as the shortest course of events that shows it.
@Suite("Found by simulation")
struct FoundBugsTests {
    private func open(_ disk: Disk) async throws -> (Engine, SimulatedFileSystem) {
        let fileSystem = SimulatedFileSystem(disk: disk)
        return (try await open(fileSystem), fileSystem)
    }

    private func open(
        _ fileSystem: SimulatedFileSystem, shardCount: Int = 1, segmentSizeBytes: Int = 1 << 20
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.shardCount = shardCount
        configuration.segmentSizeBytes = segmentSizeBytes
        return try await Engine.open(
            at: "/simulated", fileSystem: fileSystem, configuration: configuration)
    }

    private let name = DictionaryName("a")!

    private func value(_ number: UInt8, count: Int = 20) -> EncodedValue {
        EncodedValue(
            kind: ValueKind.data.rawValue,
            payload: .bytes(.init(repeating: number, count: count)))
    }

    private func put(
        _ number: UInt8, _ durability: Durability, count: Int = 20, in engine: Engine
    ) async throws {
        _ = try await engine.write(
            value(number, count: count), key: "key-\(number)", name: name, durability: durability)
    }

    /// Runs `body` on an empty disk, with threads in an order that `seed` gives: "done", or the error;
    /// `nil` where it hangs.
    private func scheduled(
        seed: UInt64,
        _ body: @escaping @Sendable (SimulatedFileSystem, SimulatedScheduling) async throws -> Void
    ) async -> String? {
        let scheduling = SimulatedScheduling(seed: seed)
        return await scheduling.run { () -> String in
            do {
                try await body(
                    SimulatedFileSystem(disk: Disk(seed: seed), scheduling: scheduling), scheduling)
                return "done"
            } catch { return "\(error)" }
        }
    }

    /// A batch of eight keys, which many a shard has to be asked for.
    private func putBatch(_ number: UInt8, count: Int, in engine: Engine) async throws {
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for part in 0..<8 {
            batch.put(value(number, count: count / 8), forKey: "key-\(number)-\(part)", in: name)
        }
        _ = try await engine.commit(batch, durability: .process)
    }

    /// Seeds 6, 20, 78, 102, 131 and 173 of 80 steps. A sync failed and the workspace was reopened.
    /// The kernel still showed the batch, but took its page for clean: the opening's sync
    /// succeeded without writing, the batch counted as safe, and the power cut took it. What had
    /// been synced after it then made the opening say `corrupt`.
    @Test func aFailedSyncLeftPagesThatNoSyncWrites() async throws {
        for seed in 0..<8 as Range<UInt64> {
            let (engine, fileSystem) = try await open(Disk(seed: seed))
            try await put(1, .synced, in: engine)
            fileSystem.inject(Fault(.inputOutput, at: .sync))
            await #expect(throws: RoostError.self) {
                try await put(2, .synced, count: 9000, in: engine)
            }
            try await engine.close()
            let second = try await open(fileSystem)
            #expect(second.recovery.lastSequence == 2)
            try await put(3, .synced, in: second)
            var lost = EnumeratedChoices()
            let (third, _) = try await open(fileSystem.turnOff().afterPowerCut(&lost))
            #expect(third.recovery.lastSequence == 3, "seed \(seed)")
        }
    }

    /// Seeds 5000663 and 5003877. The process that made a workspace died before the manifest's name
    /// was on disk. The next opening found nothing but the manifest, took that for a workspace at
    /// rest, did not sync the directory and began the log; the power cut kept the log's name and
    /// took the manifest's: `corrupt`, where there had been nothing.
    @Test func aNewWorkspacesManifestWasNotOnDiskBeforeItsLog() async throws {
        for callCount in 0..<12 {
            let first = SimulatedFileSystem(disk: Disk(seed: 1))
            first.stop(afterCalls: callCount)
            do { _ = try await open(first) } catch { #expect(first.isOff) }
            if !first.isOff { return }
            let killed = first.turnOff().afterKill()
            for laterCount in 0..<12 {
                let second = SimulatedFileSystem(disk: killed)
                second.stop(afterCalls: laterCount)
                do {
                    let engine = try await open(second)
                    try await put(1, .process, in: engine)
                } catch { #expect(second.isOff) }
                let image = second.turnOff()
                var choices = EnumeratedChoices()
                var count = 0
                repeat {
                    let (third, _) = try await open(image.afterPowerCut(&choices))
                    #expect(third.recovery.lastSequence <= 1)
                    count += 1
                } while choices.advance() && count < 16
            }
        }
    }

    /// The process died between the manifest's rename and the sync of the directory. The next
    /// opening read the new manifest and removed the segments that it does not need; the power
    /// cut kept the removals and took the rename: the old manifest stood without its log.
    @Test func aManifestThatWasNotOnDiskHadFilesRemoved() async throws {
        for callCount in 0..<40 {
            let (engine, fileSystem) = try await open(Disk(seed: 1))
            try await put(1, .synced, in: engine)
            fileSystem.stop(afterCalls: callCount)
            do { try await engine.compact() } catch { #expect(fileSystem.isOff) }
            // From here on the compaction is through before its time is.
            if !fileSystem.isOff { return }
            let killed = fileSystem.turnOff().afterKill()
            for laterCount in 0..<12 {
                let second = SimulatedFileSystem(disk: killed)
                second.stop(afterCalls: laterCount)
                do { _ = try await open(second) } catch { #expect(second.isOff) }
                let image = second.turnOff()
                var choices = EnumeratedChoices()
                var count = 0
                repeat {
                    let (third, _) = try await open(image.afterPowerCut(&choices))
                    #expect(
                        third.recovery.lastSequence == 1, "\(callCount), \(laterCount), \(count)")
                    count += 1
                } while choices.advance() && count < 16
            }
        }
    }

    /// Seed 435 of 80 steps. A segment's first sector was torn within the header, and sectors
    /// after it were kept: nothing of it had been synced, and the opening said `corrupt`.
    @Test func aTornHeaderBeforeUnsyncedFramesIsNoDamage() async throws {
        for torn in 0..<16 {
            let (engine, fileSystem) = try await open(Disk(seed: 1))
            try await put(1, .synced, in: engine)
            try await engine.compact()
            try await put(2, .process, count: 3000, in: engine)
            var choices = TornSector(torn)
            let (second, _) = try await open(fileSystem.turnOff().afterPowerCut(&choices))
            #expect((1...2).contains(second.recovery.lastSequence))
        }
    }

    /// Seeds 65 and 804 of 80 steps. A flush had begun a segment, and the process died before a
    /// batch was in it. The next opening did not sync it again, as all batches were on disk. A
    /// power cut tore its header, and the synced batches after it made that `corrupt`.
    @Test func aBareHeaderWasNeverSynced() async throws {
        for torn in 0..<16 {
            let (engine, fileSystem) = try await open(Disk(seed: 1))
            try await put(1, .synced, in: engine)
            try await engine.compact()
            let (second, later) = try await open(fileSystem.turnOff().afterKill())
            try await put(2, .synced, in: second)
            try await put(3, .process, count: 3000, in: second)
            var choices = TornSector(torn)
            let (third, _) = try await open(later.turnOff().afterPowerCut(&choices))
            #expect((2...3).contains(third.recovery.lastSequence), "sector \(torn)")
        }
    }

    /// Seed 2947 of 40 steps. An opening cut a torn tail and put a seal in its place, and the
    /// seal's sync failed. The next opening found the seal, which the kernel showed and took for
    /// clean, and began a new segment. A power cut took the seal, and the synced batches after
    /// the gap made that `corrupt`.
    @Test func aSealWhoseSyncFailedWasNeverWrittenAgain() async throws {
        var failedCount = 0
        for (seed, skipCount) in (0..<4).flatMap({ seed in (0..<8).map { (seed, $0) } }) {
            let (engine, fileSystem) = try await open(Disk(seed: UInt64(seed)))
            try await put(1, .synced, in: engine)
            try await put(2, .process, count: 3000, in: engine)
            // The second batch is torn in the middle.
            var torn = TornSector(2)
            let second = SimulatedFileSystem(disk: fileSystem.turnOff().afterPowerCut(&torn))
            second.inject(Fault(.inputOutput, at: .sync, skipping: skipCount))
            do {
                let opened = try await open(second)
                #expect(opened.recovery.lastSequence == 1)
                try await opened.close()
            } catch { failedCount += 1 }
            second.clearFaults()
            let third = try await open(second)
            try await put(3, .synced, in: third)
            var lost = EnumeratedChoices()
            let (fourth, _) = try await open(second.turnOff().afterPowerCut(&lost))
            #expect(fourth.recovery.lastSequence == 2, "seed \(seed), sync \(skipCount)")
        }
        #expect(failedCount > 4)
    }

    /// Seeds 555417 and 556071 of 40 steps. An opening cut a torn tail off and put a seal in its
    /// place. The cut was not synced before the seal was written, and a power cut kept the seal
    /// and the tail after it. The next opening took that for a torn tail again and put a second
    /// seal after the first; nothing is read after a seal, and the synced batches of the next
    /// segment made that `corrupt`.
    @Test func aTailWasStillThereBehindItsSeal() async throws {
        let (engine, fileSystem) = try await open(Disk(seed: 1))
        try await put(1, .synced, in: engine)
        try await put(2, .process, count: 3000, in: engine)
        var torn = TornSector(2)
        let disk = fileSystem.turnOff().afterPowerCut(&torn)
        for callCount in 0..<40 {
            let second = SimulatedFileSystem(disk: disk)
            second.stop(afterCalls: callCount)
            do { _ = try await open(second) } catch { #expect(second.isOff) }
            if !second.isOff { return }
            let image = second.turnOff()
            for seed in 0..<32 as Range<UInt64> {
                var choices = RandomChoices(seed: seed)
                let (third, later) = try await open(image.afterPowerCut(&choices))
                #expect(third.recovery.lastSequence == 1)
                try await put(3, .synced, in: third)
                let (fourth, _) = try await open(later.turnOff().afterKill())
                #expect(fourth.recovery.lastSequence == 2, "call \(callCount), seed \(seed)")
            }
        }
        Issue.record("the opening made more calls than were tried")
    }

    /// Seed 514282 of 40 steps. An opening cut a torn tail and left the seal to the first sync of a
    /// later batch. That sync failed, and the seal's page was given up. The next opening wrote
    /// the last segment's seal again, and this one had another after it by then: a power cut
    /// took it, and the synced batches after the gap made that `corrupt`.
    @Test func aSealThatWasNotTheLastWasNeverWrittenAgain() async throws {
        for (seed, skipCount) in (0..<8).flatMap({ seed in (0..<4).map { (seed, $0) } }) {
            var disk = Disk(seed: UInt64(seed))
            disk.allowsMapping = false
            let (engine, fileSystem) = try await open(disk)
            try await put(1, .process, in: engine)
            try await put(2, .process, count: 3000, in: engine)
            // The second batch is torn in the middle.
            var torn = TornSector(2)
            let second = SimulatedFileSystem(disk: fileSystem.turnOff().afterPowerCut(&torn))
            let opened = try await open(second)
            second.inject(Fault(.inputOutput, at: .sync, skipping: skipCount))
            do { try await put(3, .synced, in: opened) } catch {}
            second.clearFaults()
            // The process dies: a close would write a seal of its own.
            let third = SimulatedFileSystem(disk: second.turnOff().afterKill())
            let reopened = try await open(third)
            try await put(4, .synced, in: reopened)
            var lost = EnumeratedChoices()
            let (fourth, _) = try await open(third.turnOff().afterPowerCut(&lost))
            #expect(
                fourth.recovery.lastSequence == reopened.recovery.lastSequence + 1,
                "seed \(seed), sync \(skipCount)")
        }
    }

    /// Seed 15017688 of 40 steps. A process died after its close had sealed the log and before the
    /// seal was on disk. The next one's first sync failed, and the seal's page was given up; the one
    /// after wrote the last segment's seal again, and this one had another after it: a power cut
    /// took it, and the synced batches after the gap made that `corrupt`.
    @Test func aSealOfACloseThatWasNotTheLastWasNeverWrittenAgain() async throws {
        var unsealedCount = 0
        for (seed, callCount) in (0..<4).flatMap({ seed in (0..<12).map { (seed, $0) } }) {
            let (engine, fileSystem) = try await open(Disk(seed: UInt64(seed)))
            try await put(1, .synced, in: engine)
            fileSystem.stop(afterCalls: callCount)
            do { try await engine.close() } catch { unsealedCount += 1 }
            let second = SimulatedFileSystem(disk: fileSystem.turnOff().afterKill())
            let opened = try await open(second)
            second.inject(Fault(.inputOutput, at: .sync))
            do { try await put(2, .synced, in: opened) } catch {}
            second.clearFaults()
            let third = SimulatedFileSystem(disk: second.turnOff().afterKill())
            let reopened = try await open(third)
            try await put(3, .synced, in: reopened)
            var lost = EnumeratedChoices()
            let (fourth, _) = try await open(third.turnOff().afterPowerCut(&lost))
            #expect(
                fourth.recovery.lastSequence == reopened.recovery.lastSequence + 1,
                "seed \(seed), call \(callCount)")
        }
        #expect(unsealedCount > 4)
    }

    /// Seed 38 of 40 steps. A compaction waited for another to end. Between its look at whether
    /// one was running and its place in the queue the task was suspended, as tasks that prefer
    /// an executor are by calls within one actor; the other ended, woke nobody, and the first
    /// waited for ever. Shards waited for staged batches in the same way.
    @Test func aCompactionThatWaitedForAnotherWasNeverWoken() async throws {
        for seed in 0..<60 as Range<UInt64> {
            let outcome = await scheduled(seed: seed) { fileSystem, _ in
                let engine = try await self.open(fileSystem)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 1...3 as ClosedRange<UInt8> {
                        group.addTask { try await self.put(number, .synced, in: engine) }
                        group.addTask { try await engine.compact() }
                    }
                    try await group.waitForAll()
                }
                try await engine.close()
            }
            #expect(outcome == "done", "seed \(seed): \(outcome ?? "it hangs")")
        }
    }

    /// Seed 7149119 of 40 steps. A write was under way while the workspace was closed. It came
    /// between the last sync and the log's seal, and began a segment, whose name no sync brought to
    /// disk. The manifest then said that the batch was there, the power cut took the segment:
    /// `corrupt`.
    @Test func aWriteBesideACloseBeganASegmentThatNothingNamed() async {
        for seed in 28..<54 as Range<UInt64> {
            let outcome = await scheduled(seed: seed) { fileSystem, scheduling in
                let engine = try await self.open(fileSystem, shardCount: 4, segmentSizeBytes: 8192)
                try await self.putBatch(1, count: 2000, in: engine)
                fileSystem.record()
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { try? await engine.close() }
                    for number in 2...6 as ClosedRange<UInt8> {
                        // Refused where they come too late: nobody was promised anything. Each
                        // needs a larger segment than the one before.
                        group.addTask {
                            try? await self.putBatch(number, count: 2000 << number, in: engine)
                        }
                    }
                }
                for (call, disk) in fileSystem.recorded().enumerated() {
                    for cut in 0..<6 as Range<UInt64> {
                        var choices = RandomChoices(seed: seed &* 1000 + UInt64(call) * 6 + cut)
                        let next = SimulatedFileSystem(
                            disk: disk.afterPowerCut(&choices), scheduling: scheduling)
                        try await self.open(next).close()
                    }
                }
            }
            #expect(outcome == "done", "seed \(seed): \(outcome ?? "it hangs")")
        }
    }

    /// A flush had put its manifest in the old one's place, and then a look at which file that is failed. The manifest
    /// counted from then on, but not the tier of the flush, and the manifest was taken for somebody else's: the next
    /// compaction ended all writing. Without that it would have merged what there had been before, and removed the tier
    /// and the log's segments.
    @Test func aLookThatFailedBehindTheNewManifestEndedWriting() async throws {
        let cleared = try #require(DictionaryName("cleared"))
        var failureCount = 0
        for skipped in 0... {
            let (engine, fileSystem) = try await open(Disk(seed: UInt64(skipped)))
            var batch = EncodedBatch(hashSeed: engine.hashSeed)
            batch.put(value(1), forKey: "goes", in: cleared)
            _ = try await engine.commit(batch, durability: .synced)
            try await put(1, .synced, in: engine)
            try await engine.compact()
            // A tier with something to remove is merged by itself.
            var clearing = EncodedBatch(hashSeed: engine.hashSeed)
            clearing.clear(cleared)
            _ = try await engine.commit(clearing, durability: .synced)
            try await put(2, .synced, in: engine)
            fileSystem.inject(Fault(.inputOutput, at: .identify, skipping: skipped))
            do { try await engine.compact() } catch { failureCount += 1 }
            let isHit = fileSystem.firedFaults[.inputOutput] != nil
            fileSystem.clearFaults()
            try await engine.compact()
            try expectBoth(in: engine, "after \(skipped)")
            try await engine.close()
            let again = try await open(fileSystem)
            try expectBoth(in: again, "reopened after \(skipped)")
            #expect(try again.find("goes", name: cleared) == nil)
            try await again.close()
            if !isHit { break }
        }
        #expect(failureCount >= 4)
    }

    private func expectBoth(in engine: Engine, _ when: String) throws {
        for number in 1...2 {
            let isThere = try engine.find("key-\(number)", name: name) != nil
            #expect(isThere, "key-\(number) \(when)")
        }
    }
}

/// Keeps everything but the end of one dirty sector.
private struct TornSector: CrashChoices {
    private var left: Int

    init(_ index: Int) { left = index }

    mutating func pick(_ count: Int) -> Int { count - 1 }

    mutating func pickKeptBytes(ofSector sizeBytes: Int) -> Int {
        left -= 1
        return left == -1 ? 30 : sizeBytes
    }
}
