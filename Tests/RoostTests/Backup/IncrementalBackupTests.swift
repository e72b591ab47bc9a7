import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite struct IncrementalBackupTests {
    @Test func onlyWhatIsNewIsCopied() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            let values = workspace.dictionary("values")
            try await fill(values, 0..<20_000, 0)
            try await workspace.compact()
            let first = try await workspace.backup(toSeries: series)
            #expect(first.sharedBytes == 0 && first.copiedBytes == first.sizeBytes)
            try await fill(values, 7_000..<7_200, 1)
            let second = try await workspace.backup(toSeries: series)
            #expect(second.copiedBytes * 20 < first.copiedBytes)
            #expect(second.sharedBytes == first.sizeBytes)
            let third = try await workspace.backup(toSeries: series)
            #expect(third.copiedBytes == 0 && third.sizeBytes == second.sizeBytes)
            try await workspace.close()

            let generations = try Workspace.backups(inSeries: series)
            #expect(generations.map(\.number) == [1, 2, 3])
            #expect(
                generations.map(\.newBytes) == [first, second, third].map(\.copiedBytes))
            #expect(generations.map(\.lastSequence) == [first, second, third].map(\.lastSequence))
            for (generation, round) in zip(generations, [0, 1, 1]) {
                try await check(generation.path, round: round)
            }
            // The live workspace shares no file with its backups.
            for path in try FileManager.default.subpathsOfDirectory(atPath: "\(directory)/source") {
                #expect(try linkCount("\(directory)/source/\(path)") == 1)
            }
        }
    }

    /// A bad block of a shared file would be in each backup to come.
    @Test func whatIsSharedIsReadWhereThatIsAskedFor() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<20_000, 0)
            try await workspace.compact()
            let first = try await workspace.backup(toSeries: series)
            let name = try #require(
                try FileManager.default.contentsOfDirectory(atPath: first.path)
                    .filter { $0.hasPrefix("snapshot-") }.min())
            var bytes = try readBytes("\(first.path)/\(name)")
            bytes[bytes.count / 2] ^= 1
            try writeBytes(bytes, to: "\(first.path)/\(name)")

            let unread = try await workspace.backup(toSeries: series)
            #expect(unread.copiedBytes == 0 && unread.damagedPaths.isEmpty)
            let read = try await workspace.backup(toSeries: series, verifyingShared: true)
            let damaged = try #require(read.damagedPaths.first)
            #expect(read.damagedPaths.count == 1 && damaged == "\(unread.path)/\(name)")
            #expect(read.copiedBytes > 0 && read.sharedBytes > read.copiedBytes)
            #expect(read.copiedBytes + read.sharedBytes == read.sizeBytes)
            try await check(read.path, round: 0)
            // From then on what is shared is sound again.
            let next = try await workspace.backup(toSeries: series, verifyingShared: true)
            #expect(next.copiedBytes == 0 && next.damagedPaths.isEmpty)
            try await workspace.close()
        }
    }

    /// A backup that was stopped had shared it, and perhaps without reading it.
    @Test func whatAStoppedBackupSharedIsReadToo() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<20_000, 0)
            try await workspace.compact()
            let first = try await workspace.backup(to: "\(directory)/first")
            let names = try fileNames(in: first.path, prefix: "snapshot")
            let name = try #require(names.min())
            var bytes = try readBytes("\(first.path)/\(name)")
            bytes[bytes.count / 2] ^= 1
            try writeBytes(bytes, to: "\(first.path)/\(name)")
            let stopped = "\(directory)/second.incomplete"
            try FileManager.default.createDirectory(
                atPath: stopped, withIntermediateDirectories: false)
            for name in names {
                try FileManager.default.linkItem(
                    atPath: "\(first.path)/\(name)", toPath: "\(stopped)/\(name)")
            }
            let second = try await workspace.backup(
                to: "\(directory)/second", after: first.path, verifyingShared: true)
            #expect(second.damagedPaths == ["\(first.path)/\(name)"])
            #expect(second.copiedBytes > 0 && second.continuedBytes > second.copiedBytes)
            try await check(second.path, round: 0)
            try await workspace.close()
        }
    }

    @Test func openingAGenerationForWritingLeavesTheOthersAsTheyAre() async throws {
        try await withTemporaryDirectory { directory in
            let series = "\(directory)/backups"
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<3_000, 0)
            let first = try await workspace.backup(toSeries: series)
            let second = try await workspace.backup(toSeries: series)
            #expect(second.sharedBytes > 0)
            let before = try contents(ofDirectory: second.path)
            let opened = try await openSmallSnapshots(at: first.path)
            try await fill(opened.dictionary("values"), 0..<3_000, 5)
            try await opened.compact()
            try await opened.close()
            #expect(try contents(ofDirectory: second.path) == before)
            // Its snapshots have numbers that the workspace will give too, and another content.
            try await fill(workspace.dictionary("values"), 0..<3_000, 7)
            try await workspace.compact()
            let third = try await workspace.backup(to: "\(directory)/third", after: first.path)
            #expect(third.sharedBytes == 0)
            try await check(third.path, 0..<3_000, round: 7)
            try await workspace.close()
        }
    }

    @Test func aCancelledBackupGoesOnWhereItStopped() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<20_000, 0)
            try await workspace.compact()
            let path = "\(directory)/backup"
            let begun = Task {
                try await workspace.backup(to: path) { done, whole in
                    if done * 2 > whole { withUnsafeCurrentTask { $0?.cancel() } }
                }
            }
            let error = await #expect(throws: RoostError.self) { try await begun.value }
            #expect(error?.code == .cancelled)
            #expect(!FileManager.default.fileExists(atPath: path))
            let report = try await workspace.backup(to: path)
            #expect(report.continuedBytes * 3 > report.sizeBytes)
            #expect(report.copiedBytes * 3 > report.sizeBytes)
            try await check(path, round: 0)
            try await workspace.close()
        }
    }

    /// Every changing call of a backup fails, once for each: nothing is taken for a backup, and the
    /// next one, from what was left, is whole.
    @Test func aBackupThatFailsAtAnyCallIsMadeByTheNext() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<1_000, 0)
            let earlier = try await workspace.backup(to: "\(directory)/earlier").path
            try await fill(workspace.dictionary("values"), 0..<300, 1)
            var call = 0
            while true {
                let path = "\(directory)/backup-\(call)"
                let plan = FaultPlan(failAt: call)
                let fileSystem = plan.fileSystem()
                func backUp(_ fileSystem: any FileSystem) async throws {
                    _ = try await workspace.engine.backup(
                        to: fileSystem.openDirectory(at: path, create: true),
                        sharing: fileSystem.openDirectory(at: earlier, create: false),
                        verifiesShared: true,
                        on: WorkerThread(name: "test")
                    ) { _, _ in }
                }
                do { try await backUp(fileSystem) } catch {
                    #expect((error as? RoostError)?.code == .io)
                    // No workspace, or, where the manifest's last sync failed, the whole one.
                    if try fileNames(in: path, prefix: "MANIFEST").contains("MANIFEST") {
                        try await check(path, 0..<1_000, round: 0, changed: 0..<300)
                    }
                    try await backUp(PosixFileSystem())
                    try await check(path, 0..<1_000, round: 0, changed: 0..<300)
                    call += 1
                    continue
                }
                break
            }
            #expect(call > 10)
            try await workspace.close()
        }
    }

    @Test func damageIsFoundWhereItIs() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<3_000, 0)
            try await workspace.compact()
            let sound = try await workspace.backup(to: "\(directory)/sound").path
            // Of the earlier backup: what it cannot give is copied from the workspace.
            let shared = try #require(fileNames(in: sound, prefix: "snapshot").first)
            try flipByte(from: 100, of: "\(sound)/\(shared)")
            let report = try await workspace.backup(to: "\(directory)/second", after: sound)
            #expect(report.copiedBytes > 0 && report.sharedBytes > 0)
            try await check(report.path, 0..<3_000, round: 0)
            // Of the workspace: its file is named, and there is no backup.
            let own = try #require(
                fileNames(in: "\(directory)/source", prefix: "snapshot").first)
            try flipByte(from: 5_000, of: "\(directory)/source/\(own)")
            let error = await #expect(throws: RoostError.self) {
                try await workspace.backup(to: "\(directory)/third")
            }
            #expect(error?.code == .corrupt)
            #expect(error?.file == "\(directory)/source/\(own)")
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/third"))
            try await workspace.close()
        }
    }

    @Test func whatAKillLeftIsBackedUpByAReadOnlyOpening() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            try await fill(workspace.dictionary("values"), 0..<2_000, 0)
            try await workspace.compact()
            try await fill(workspace.dictionary("values"), 0..<300, 1)
            try copyDirectory("\(directory)/source", to: "\(directory)/killed")
            try await workspace.close()
            let before = try contents(ofDirectory: "\(directory)/killed")
            let killed = try await Workspace.open(
                at: "\(directory)/killed", configuration: .init(access: .readOnly))
            let report = try await killed.backup(to: "\(directory)/backup")
            #expect(report.lastSequence == killed.recovery.lastSequence)
            try await killed.close()
            #expect(try contents(ofDirectory: "\(directory)/killed") == before)
            try await check(report.path, 0..<2_000, round: 0, changed: 0..<300)
        }
    }

    @Test func aReadersBackupBesideTheWriterIsOfOneMoment() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await openSmallSnapshots(at: "\(directory)/source")
            let values = workspace.dictionary("values")
            try await values.setAll((0..<200).map { ("\($0)", 0) })
            let writer = Task {
                var round = 0
                while !Task.isCancelled {
                    round += 1
                    let number = round
                    try await values.setAll((0..<200).map { ("\($0)", number) })
                    if round % 50 == 0 { try await workspace.compact() }
                    await Task.yield()
                }
            }
            let reader = try await Workspace.open(
                at: "\(directory)/source", configuration: .init(access: .readOnly))
            for _ in 0..<4 { try await reader.backup(toSeries: "\(directory)/backups") }
            try await reader.close()
            writer.cancel()
            // Its last call says that it was cancelled.
            _ = await writer.result
            try await workspace.close()
            var last = 0
            for generation in try Workspace.backups(inSeries: "\(directory)/backups") {
                let copy = try await Workspace.open(at: generation.path)
                #expect(try await copy.verify().isSound)
                let copied = copy.dictionary("values")
                let rounds = try Set(copied.keys.map { try copied[$0, default: -1] })
                #expect(try copied.count == 200 && rounds.count == 1)
                #expect(rounds.first ?? -1 >= last)
                last = rounds.first ?? -1
                try await copy.close()
            }
        }
    }

    @Test func aWorkspaceInMemoryIsBackedUp() async throws {
        try await withTemporaryDirectory { directory in
            let workspace = try await Workspace.inMemory()
            try await fill(workspace.dictionary("values"), 0..<500, 3)
            try await workspace.compact()
            try await workspace.backup(to: "\(directory)/backup")
            try await check("\(directory)/backup", 0..<500, round: 3)
            try await workspace.close()
        }
    }

    // MARK: Helpers

    private func flipByte(from offset: Int, of path: String) throws {
        var bytes = try readBytes(path)
        // The footer has no byte that is not checked.
        let index = offset == 100 ? bytes.count - 100 : offset
        bytes[index] ^= 0x40
        try writeBytes(bytes, to: path)
    }

    private func linkCount(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return attributes[.referenceCount] as? Int ?? 0
    }
}

/// Opens a workspace with many small snapshots.
func openSmallSnapshots(at path: String) async throws -> Workspace {
    try await Workspace.open(
        at: path, configuration: .init(compression: .none), fileSystem: PosixFileSystem()
    ) { $0.snapshotSizeBytes = 64 << 10 }
}

/// A hundred bytes for each key, which say the key and the round.
func fill(_ values: WorkspaceDictionary, _ numbers: Range<Int>, _ round: Int) async throws {
    try await values.setAll(numbers.map { ("\($0)", content($0, round)) })
}

private func content(_ number: Int, _ round: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(number * 1_000 + round))
    return generator.bytes(100)
}

/// That the backup is sound and has these keys as `fill` wrote them in the round, the changed ones in the
/// next.
func check(
    _ path: String, _ numbers: Range<Int> = 0..<20_000, round: Int,
    changed: Range<Int>? = nil
) async throws {
    let copy = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
    #expect(try await copy.verify().isSound)
    let values = copy.dictionary("values")
    #expect(try values.count == numbers.count)
    let isChanged = changed ?? (round == 1 ? 7_000..<7_200 : 0..<0)
    for number in numbers {
        let expected = changed == nil && round == 1 ? 0 : round
        let wanted = content(number, isChanged.contains(number) ? expected + 1 : expected)
        guard try values["\(number)", as: [UInt8].self] == wanted else {
            Issue.record("\(path): \(number)")
            break
        }
    }
    try await copy.close()
}
