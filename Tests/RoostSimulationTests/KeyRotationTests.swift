import Foundation
import Roost
import RoostIO
import RoostSealing
import RoostSimulation
import RoostTestSupport
import Testing

/// What a change of the user's key means for what is written from then on: the log, and backups.
@Suite(.timeLimit(.minutes(5))) struct KeyRotationTests {
    private let old = SimulatedSealing(secret: 7)
    private let new = SimulatedSealing(secret: 8)

    /// A slow machine may pause for so long that the log would be flushed.
    private func open(
        _ path: String, _ suite: SimulatedSealing
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(),
            fileSystem: SealedFileSystem(PosixFileSystem(), suite)
        ) { $0.restDelay = .seconds(3600) }
    }

    private func fill(_ workspace: Workspace, _ round: Int) async throws {
        try await workspace.dictionary("d").setAll(
            (0..<500).map { ("\(round) \($0)", "value \(round) \($0)") })
    }

    private func check(_ path: String, _ suite: SimulatedSealing, rounds: Int) async throws {
        let workspace = try await open(path, suite)
        #expect(try workspace.dictionary("d").count == 500 * rounds)
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    private func expectRefused(_ path: String, _ suite: SimulatedSealing) async {
        let error = await #expect(throws: RoostError.self) { try await open(path, suite) }
        #expect(error?.code == .wrongKey)
    }

    @Test func aBackupIsUnderTheKeyOfItsTime() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await open("\(directory)/w", old)
            try await fill(workspace, 0)
            let before = try await workspace.backup(to: "\(directory)/before")
            try await workspace.rotateKey(to: WorkspaceEncryption(new))
            try await fill(workspace, 1)
            try await workspace.backup(to: "\(directory)/alone")
            // What an earlier one has is shared, although that opens with another key.
            let shared = try await workspace.backup(
                to: "\(directory)/after", after: "\(directory)/before")
            #expect(before.sizeBytes > 0 && shared.sharedBytes > 0)
            try await workspace.close()
            for name in ["alone", "after"] {
                await expectRefused("\(directory)/\(name)", old)
                try await check("\(directory)/\(name)", new, rounds: 2)
            }
            await expectRefused("\(directory)/before", new)
            try await check("\(directory)/before", old, rounds: 1)
        }
    }

    /// As where the flush before it takes long. Under the old key it would have the data key of what is written from then
    /// on.
    @Test func aBackupWhoseFilesComeAfterTheChangeIsUnderTheNewKey() async throws {
        try await withTemporaryDirectory { directory in
            let fileSystem = SealedFileSystem(PosixFileSystem(), old)
            let workspace = try await Workspace.open(
                at: "\(directory)/w", configuration: .init(), fileSystem: fileSystem
            ) { $0.restDelay = .seconds(3600) }
            try await fill(workspace, 0)
            let path = "\(directory)/backup"
            let target = try fileSystem.openDirectory(at: path, create: true)
            try target.lock(exclusive: true)
            try await workspace.rotateKey(to: WorkspaceEncryption(new))
            _ = try await workspace.engine.backup(
                to: target, sharing: nil, verifiesShared: false, on: WorkerThread(name: "test")
            ) { _, _ in }
            try target.unlock()
            try await workspace.close()
            await expectRefused(path, old)
            try await check(path, new, rounds: 1)
        }
    }

    @Test func aSeriesSharesAcrossAnotherKeyAndAReopening() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/series"
            var workspace = try await open("\(directory)/w", old)
            try await fill(workspace, 0)
            let first = try await workspace.backup(toSeries: series)
            try await workspace.rotateKey(to: WorkspaceEncryption(new))
            try await workspace.close()
            workspace = try await open("\(directory)/w", new)
            try await fill(workspace, 1)
            let second = try await workspace.backup(toSeries: series)
            #expect(second.sharedBytes > 0)
            let third = try await workspace.backup(
                to: "\(directory)/third", after: first.path)
            #expect(third.sharedBytes > 0)
            try await workspace.close()
            try await check(first.path, old, rounds: 1)
            try await check(second.path, new, rounds: 2)
            try await check(third.path, new, rounds: 2)
            let generations = try Workspace.backups(
                inSeries: series, encryption: WorkspaceEncryption(new))
            #expect(generations.map(\.problem?.code) == [.wrongKey, nil])
        }
    }

    @Test func aBackupThatDidNotEndGoesOnUnderTheNewKey() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await open("\(directory)/w", old)
            try await fill(workspace, 0)
            // More than one piece of a mebibyte, and nothing that compression makes smaller.
            for number in 0..<4 {
                var random = SimulationRandom(seed: UInt64(number))
                try await workspace.dictionary("large").set(
                    (0..<(64 << 10)).map { _ in random.next() as UInt64 }, forKey: "\(number)")
            }
            let path = "\(directory)/backup"
            let begun = Task {
                try await workspace.backup(to: path) { _, _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            }
            await #expect(throws: RoostError.self) { try await begun.value }
            try await workspace.rotateKey(to: WorkspaceEncryption(new))
            try await workspace.backup(to: path)
            try await workspace.close()
            await expectRefused(path, old)
            try await check(path, new, rounds: 1)
        }
    }

    /// Their series may be another's: nothing is removed from it.
    @Test func aSeriesThatOpensWithAnotherKeyIsRefused() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/series"
            let other = try await open("\(directory)/other", old)
            try await fill(other, 0)
            let first = try await other.backup(toSeries: series)
            try await other.close()
            let workspace = try await open("\(directory)/w", new)
            try await fill(workspace, 0)
            let error = await #expect(throws: RoostError.self) {
                try await workspace.backup(toSeries: series, keeping: .newest(1))
            }
            #expect(error?.code == .wrongKey)
            // Named as an earlier one it shares nothing.
            let report = try await workspace.backup(to: "\(directory)/b", after: first.path)
            #expect(report.sharedBytes == 0)
            try await workspace.close()
            try await check(first.path, old, rounds: 1)
        }
    }

    /// Who has the old key, and the file of keys of that time, reads nothing that was written later.
    @Test func whatIsWrittenAfterAChangeIsUnderANewDataKey() async throws {
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/w"
            let workspace = try await open(path, old)
            // Enough for the segment ahead to be made.
            for round in 0..<20 { try await fill(workspace, round) }
            let keys = try Data(contentsOf: URL(fileURLWithPath: "\(path)/KEYS"))
            try await workspace.rotateKey(to: WorkspaceEncryption(new))
            for round in 20..<60 { try await fill(workspace, round) }
            try copyDirectory(path, to: "\(directory)/stolen")
            try await workspace.close()
            try await check(path, new, rounds: 60)
            try keys.write(to: URL(fileURLWithPath: "\(directory)/stolen/KEYS"))
            await expectRefused("\(directory)/stolen", old)
            // Nor from the rest, without what is under a key that this file of keys lacks: as the log
            // before the change.
            let segment = try #require(
                try FileManager.default.contentsOfDirectory(atPath: "\(directory)/stolen")
                    .filter { $0.hasPrefix("log-") }.min())
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(directory)/stolen/\(segment)"))
            #expect(keyNumbers(bytes) == [1, 2])
        }
    }

    /// The ring that had one more was written, and no opening read it.
    @Test func aRingTakesNoMoreKeysThanAreRead() throws {
        var random = SeededGenerator(seed: testSeed())
        func next() -> UInt64 { random.next() }
        var ring = KeyRing(random: next)
        for _ in 1..<10_000 { try ring.addKey(random: next, path: "KEYS") }
        #expect { try ring.addKey(random: next, path: "KEYS") } throws: {
            ($0 as? RoostError)?.code == .io
        }
        let bytes = try ring.sealed(old, random: next)
        #expect(bytes.count <= KeyRing.sizeLimitBytes)
        #expect(try KeyRing(bytes, old, path: "KEYS") == ring)
    }

    /// Of the data keys of a journal's parts, as docs/FORMAT.md has their headers.
    private func keyNumbers(_ bytes: Data) -> [UInt8] {
        stride(from: 0, to: bytes.count - 64, by: 4096).compactMap { (place: Int) -> UInt8? in
            bytes[place..<(place + 8)] == Data(sealedFileMagic) ? bytes[place + 16] : nil
        }
    }
}
