import Foundation
import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite struct ReadOnlyTests {
    let readOnly = Workspace.Configuration(access: .readOnly)

    /// A copy of a workspace with snapshots and a log that was not closed, its end torn.
    private func crashed(_ path: String) async throws -> String {
        let workspace = try await Workspace.open(at: "\(path)/live")
        let values = workspace.dictionary("values")
        for number in 0..<100 { try await values.set(number, forKey: "cold-\(number)") }
        try await workspace.compact()
        for number in 0..<10 {
            try await values.set(number, forKey: "hot-\(number)", durability: .process)
        }
        try copyDirectory("\(path)/live", to: "\(path)/copy")
        try await workspace.close()
        let name = try #require(
            try fileNames(in: "\(path)/copy", prefix: "log").first { name in
                try readBytes("\(path)/copy/\(name)").contains { $0 != 0 }
            })
        var bytes = try readBytes("\(path)/copy/\(name)")
        let end = try #require(bytes.lastIndex { $0 != 0 })
        bytes[end] ^= 1
        try writeBytes(bytes, to: "\(path)/copy/\(name)")
        return "\(path)/copy"
    }

    @Test func readingOnlyChangesNoByteThoughTheTailIsTorn() async throws {
        try await withTemporaryDirectory { path in
            let copy = try await crashed(path)
            let before = try contents(ofDirectory: copy)
            let workspace = try await Workspace.open(at: copy, configuration: readOnly)
            let other = try await Workspace.open(at: copy, configuration: readOnly)
            for workspace in [workspace, other] {
                let values = workspace.dictionary("values")
                #expect(try values["cold-7", as: Int.self] == 7)
                #expect(try values["hot-8", as: Int.self] == 8)
                #expect(try values["hot-9", as: Int.self] == nil)
                #expect(try values.count == 109)
                #expect(workspace.recovery.tornTails.count == 1)
                #expect(workspace.recovery.tornTails.first?.keptAs == nil)
                let report = try await workspace.verify()
                #expect(report.isSound, "\(report.damages)")
                try await workspace.synchronize()
                try await workspace.close()
            }
            #expect(try contents(ofDirectory: copy) == before)
            let writable = try await Workspace.open(at: copy)
            let kept = try #require(writable.recovery.tornTails.first?.keptAs)
            #expect(try contents(ofDirectory: copy)[kept]?.isEmpty == false)
            #expect(try writable.dictionary("values").count == 109)
            try await writable.close()
        }
    }

    /// On a file system on which no writer can be followed.
    @Test func aBackupOfWhatAnOpeningForReadingFoundSaysItsLastBatch() async throws {
        try await withTemporaryDirectory { path in
            let live = try await Workspace.open(at: "\(path)/live")
            try await live.dictionary("values").set(1, forKey: "cold")
            try await live.compact()
            try await live.dictionary("values").set(2, forKey: "hot", durability: .synced)
            let last = live.statistics.lastSequence
            try copyDirectory("\(path)/live", to: "\(path)/copy")
            try await live.close()
            let workspace = try await Workspace.open(
                at: "\(path)/copy", configuration: readOnly,
                fileSystem: PosixFileSystem(allowsMapping: false))
            #expect(workspace.following == nil)
            let report = try await workspace.backup(to: "\(path)/backup")
            #expect(report.lastSequence == last)
            try await workspace.close()
            let backup = try await Workspace.open(at: "\(path)/backup")
            #expect(backup.statistics.lastSequence == last)
            #expect(try backup.dictionary("values")["hot", as: Int.self] == 2)
            try await backup.close()
        }
    }

    @Test func everyWriteIsRefused() async throws {
        try await withTemporaryDirectory { path in
            try await Workspace.open(at: path).close()
            let workspace = try await Workspace.open(at: path, configuration: readOnly)
            let values = workspace.dictionary("values")
            let writes: [() async throws -> Void] = [
                { try await values.set(1, forKey: "a") },
                { try await values.set(1, forKey: "a", durability: .synced) },
                { try await values.removeValue(forKey: "a") },
                { try await values.removeAll() },
                { try await values.setAll(["a": 1]) },
                { try await workspace.write { $0.set(1, forKey: "a", in: values) } },
                { try await workspace.compact() },
            ]
            for write in writes {
                await #expect { try await write() } throws: {
                    ($0 as? RoostError)?.code == .readOnly
                }
            }
            #expect(try values.count == 0)
            try await workspace.close()
        }
    }

    @Test func whereThereIsNoWorkspaceNothingIsMade() async throws {
        try await withTemporaryDirectory { path in
            for missing in [path, "\(path)/missing"] {
                await #expect {
                    _ = try await Workspace.open(at: missing, configuration: readOnly)
                } throws: { ($0 as? RoostError)?.code == .io }
            }
            let left = try fileNames(in: path, prefix: "")
            #expect(left.isEmpty)
        }
    }
}
