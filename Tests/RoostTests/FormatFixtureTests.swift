import Foundation
import Roost
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

/// Stores that earlier builds wrote, in Fixtures: every later build opens them, or says that it
/// cannot and leaves them alone. `make fixtures` writes them anew where the format has changed.
@Suite(.serialized) struct FormatFixtureTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures/stores")
    private static func store(_ version: UInt32) -> String {
        fixtures.appendingPathComponent("format-\(version)").path
    }
    private static var current: String { store(SnapshotFooter.version) }
    private static var killed: String { current + "-killed" }
    private static var future: String { fixtures.appendingPathComponent("future").path }
    private static let isWriting =
        ProcessInfo.processInfo.environment["ROOST_WRITE_FIXTURES"] != nil

    private struct Draft: Codable, Equatable {
        var title: String
        var tags: [String]
    }

    private static let draft = Draft(title: "A draft", tags: ["one", "two"])

    /// What drafts became later: stored with their version.
    private struct SecondDraft: Codable, Equatable {
        var headline: String
    }

    private static func drafts(_ workspace: Workspace) -> WorkspaceDictionary {
        workspace.dictionary("drafts").migrating(
            from: Draft.self, to: SecondDraft.self, version: 2
        ) { SecondDraft(headline: $0.title) }
    }

    private static let inTheYear2200 = Date(timeIntervalSince1970: 7_258_118_400)
    private static let inTheYear2001 = Date(timeIntervalSince1970: 1_000_000_000)

    /// Snapshots with tombstones, a compression dictionary, deadlines and versions, a clear, and a
    /// log with a batch, a transaction, a removal and every kind of value.
    private func write(at path: String) async throws {
        let configuration = Workspace.Configuration(shardCount: 4, durability: .process)
        let workspace = try await Workspace.open(at: path, configuration: configuration)
        let many = workspace.dictionary("many")
        try await workspace.write { batch in
            for number in 0..<400 {
                batch.set("a value like others, \(number)", forKey: "\(number)", in: many)
            }
        }
        try await workspace.dictionary("cleared").set("gone", forKey: "k")
        try await writeDeadlinesAndVersions(to: workspace, suffix: "in a snapshot")
        try await workspace.compact()
        try await many.removeValue(forKey: "7")
        try await many.set("changed", forKey: "8")
        try await workspace.dictionary("cleared").removeAll()
        try await workspace.engine.flush()
        let values = workspace.dictionary("values")
        try await values.set(true, forKey: "bool")
        try await values.set(-5, forKey: "int")
        try await values.set(UInt16(65_535), forKey: "uint16")
        try await values.set(Int128.min, forKey: "int128")
        try await values.set(0.5, forKey: "double")
        try await values.set("caf\u{e9}", forKey: "string")
        try await values.set(Data([1, 2, 3]), forKey: "data")
        try await values.set([UInt8](repeating: 9, count: 70_000), forKey: "bytes")
        try await values.set(["a": [1, 2]], forKey: "binary")
        try await values.set(Self.draft, forKey: "codable")
        try await writeDeadlinesAndVersions(to: workspace, suffix: "in the log")
        _ = try await workspace.transaction { transaction in
            let number = try transaction.value(forKey: "int", as: Int.self, in: values) ?? 0
            try transaction.set(number + 1, forKey: "int", in: values)
        }
        try await many.removeValue(forKey: "9")
        try await workspace.close()
    }

    private func writeDeadlinesAndVersions(
        to workspace: Workspace, suffix: String
    ) async throws {
        let brief = workspace.dictionary("brief")
        try await brief.set("late", forKey: "late \(suffix)", expiresAt: Self.inTheYear2200)
        try await brief.set("past", forKey: "past \(suffix)", expiresAt: Self.inTheYear2001)
        try await workspace.dictionary("drafts").set(Self.draft, forKey: "first \(suffix)")
        let second = SecondDraft(headline: "A second draft")
        try await Self.drafts(workspace).set(second, forKey: "second \(suffix)")
    }

    private func checkDeadlinesAndVersions(_ workspace: Workspace, suffix: String) throws {
        let brief = workspace.dictionary("brief")
        #expect(try brief["late \(suffix)", as: String.self] == "late")
        #expect(try brief["past \(suffix)", as: String.self] == nil)
        let drafts = Self.drafts(workspace)
        #expect(try drafts["first \(suffix)", as: SecondDraft.self]?.headline == "A draft")
        #expect(try drafts["second \(suffix)", as: SecondDraft.self]?.headline == "A second draft")
    }

    private func check(_ workspace: Workspace) async throws {
        try checkDeadlinesAndVersions(workspace, suffix: "in a snapshot")
        try checkDeadlinesAndVersions(workspace, suffix: "in the log")
        let many = workspace.dictionary("many")
        #expect(try many.count == 398)
        #expect(try many["7", as: String.self] == nil)
        #expect(try many["8", as: String.self] == "changed")
        #expect(try many["9", as: String.self] == nil)
        #expect(try many["399", as: String.self] == "a value like others, 399")
        #expect(try workspace.dictionaryNames == ["brief", "drafts", "many", "values"])
        let values = workspace.dictionary("values")
        #expect(try values["bool", as: Bool.self] == true)
        #expect(try values["int", as: Int.self] == -4)
        #expect(try values["uint16", as: UInt16.self] == 65_535)
        #expect(try values["int128", as: Int128.self] == Int128.min)
        #expect(try values["double", as: Double.self] == 0.5)
        #expect(try values["string", as: String.self] == "caf\u{e9}")
        #expect(try values["data", as: Data.self] == Data([1, 2, 3]))
        #expect(try values["bytes", as: [UInt8].self] == [UInt8](repeating: 9, count: 70_000))
        #expect(try values["binary", as: [String: [Int]].self] == ["a": [1, 2]])
        #expect(try values["codable", as: Draft.self] == Self.draft)
        let report = try await workspace.verify()
        #expect(report.isSound, "\(report.damages)")
    }

    @Test func aStoreOfThisFormatOpensWithAllThatIsInIt() async throws {
        let store = Self.current
        if Self.isWriting {
            if FileManager.default.fileExists(atPath: Self.current) {
                try FileManager.default.removeItem(atPath: Self.current)
            }
            try await write(at: Self.current)
        }
        try await withTemporaryDirectory { path in
            try copyDirectory(store, to: "\(path)/w")
            let readOnly = try await Workspace.open(
                at: "\(path)/w", configuration: .init(access: .readOnly))
            try await check(readOnly)
            try await readOnly.close()
            #expect(try contents(ofDirectory: "\(path)/w") == contents(ofDirectory: store))
            for _ in 0..<2 {
                let workspace = try await Workspace.open(at: "\(path)/w")
                try await check(workspace)
                try await workspace.compact()
                try await check(workspace)
                try await workspace.close()
            }
        }
    }

    /// A log as a kill leaves it: not sealed, and its last batch unfinished.
    @Test func aStoreOfThisFormatThatAKillLeftOpensWithAllButItsTornTail() async throws {
        if Self.isWriting { try await writeKilled() }
        try await withTemporaryDirectory { path in
            try copyDirectory(Self.killed, to: "\(path)/w")
            for openingCount in 0..<2 {
                let workspace = try await Workspace.open(at: "\(path)/w")
                #expect(workspace.recovery.tornTails.count == (openingCount == 0 ? 1 : 0))
                let numbers = workspace.dictionary("numbers")
                #expect(try numbers.count == 9)
                #expect(try numbers["8", as: Int.self] == 8)
                try await workspace.close()
            }
        }
    }

    private func writeKilled() async throws {
        if FileManager.default.fileExists(atPath: Self.killed) {
            try FileManager.default.removeItem(atPath: Self.killed)
        }
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process),
                fileSystem: PosixFileSystem()
            ) { $0.segmentSizeBytes = 4096 }
            for number in 0..<10 {
                try await workspace.dictionary("numbers").set(number, forKey: "\(number)")
            }
            try copyDirectory(path, to: Self.killed)
            try await workspace.close()
        }
        let segment = "\(Self.killed)/\(FileName.segment(1).text)"
        var bytes = try readBytes(segment)
        let last = try #require(bytes.lastIndex { $0 != 0 })
        bytes[last] ^= 1
        try writeBytes(bytes, to: segment)
    }

    /// A later version that changes one kind of file alone is known by that file.
    @Test(arguments: ["log-", "snapshot-"])
    func aFileOfALaterFormatIsRefusedAndEverythingLeftAlone(prefix: String) async throws {
        try await withTemporaryDirectory { path in
            try copyDirectory(Self.current, to: "\(path)/w")
            let names = try contents(ofDirectory: "\(path)/w").keys.sorted()
            let name = try #require(names.first { $0.hasPrefix(prefix) })
            var bytes = try readBytes("\(path)/w/\(name)")
            bytes[8] = 99
            if prefix == "log-" {
                let checksum = bytes.withUnsafeBytes {
                    ChecksumSeed(0).checksum($0.baseAddress!, count: 60)
                }
                withUnsafeBytes(of: checksum.littleEndian) {
                    bytes.replaceSubrange(60..<64, with: $0)
                }
            }
            try writeBytes(bytes, to: "\(path)/w/\(name)")
            let before = try contents(ofDirectory: "\(path)/w")
            for access in [Workspace.Configuration.Access.readOnly, .readWrite] {
                await #expect {
                    try await Workspace.open(at: "\(path)/w", configuration: .init(access: access))
                } throws: { ($0 as? RoostError)?.code == .unsupportedVersion }
                #expect(try contents(ofDirectory: "\(path)/w") == before)
            }
        }
    }

    @Test func aStoreOfALaterFormatIsRefusedAndLeftAlone() async throws {
        if Self.isWriting {
            try FileManager.default.createDirectory(
                atPath: Self.future, withIntermediateDirectories: true)
            var manifest = try readBytes("\(Self.current)/MANIFEST")
            manifest[8] = 99
            try writeBytes(manifest, to: "\(Self.future)/MANIFEST")
        }
        try await expectRefused(Self.future)
    }

    /// What was written before the first release is not read any more.
    @Test(arguments: ["format-1", "format-1-killed", "format-2"])
    func aStoreOfAnEarlierFormatIsRefusedAndLeftAlone(name: String) async throws {
        try await expectRefused(Self.fixtures.appendingPathComponent(name).path)
    }

    private func expectRefused(_ store: String) async throws {
        try await withTemporaryDirectory { path in
            try copyDirectory(store, to: "\(path)/w")
            for access in [Workspace.Configuration.Access.readOnly, .readWrite] {
                await #expect {
                    try await Workspace.open(at: "\(path)/w", configuration: .init(access: access))
                } throws: { ($0 as? RoostError)?.code == .unsupportedVersion }
                #expect(try contents(ofDirectory: "\(path)/w") == contents(ofDirectory: store))
            }
        }
    }
}
