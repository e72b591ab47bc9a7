import Foundation
import Roost
import RoostFormat
import RoostTestSupport
import Testing

/// Whatever is wrong with the files: a clear error, nothing changed, no wrong value, no trap.
@Suite struct BadInputTests {
    /// A closed workspace with snapshots in every shard and a log after them.
    private func sample(_ path: String) async throws {
        let workspace = try await Workspace.open(at: path, configuration: .init(shardCount: 2))
        let values = workspace.dictionary("values")
        try await values.setAll((0..<40).map { ("cold-\($0)", "cold value \($0)") })
        try await workspace.compact()
        try await values.setAll(
            (0..<5).map { ("hot-\($0)", "hot value \($0)") }, durability: .synced)
        try await workspace.close()
    }

    /// Opens what should not open, and returns why, having seen that nothing was changed.
    private func refusal(_ path: String, access: Workspace.Configuration.Access = .readWrite)
        async throws -> RoostError?
    {
        let before = try contents(ofDirectory: path)
        do {
            let workspace = try await Workspace.open(at: path, configuration: .init(access: access))
            try await workspace.close()
            return nil
        } catch let error as RoostError {
            let after = try contents(ofDirectory: path)
            #expect(after == before)
            return error
        }
    }

    @Test func aFileWhereTheDirectoryShouldBeIsRefused() async throws {
        try await withTemporaryDirectory { path in
            try writeBytes([1], to: "\(path)/file")
            for bad in ["\(path)/file", "\(path)/file/below"] {
                do {
                    _ = try await Workspace.open(at: bad)
                    Issue.record("\(bad) was opened")
                } catch let error as RoostError {
                    #expect(error.code == .io)
                    #expect(error.file != nil)
                }
            }
            #expect(try readBytes("\(path)/file") == [1])
        }
    }

    @Test func anUnreadableDirectoryIsRefused() async throws {
        try await withTemporaryDirectory { path in
            try await sample(path)
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            defer {
                do {
                    try FileManager.default.setAttributes(
                        [.posixPermissions: 0o700], ofItemAtPath: path)
                } catch {
                    Issue.record(error)
                }
            }
            do {
                let workspace = try await Workspace.open(at: path)
                try await workspace.close()
                // Root may read everything; then there is nothing to refuse.
                #expect(getuid() == 0)
            } catch let error as RoostError { #expect(error.code == .io) }
        }
    }

    @Test func everyFlippedBitOfTheManifestIsRefused() async throws {
        try await withTemporaryDirectory { path in
            try await sample(path)
            let name = "\(path)/\(FileName.manifest.text)"
            let original = try readBytes(name)
            for byte in original.indices {
                var damaged = original
                damaged[byte] ^= 1 << UInt8(byte % 8)
                try writeBytes(damaged, to: name)
                let error = try #require(try await refusal(path), "byte \(byte)")
                #expect(error.code == .corrupt || error.code == .unsupportedVersion)
                #expect(error.file == name)
                #expect(error.offset != nil)
            }
        }
    }

    @Test func missingFilesAreNotEmptyOnes() async throws {
        try await withTemporaryDirectory { path in
            try await sample(path)
            for prefix in ["MANIFEST", "log", "snapshot"] {
                for name in try fileNames(in: path, prefix: prefix) {
                    try FileManager.default.moveItem(
                        atPath: "\(path)/\(name)", toPath: "\(path)-aside")
                    let error = try await refusal(path)
                    if prefix == "log" {
                        // Segments that held nothing since the last flush may be missed by nobody.
                        #expect(error == nil || error?.code == .corrupt)
                    } else {
                        #expect(error?.code == .corrupt || error?.code == .io, "\(name)")
                        #expect(error?.file != nil)
                    }
                    if error == nil { return }
                    try FileManager.default.moveItem(
                        atPath: "\(path)-aside", toPath: "\(path)/\(name)")
                }
            }
            #expect(try await refusal(path) == nil)
        }
    }

    @Test func laterVersionsAreUnsupportedAndStay() async throws {
        try await withTemporaryDirectory { path in
            try await sample(path)
            // Nothing that is stored rests on `SIGNALS`, which each writer makes anew.
            for name in try fileNames(in: path, prefix: "") where name != "SIGNALS" {
                let original = try readBytes("\(path)/\(name)")
                var later = original
                later[8] += 1
                if name.hasPrefix("log") {
                    later.withUnsafeMutableBytes { bytes in
                        let start = bytes.baseAddress!
                        start.store(
                            ChecksumSeed(0).checksum(UnsafeRawPointer(start), count: 60), at: 60)
                    }
                }
                try writeBytes(later, to: "\(path)/\(name)")
                for access in [Workspace.Configuration.Access.readWrite, .readOnly] {
                    let error = try await refusal(path, access: access)
                    #expect(error?.code == .unsupportedVersion, "\(name)")
                    #expect(error?.file == "\(path)/\(name)")
                }
                try writeBytes(original, to: "\(path)/\(name)")
            }
        }
    }

    @Test func aFlippedBitInASnapshotNeverGivesAWrongValue() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            try await sample(path)
            let file = "\(path)/\(try #require(try fileNames(in: path, prefix: "snapshot").first))"
            let original = try readBytes(file)
            var refused = 0
            for byte in stride(from: random.below(3), to: original.count, by: 3) {
                var damaged = original
                damaged[byte] ^= 1 << UInt8(random.below(8))
                try writeBytes(damaged, to: file)
                do {
                    let workspace = try await Workspace.open(
                        at: path, configuration: .init(access: .readOnly))
                    for number in 0..<40 {
                        do {
                            let found = try workspace.dictionary("values")[
                                "cold-\(number)", as: String.self]
                            #expect(found == "cold value \(number)", "byte \(byte)")
                        } catch let error as RoostError {
                            refused += 1
                            #expect(
                                error.code == .corrupt && error.file == file && error.offset != nil)
                        }
                    }
                    let report = try await workspace.verify()
                    for damage in report.damages {
                        #expect(damage.code == .corrupt && damage.file == file)
                    }
                    try await workspace.close()
                } catch let error as RoostError {
                    refused += 1
                    #expect(
                        error.code == .corrupt || (error.code == .unsupportedVersion && byte < 12))
                    #expect(error.file == file && error.offset != nil)
                }
            }
            #expect(refused > 100)
        }
    }

    @Test func aWorkspaceMayBeAtTheRootOfAFileSystem() async throws {
        try await withTemporaryDirectory { path in
            try FileManager.default.createDirectory(
                atPath: "\(path)/lost+found", withIntermediateDirectories: false)
            try await sample(path)
            for access in [Workspace.Configuration.Access.readOnly, .readWrite] {
                let workspace = try await Workspace.open(
                    at: path, configuration: .init(access: access))
                #expect(try !workspace.dictionaryNames.isEmpty)
                #expect(try await workspace.verify().isSound)
                try await workspace.close()
            }
        }
    }

    @Test func linksAndPipesInTheDirectoryAreRefused() async throws {
        try await withTemporaryDirectory { path in
            try await sample(path)
            try FileManager.default.createSymbolicLink(
                atPath: "\(path)/log-000000000099", withDestinationPath: "/etc/passwd")
            for _ in 0..<2 {
                do {
                    _ = try await Workspace.open(at: path)
                    Issue.record("opened")
                } catch let error as RoostError {
                    #expect(error.code == .io)
                    #expect(error.file == "\(path)/log-000000000099")
                }
                try FileManager.default.removeItem(atPath: "\(path)/log-000000000099")
                #expect(mkfifo("\(path)/log-000000000099", 0o600) == 0)
            }
        }
    }
}
