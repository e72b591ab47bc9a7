import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What writers meet while flushes fail. docs/decisions/0275.
@Suite(.timeLimit(.minutes(10))) struct FailingFlushTests {
    private static let thresholdBytes: UInt64 = 64 << 10
    private static let limitBytes: UInt64 = 256 << 10

    private func open(
        _ path: String, _ fileSystem: some FileSystem, threadCount: Int = 1
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(shardCount: 2, durability: .process),
            fileSystem: fileSystem
        ) { configuration in
            configuration.flushThresholdBytes = Self.thresholdBytes
            configuration.smallestFlushBytes = Self.thresholdBytes
            configuration.backlogLimitBytes = Self.limitBytes
            configuration.restDelay = .seconds(3_600)
            configuration.compactionThreadCount = threadCount
            configuration.snapshotSizeBytes = 8 << 10
        }
    }

    /// Sets values until `totalBytes` were taken or one write after the other was refused.
    private func fill(
        _ values: WorkspaceDictionary, totalBytes: UInt64, _ attempt: inout Int
    ) async throws -> (takenBytes: UInt64, refused: RoostError?) {
        var takenBytes: UInt64 = 0
        var refusedCount = 0
        var refused: RoostError?
        while takenBytes < totalBytes, refusedCount < 200 {
            attempt += 1
            do {
                try await values.set(
                    [UInt8](repeating: UInt8(attempt & 0xff), count: 1_000),
                    forKey: "\(attempt % 1_000)")
                takenBytes += 1_000
            } catch let error as RoostError {
                refused = error
                refusedCount += 1
            }
        }
        return (takenBytes, refused)
    }

    /// The story: the statistics, and the metric made of them, told of a failure until enough was written for the next
    /// flush, though the compaction that somebody asked for had made good what failed.
    @Test func aCompactionThatIsAskedForEndsTheFailure() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(true)
            let fileSystem = ObservedFileSystem { call in
                guard case .createFile(let name) = call, name.hasPrefix("snapshot-") else { return }
                if fails.load(ordering: .relaxed) { throw RoostError(.io, "no snapshot today") }
            }
            let workspace = try await open(path, fileSystem)
            let values = workspace.dictionary("values")
            var attempt = 0
            _ = try await fill(values, totalBytes: 2 * Self.thresholdBytes, &attempt)
            await workspace.engine.waitForCompaction()
            #expect(workspace.statistics.compactionFailure != nil)
            await #expect(throws: RoostError.self) { try await workspace.compact() }
            #expect(workspace.statistics.compactionFailure != nil)
            fails.store(false, ordering: .relaxed)
            try await workspace.compact()
            #expect(workspace.statistics.compactionFailure == nil)
            try await workspace.close()
        }
    }

    @Test func theLogDoesNotGrowWithoutBoundAndGoesOnOnceFlushesDo() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(true)
            let attempts = Atomic(0)
            let fileSystem = ObservedFileSystem { call in
                guard case .createFile(let name) = call, name.hasPrefix("snapshot-") else { return }
                attempts.wrappingAdd(1, ordering: .relaxed)
                if fails.load(ordering: .relaxed) { throw RoostError(.io, "no snapshot today") }
            }
            let workspace = try await open(path, fileSystem)
            let values = workspace.dictionary("values")
            var attempt = 0
            let (taken, refused) = try await fill(
                values, totalBytes: 64 * Self.thresholdBytes, &attempt)
            #expect(taken < 64 * Self.thresholdBytes)
            #expect(refused?.code == .io && refused?.message == "no snapshot today")
            let slackBytes = 2 * Self.thresholdBytes
            let backlog = workspace.statistics.logBacklogBytes
            #expect(backlog >= 2 * Self.limitBytes)
            #expect(backlog <= 2 * Self.limitBytes + slackBytes)
            // Every way to write is refused.
            await #expect(throws: RoostError.self) { try await values.removeValue(forKey: "1") }
            await #expect(throws: RoostError.self) {
                try await workspace.write { batch in batch.set(1, forKey: "a", in: values) }
            }
            await #expect(throws: RoostError.self) {
                try await workspace.transaction { tx in
                    let known = try tx.value(forKey: "a", as: Int.self, in: values)
                    try tx.set((known ?? 0) + 1, forKey: "a", in: values)
                }
            }
            guard case .failure(let lost) = values.enqueue(1, forKey: "a") else {
                Issue.record("an enqueued write was taken")
                return
            }
            #expect(lost.code == .io)
            await #expect(throws: RoostError.self) { try await workspace.synchronize() }
            // What is there is read, and what was taken stays.
            #expect(try values.count > 0)
            let attemptsBefore = attempts.load(ordering: .relaxed)
            let begin = ContinuousClock.now
            for _ in 0..<1_000 {
                await #expect(throws: RoostError.self) { try await values.set(1, forKey: "a") }
            }
            // At most once a second it is tried again.
            let retryCount = attempts.load(ordering: .relaxed) - attemptsBefore
            #expect(.seconds(retryCount - 1) <= ContinuousClock.now - begin)
            #expect(workspace.statistics.logBacklogBytes <= backlog + 1_000)

            fails.store(false, ordering: .relaxed)
            let end = ContinuousClock.now + .seconds(60)
            var isTaken = false
            while !isTaken, .now < end {
                do {
                    try await values.set(2, forKey: "after")
                    isTaken = true
                } catch { try await Task.sleep(for: .milliseconds(20)) }
            }
            #expect(isTaken)
            let (takenAfter, _) = try await fill(
                values, totalBytes: 16 * Self.thresholdBytes, &attempt)
            #expect(takenAfter >= 16 * Self.thresholdBytes)
            #expect(try values["after", as: Int.self] == 2)
            await workspace.engine.waitForCompaction()
            #expect(workspace.statistics.compactionFailure == nil)
            try await workspace.close()
        }
    }

    /// A flush that somebody asks for ends it too.
    @Test func compactLetsWritersGoOn() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(true)
            let fileSystem = ObservedFileSystem { call in
                guard case .createFile(let name) = call, name.hasPrefix("snapshot-") else { return }
                if fails.load(ordering: .relaxed) { throw RoostError(.outOfSpace, "full") }
            }
            let workspace = try await open(path, fileSystem)
            let values = workspace.dictionary("values")
            var attempt = 0
            let (_, refused) = try await fill(
                values, totalBytes: 64 * Self.thresholdBytes, &attempt)
            #expect(refused?.code == .outOfSpace)
            await #expect(throws: RoostError.self) { try await workspace.compact() }
            await #expect(throws: RoostError.self) { try await values.set(1, forKey: "a") }
            fails.store(false, ordering: .relaxed)
            try await workspace.compact()
            try await values.set(1, forKey: "a")
            values.enqueue(2, forKey: "b")
            try await workspace.synchronize()
            try await workspace.close()
            let again = try await open(path, PosixFileSystem())
            #expect(try again.dictionary("values")["b", as: Int.self] == 2)
            try await again.close()
        }
    }

    private func snapshotNames(_ path: String) throws -> Set<String> {
        Set(
            try FileManager.default.contentsOfDirectory(atPath: path)
                .filter { $0.hasPrefix("snapshot-") })
    }

    private func listedNames(_ workspace: Workspace) async throws -> Set<String> {
        let manifest = try await workspace.engine.pinBase().manifest
        return Set(manifest.snapshots.map { FileName.snapshot($0.number).text })
    }

    /// What a full disk has no room for must not leave it fuller.
    @Test(arguments: [false, true]) func whatAFailureHasWrittenIsRemoved(isMerge: Bool) async throws
    {
        try await withTemporaryDirectory { path in
            let left = Atomic(Int.max)
            let fileSystem = ObservedFileSystem { call in
                guard case .createFile(let name) = call, name.hasPrefix("snapshot-") else { return }
                if left.wrappingSubtract(1, ordering: .relaxed).newValue < 0 {
                    throw RoostError(.outOfSpace, "full")
                }
            }
            // A merge installs after as many files as there are threads, a flush after all.
            let workspace = try await open(path, fileSystem, threadCount: isMerge ? 2 : 1)
            let values = workspace.dictionary("values")
            var random = SeededGenerator(seed: 7)
            for round in 0..<2 {
                // Below the threshold, by itself nothing is flushed.
                for key in 0..<50 {
                    try await values.set(random.bytes(1_000), forKey: "\(key * 2 + round)")
                }
                if round == 0 || isMerge { try await workspace.engine.flush() }
            }
            let before = try await listedNames(workspace)
            #expect(try snapshotNames(path) == before)
            var fileCount = 0
            var failure: RoostError?
            // The first file has no room, then the second: from then on there are files that were finished before.
            while true {
                left.store(fileCount, ordering: .relaxed)
                do {
                    if isMerge {
                        try await workspace.compact()
                    } else {
                        try await workspace.engine.flush()
                    }
                    break
                } catch let error as RoostError { failure = error }
                fileCount += 1
                #expect(try await snapshotNames(path) == listedNames(workspace))
            }
            #expect(failure?.code == .outOfSpace && fileCount > 2)
            #expect(try values.count == 100)
            left.store(.max, ordering: .relaxed)
            try await workspace.compact()
            #expect(try values.count == 100)
            #expect(try await snapshotNames(path) == listedNames(workspace))
            #expect(try await workspace.verify().isSound)
            try await workspace.close()
        }
    }

    /// What is new needs nothing of the old snapshots' compression dictionary.
    @Test func aDamagedCompressionDictionaryKeepsNothingFromBeingFlushed() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            func text(_ number: Int) -> String {
                "{\"name\": \"somebody with the number \(number)\", \"address\": \"the street of the house \(number * 7)\"}"
            }
            let old = workspace.dictionary("old")
            try await old.setAll((0..<5_000).map { ("\($0)", text($0)) })
            try await workspace.compact()
            let name = try #require(try snapshotNames(path).first)
            let file = "\(path)/\(name)"
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
            guard case .valid(let footer) = bytes.withUnsafeBytes(SnapshotFooter.read) else {
                Issue.record("the snapshot is none")
                return
            }
            #expect(footer.dictionaryCount > 0)
            try await workspace.close()
            // It is there twice.
            for offset in [footer.dictionaryOffset, try #require(footer.secondDictionaryOffset)] {
                try flipByte(at: Int(offset) + 5, of: file)
            }

            workspace = try await Workspace.open(at: path)
            let new = workspace.dictionary("new")
            try await new.setAll((0..<2_000).map { ("\($0)", text($0)) })
            try await workspace.engine.flush()
            #expect(workspace.statistics.snapshotTierCount == 2)
            #expect(try new["1999", as: String.self] == text(1_999))
            #expect(throws: RoostError.self) {
                try workspace.dictionary("old").value(forKey: "1", as: String.self)
            }
            #expect(try workspace.dictionary("old").count == 5_000)
            await #expect(throws: RoostError.self) { try await workspace.compact() }
            #expect(try await !workspace.verify().isSound)
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            #expect(try workspace.dictionary("new").count == 2_000)
            #expect(try workspace.dictionary("new")["7", as: String.self] == text(7))
            try await workspace.close()
        }
    }

    private func flipByte(at offset: Int, of path: String) throws {
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[offset] ^= 0x20
        try bytes.write(to: URL(fileURLWithPath: path))
    }
}
