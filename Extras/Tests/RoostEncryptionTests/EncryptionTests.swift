import Crypto
import Foundation
import Roost
import RoostEncryption
import RoostReplica
import Testing

/// Workspaces that only their key opens, through reopened ones.
@Suite struct EncryptionTests {
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-encryption-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try await body(path)
    }

    private func open(
        _ path: String, _ encryption: WorkspaceEncryption?,
        access: Workspace.Configuration.Access = .readWrite
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path, configuration: .init(access: access, encryption: encryption))
    }

    private func files(_ path: String) throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            files[name] = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
        }
        return files
    }

    private let secret = "a name that stands nowhere else"

    private func fill(_ workspace: Workspace, _ count: Int = 2_000) async throws {
        let dictionary = workspace.dictionary(secret)
        try await dictionary.setAll(
            (0..<count).map { ("key \(secret) \($0)", "value \(secret) \($0)") })
    }

    private func check(_ workspace: Workspace, _ count: Int = 2_000) throws {
        let dictionary = workspace.dictionary(secret)
        #expect(try dictionary.count == count)
        for number in 0..<count {
            #expect(
                try dictionary["key \(secret) \(number)", as: String.self]
                    == "value \(secret) \(number)")
        }
    }

    /// As some file managers leave one in each directory that they show.
    @Test func aWorkspaceIsBegunBesideFilesThatAreNoneOfIts() async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let foreign = URL(fileURLWithPath: "\(path)/.DS_Store")
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true)
            try Data("foreign".utf8).write(to: foreign)
            for _ in 0..<2 {
                let workspace = try await open(path, .key(key))
                try await fill(workspace)
                try await workspace.close()
            }
            let workspace = try await open(path, .key(key), access: .readOnly)
            try check(workspace)
            try await workspace.close()
            #expect(try Data(contentsOf: foreign) == Data("foreign".utf8))
        }
    }

    @Test(arguments: [false, true]) func whatIsWrittenIsReadAgainWithTheKeyAlone(
        isCompacted: Bool
    ) async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let workspace = try await open(path, .key(key))
            try await fill(workspace)
            if isCompacted { try await workspace.compact() }
            try check(workspace)
            try await workspace.close()
            let before = try files(path)
            for (name, data) in before {
                #expect(data.range(of: Data(secret.utf8)) == nil, "\(name) shows names")
                #expect(data.range(of: Data("key ".utf8)) == nil, "\(name) shows keys")
            }
            for wrong in [
                .key(SymmetricKey(size: .bits256)), .passphrase("a guess", cost: .light), nil,
            ] as [WorkspaceEncryption?] {
                let error = await #expect(throws: RoostError.self) { try await open(path, wrong) }
                #expect(error?.code == .wrongKey)
            }
            #expect(try files(path) == before)
            let again = try await open(path, .key(key))
            try check(again)
            #expect(try await again.verify().isSound)
            try await again.close()
            let reader = try await open(path, .key(key), access: .readOnly)
            try check(reader)
            try await reader.close()
        }
    }

    /// Bytes that zlib makes smaller are not random.
    @Test func nothingInTheFilesCanBeCompressed() async throws {
        try await withDirectory { path in
            let workspace = try await open(path, .key(SymmetricKey(size: .bits256)))
            try await fill(workspace, 5_000)
            try await workspace.compact()
            for number in 0..<3_000 {
                try await workspace.dictionary(secret).set(number, forKey: "small \(number % 7)")
            }
            try await workspace.close()
            for (name, data) in try files(path) where data.count > 4_096 {
                let (histogram, count) = (histogram(data), Double(data.count))
                let entropy = histogram.reduce(0.0) { sum, number in
                    number == 0 ? sum : sum - Double(number) / count * log2(Double(number) / count)
                }
                // Of n random bytes it is 8 less about 184 / n.
                #expect(entropy > 8 - 400 / count, "\(name): \(entropy) bits a byte")
                let distinct = Set(
                    stride(from: 0, to: data.count - 8, by: 8).map {
                        data[($0)..<($0 + 8)]
                    })
                #expect(distinct.count == (data.count - 8 + 7) / 8, "\(name) repeats itself")
            }
        }
    }

    private func histogram(_ data: Data) -> [Int] {
        data.reduce(into: [Int](repeating: 0, count: 256)) { $0[Int($1)] += 1 }
    }

    @Test func aPassphraseOpensWhatItHasMade() async throws {
        try await withDirectory { path in
            let workspace = try await open(path, .passphrase("Café", cost: .light))
            try await fill(workspace, 10)
            try await workspace.close()
            // Composed in another way, the same text.
            let again = try await open(path, .passphrase("Cafe\u{301}", cost: .standard))
            try check(again, 10)
            try await again.close()
            let error = await #expect(throws: RoostError.self) {
                try await open(path, .passphrase("cafe"))
            }
            #expect(error?.code == .wrongKey)
        }
    }

    @Test func anotherKeyOpensTheWorkspaceOnceItWasChangedInUse() async throws {
        try await withDirectory { path in
            let (old, new) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
            let workspace = try await open(path, .key(old))
            try await fill(workspace, 100)
            try await workspace.compact()
            try await workspace.rotateKey(to: .key(new))
            try await workspace.dictionary(secret).set(1, forKey: "after")
            try await workspace.close()
            let error = await #expect(throws: RoostError.self) { try await open(path, .key(old)) }
            #expect(error?.code == .wrongKey)
            let again = try await open(path, .key(from: { new }))
            #expect(try again.dictionary(secret)["after", as: Int.self] == 1)
            try await again.dictionary(secret).removeValue(forKey: "after")
            try check(again, 100)
            try await again.compact()
            try await again.close()
            let last = try await open(path, .key(new))
            try check(last, 100)
            try await last.close()
        }
    }

    @Test func aReaderBesideTheWriterFollowsItAsFarAsItsKeyReaches() async throws {
        try await withDirectory { path in
            let (old, new) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
            let workspace = try await open(path, .key(old))
            try await fill(workspace, 100)
            let reader = try await open(path, .key(old), access: .readOnly)
            try check(reader, 100)
            try await fill(workspace, 500)
            try await reader.catchUp()
            try check(reader, 500)
            try await workspace.compact()
            try await workspace.rotateKey(to: .key(old))
            try await fill(workspace, 700)
            try await reader.catchUp()
            try check(reader, 700)
            try await workspace.rotateKey(to: .key(new))
            let asking = try await open(path, .key(from: { new }), access: .readOnly)
            try await fill(workspace, 900)
            let error = await #expect(throws: RoostError.self) {
                while true { try await reader.catchUp() }
            }
            #expect(error?.code == .wrongKey)
            try await asking.catchUp()
            try check(asking, 900)
            for reader in [reader, asking] { try await reader.close() }
            try await workspace.close()
        }
    }

    @Test func aBackupIsEncryptedAndSharesWhatHasNotChanged() async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let workspace = try await open("\(path)/w", .key(key))
            try await fill(workspace)
            let first = try await workspace.backup(to: "\(path)/one")
            try await workspace.dictionary("other").set(1, forKey: "k")
            let second = try await workspace.backup(to: "\(path)/two", after: "\(path)/one")
            #expect(first.sharedBytes == 0 && second.sharedBytes > 0)
            try await workspace.close()
            for name in ["one", "two"] {
                let error = await #expect(throws: RoostError.self) {
                    try await open("\(path)/\(name)", nil)
                }
                #expect(error?.code == .wrongKey)
                let backup = try await open("\(path)/\(name)", .key(key))
                try check(backup)
                #expect(try await backup.verify().isSound)
                try await backup.close()
            }
        }
    }

    @Test func aBackupAfterAnotherKeyOpensWithThatOne() async throws {
        try await withDirectory { path in
            let (old, new) = (SymmetricKey(size: .bits256), SymmetricKey(size: .bits256))
            let workspace = try await open("\(path)/w", .key(old))
            try await fill(workspace, 100)
            try await workspace.backup(to: "\(path)/before")
            try await workspace.rotateKey(to: .key(new))
            let report = try await workspace.backup(
                to: "\(path)/after", after: "\(path)/before")
            #expect(report.sharedBytes > 0)
            try await workspace.close()
            let error = await #expect(throws: RoostError.self) {
                try await open("\(path)/after", .key(old))
            }
            #expect(error?.code == .wrongKey)
            let backup = try await open("\(path)/after", .key(new))
            try check(backup, 100)
            try await backup.close()
        }
    }

    @Test func aCopyThatWouldBePlainIsRefused() async throws {
        try await withDirectory { path in
            let workspace = try await open(path, .key(SymmetricKey(size: .bits256)))
            let error = #expect(throws: RoostError.self) {
                try Replica(of: workspace, to: MemoryStorage())
            }
            #expect(error?.code == .notPermitted)
            try await workspace.close()
        }
    }

    @Test func aWorkspaceThatIsNotEncryptedStaysSo() async throws {
        try await withDirectory { path in
            let workspace = try await open(path, nil)
            try await fill(workspace, 10)
            try await workspace.close()
            let before = try files(path)
            let error = await #expect(throws: RoostError.self) {
                try await open(path, .key(SymmetricKey(size: .bits256)))
            }
            #expect(error?.code == .wrongKey)
            #expect(try files(path) == before)
        }
    }

    /// One byte of each file at a time: an error, or a log whose end is said to be torn. Every byte is in
    /// `roost-simulate damage --encrypted`.
    @Test func aChangedByteIsFound() async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let workspace = try await open(path, .key(key))
            try await fill(workspace, 40)
            try await workspace.compact()
            try await workspace.dictionary(secret).set(41, forKey: "last")
            try await workspace.close()
            let sound = try files(path)
            for (name, data) in sound where name != "SIGNALS" {
                for offset in stride(from: 0, to: data.count, by: max(1, data.count / 40)) {
                    var changed = data
                    changed[offset] ^= 0x10
                    try changed.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                    do {
                        let opened = try await open(path, .key(key))
                        let isDeclared = !opened.recovery.tornTails.isEmpty
                        let isSound = try await opened.verify().isSound
                        if !isDeclared, isSound {
                            // What was changed is the size that a segment once had: nothing rests on it.
                            #expect(
                                name.hasPrefix("log-") && (64..<96).contains(offset),
                                "\(name), byte \(offset)")
                            #expect(try opened.dictionary(secret)["last", as: Int.self] == 41)
                            #expect(try opened.dictionary(secret).count == 41)
                        }
                        try await opened.close()
                    } catch let error as RoostError {
                        #expect([.corrupt, .wrongKey, .unsupportedVersion].contains(error.code))
                    }
                    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                        try FileManager.default.removeItem(atPath: "\(path)/\(name)")
                    }
                    for (name, data) in sound {
                        try data.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                    }
                }
            }
        }
    }

    @Test func filesInEachOthersPlacesAreRefused() async throws {
        try await withDirectory { path in
            let key = SymmetricKey(size: .bits256)
            let workspace = try await open(path, .key(key))
            for round in 0..<2 {
                try await workspace.dictionary("d\(round)").setAll((0..<50).map { ("k\($0)", $0) })
                _ = try await workspace.backup(to: "\(path)-\(round)")
            }
            try await workspace.close()
            defer {
                for round in 0..<2 {
                    try? FileManager.default.removeItem(atPath: "\(path)-\(round)")
                }
            }
            // The snapshot of one moment under the name of another's.
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(path)-1")
                .filter { $0.hasPrefix("snapshot-") }.sorted()
            guard names.count > 1 else { return }
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)-1/\(names[0])"))
            try bytes.write(to: URL(fileURLWithPath: "\(path)-1/\(names[1])"))
            let error = await #expect(throws: RoostError.self) {
                try await open("\(path)-1", .key(key))
            }
            #expect(error?.code == .corrupt)
        }
    }
}
