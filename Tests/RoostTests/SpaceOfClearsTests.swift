import Foundation
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import Roost

/// That `removeAll` gives back what it empties, with neither `compact` nor `close` nor another write.
@Suite(.timeLimit(.minutes(10))) struct SpaceOfClearsTests {
    private func open(_ path: String, restDelay: Duration = .milliseconds(60)) async throws
        -> Workspace
    {
        try await Workspace.open(
            at: path, configuration: .init(durability: .process), fileSystem: PosixFileSystem()
        ) { configuration in
            configuration.snapshotSizeBytes = 32 << 10
            configuration.restDelay = restDelay
        }
    }

    private func fill(
        _ dictionary: WorkspaceDictionary, keyCount: Int, generation: UInt8 = 1
    ) async throws {
        // Random, so that they are stored as they are.
        var random = SeededGenerator(seed: UInt64(generation))
        try await dictionary.setAll(
            (0..<keyCount).map { ("key \($0)", [generation] + random.bytes(199)) })
    }

    private func check(
        _ dictionary: WorkspaceDictionary, keyCount: Int, generation: UInt8 = 1
    ) throws {
        #expect(try dictionary.count == keyCount)
        for index in 0..<keyCount {
            let value = try dictionary.value(forKey: "key \(index)", as: [UInt8].self)
            #expect(value?.first == generation)
        }
    }

    private func snapshotBytes(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: path).reduce(0) { total, name in
            guard case .snapshot = FileName(name) else { return total }
            var status = stat()
            return stat("\(path)/\(name)", &status) == 0 ? total + Int(status.st_size) : total
        }
    }

    private func waitUntilSnapshotsTake(atMost limitBytes: Int, _ path: String) async throws {
        let end = ContinuousClock.now + .seconds(180)
        while try snapshotBytes(path) > limitBytes, .now < end {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(try snapshotBytes(path) <= limitBytes)
    }

    @Test func whatIsEmptiedIsGivenBack() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path)
            try await fill(workspace.dictionary("kept"), keyCount: 1_000)
            try await fill(workspace.dictionary("large"), keyCount: 3_000)
            try await workspace.compact()
            #expect(try snapshotBytes(path) > 800_000)
            try await workspace.dictionary("large").removeAll()
            try await waitUntilSnapshotsTake(atMost: 300_000, path)
            try check(workspace.dictionary("kept"), keyCount: 1_000)
            #expect(try workspace.dictionary("large").count == 0)
            try await workspace.close()

            workspace = try await open(path)
            try check(workspace.dictionary("kept"), keyCount: 1_000)
            #expect(try workspace.dictionary("large").count == 0)
            #expect(try await workspace.verify().isSound)
            try await workspace.close()
        }
    }

    @Test func aStoreOfNothingElseBecomesEmpty() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            try await fill(workspace.dictionary("only"), keyCount: 2_000)
            try await workspace.compact()
            try await workspace.dictionary("only").removeAll()
            try await waitUntilSnapshotsTake(atMost: 0, path)
            try await fill(workspace.dictionary("only"), keyCount: 10, generation: 2)
            try check(workspace.dictionary("only"), keyCount: 10, generation: 2)
            try await workspace.close()
        }
    }

    /// A tenth of the store is no reason to write the rest again: whole snapshots go.
    @Test func aPartOfALargeStoreIsGivenBackWithoutAMerge() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            try await fill(workspace.dictionary("a"), keyCount: 4_000)
            try await fill(workspace.dictionary("b"), keyCount: 1_000)
            try await fill(workspace.dictionary("c"), keyCount: 4_000)
            try await workspace.compact()
            let before = try snapshotBytes(path)
            let mergeCount = workspace.statistics.mergeCount
            try await workspace.dictionary("b").removeAll()
            // Two snapshots at most are other dictionaries' too.
            try await waitUntilSnapshotsTake(atMost: before - 100_000, path)
            #expect(workspace.statistics.mergeCount == mergeCount)
            try check(workspace.dictionary("a"), keyCount: 4_000)
            try check(workspace.dictionary("c"), keyCount: 4_000)
            try await workspace.close()
        }
    }

    @Test func whatIsSetAfterwardsStays() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await open(path, restDelay: .seconds(3_600))
            let values = workspace.dictionary("values")
            try await fill(values, keyCount: 2_000)
            try await workspace.engine.flush()
            try await values.removeAll()
            try await fill(values, keyCount: 1_500, generation: 2)
            try await workspace.engine.flush()
            await workspace.engine.waitForCompaction()
            try check(workspace.dictionary("values"), keyCount: 1_500, generation: 2)
            try await workspace.close()

            // It was never at rest: the next opening gives it back.
            workspace = try await open(path)
            try await waitUntilSnapshotsTake(atMost: 400_000, path)
            try check(workspace.dictionary("values"), keyCount: 1_500, generation: 2)
            try await workspace.close()
            workspace = try await open(path)
            try check(workspace.dictionary("values"), keyCount: 1_500, generation: 2)
            try await workspace.close()
        }
    }

    @Test func aViewKeepsWhatItBeganOn() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            let values = workspace.dictionary("values")
            try await fill(values, keyCount: 2_000)
            try await workspace.compact()
            let view = try workspace.readView()
            try await values.removeAll()
            try await waitUntilSnapshotsTake(atMost: 0, path)
            #expect(try view.count(of: values) == 2_000)
            #expect(try view.keys(of: values).count == 2_000)
            let last = try view.value(forKey: "key 1999", as: [UInt8].self, in: values)
            #expect(last?.count == 200)
            view.close()
            try await workspace.close()
        }
    }

    @Test func aReaderOfAnotherOpeningFollows() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await open(path)
            try await fill(workspace.dictionary("kept"), keyCount: 300)
            try await fill(workspace.dictionary("large"), keyCount: 3_000)
            try await workspace.compact()
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            #expect(try reader.dictionary("large").count == 3_000)
            try await workspace.dictionary("large").removeAll()
            try await waitUntilSnapshotsTake(atMost: 120_000, path)
            let end = ContinuousClock.now + .seconds(180)
            while try reader.dictionary("large").count > 0, .now < end {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(try reader.dictionary("large").count == 0)
            try check(reader.dictionary("kept"), keyCount: 300)
            try await reader.close()
            try await workspace.close()
        }
    }
}
