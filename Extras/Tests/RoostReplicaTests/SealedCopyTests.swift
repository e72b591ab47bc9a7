import Crypto
import Foundation
import Roost
import RoostEncryption
import Synchronization
import Testing

@testable import RoostReplica

/// Copies that only their key opens, of encrypted workspaces and of plain ones.
struct SealedCopyTests {
    private let key = SymmetricKey(size: .bits256)
    private var encryption: WorkspaceEncryption { .key(key) }
    private let secret = "a text that stands nowhere else"

    private func open(_ path: String, _ encryption: WorkspaceEncryption?) async throws -> Workspace
    {
        try await Workspace.open(at: path, configuration: .init(encryption: encryption))
    }

    /// An encrypted workspace, whose copy has a base with snapshots and entries after it.
    private func makeCopy(
        in storage: any ObjectStorage, _ directory: String
    ) async throws -> [String: String] {
        let workspace = try await open("\(directory)/w", encryption)
        let d = workspace.dictionary("d")
        for number in 0..<2_000 {
            try await d.set("\(secret) \(number)", forKey: "\(secret) \(number)")
        }
        try await workspace.compact()
        let replica = try Replica(
            of: workspace, to: storage, encryption: encryption, options: quick)
        try await replica.waitUntilCopied()
        for number in 1_900..<2_100 {
            try await d.set("again \(secret)", forKey: "\(secret) \(number)")
        }
        try await replica.end()
        let expected = try await contents(of: workspace, "d")
        try await workspace.close()
        return expected
    }

    private func code(_ body: () async throws -> Void) async -> RoostError.Code? {
        do { try await body() } catch { return (error as? RoostError)?.code }
        return nil
    }

    @Test func nothingThatIsStoredShowsWhatItHolds() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let expected = try await makeCopy(in: storage, directory)
            let sealed = try await CopyPlace(storage, encryption).open(begins: false).storage
            for object in try await storage.listAll(prefix: "") {
                let bytes = Data(try await storage.get(object.name, maximumSizeBytes: .max)!)
                for part in [secret, "again", "ROSTJRNL", "ROSTBASE"] {
                    #expect(bytes.range(of: Data(part.utf8)) == nil, "\(object.name) shows \(part)")
                }
                #expect(bytes.range(of: key.withUnsafeBytes { Data($0) }) == nil)
                if object.name.hasPrefix(ObjectName.snapshots) {
                    let plain = try await sealed.get(object.name, maximumSizeBytes: .max)!
                    let digest = hexadecimal(SHA256.hash(data: plain))
                    #expect(!object.name.contains(digest))
                }
                guard bytes.count > 4_096 else { continue }
                // Of n random bytes it is 8 less about 184 / n.
                #expect(entropy(bytes) > 8 - 400 / Double(bytes.count), "\(object.name)")
            }
            let kinds = try await storage.listAll(prefix: "").map { $0.name.prefix { $0 != "/" } }
            #expect(Set(kinds) == ["KEYS", "bases", "journal", "snapshots"])

            // Under the copy's key, another one, and plain.
            let other = WorkspaceEncryption.passphrase("another", cost: .light)
            let wanted: [(RestoredFiles, WorkspaceEncryption?)] = [
                (.asCopy, encryption), (.encrypted(other), other), (.plain, nil),
            ]
            for (number, (files, key)) in wanted.enumerated() {
                let path = "\(directory)/r\(number)"
                let report = try await Replica.restore(
                    from: storage, encryption: encryption, to: path, files: files)
                #expect(report.verification.isSound)
                if key != nil {
                    #expect(await code { try await open(path, nil).close() } == .wrongKey)
                    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
                        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)"))
                        #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(name)")
                    }
                }
                let workspace = try await open(path, key)
                #expect(try await contents(of: workspace, "d") == expected)
                try await workspace.close()
            }
        }
    }

    private func entropy(_ data: Data) -> Double {
        let counts = data.reduce(into: [Int](repeating: 0, count: 256)) { $0[Int($1)] += 1 }
        return counts.filter { $0 > 0 }.reduce(0.0) { sum, count in
            let part = Double(count) / Double(data.count)
            return sum - part * log2(part)
        }
    }

    @Test func anotherKeyOrNoneIsToldAndChangesNothing() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            _ = try await makeCopy(in: storage, directory)
            let before = try await storage.listAll(prefix: "")
            for wrong in [
                .key(SymmetricKey(size: .bits256)), .passphrase("a guess", cost: .light), nil,
            ] as [WorkspaceEncryption?] {
                let path = "\(directory)/r"
                #expect(
                    await code {
                        _ = try await Replica.restore(from: storage, encryption: wrong, to: path)
                    } == .wrongKey)
                #expect(
                    await code {
                        _ = try await Follower.follow(storage, encryption: wrong, at: path)
                    } == .wrongKey)
                #expect(!FileManager.default.fileExists(atPath: path))
                let workspace = try await Workspace.inMemory()
                try await workspace.dictionary("d").set("other", forKey: "other")
                let replica = try Replica(
                    of: workspace, to: storage, encryption: wrong, options: quick)
                #expect(await code { try await replica.waitUntilCopied() } == .wrongKey)
                guard case .failed(let failure) = replica.status.state else {
                    Issue.record("it copies on")
                    continue
                }
                #expect(failure.code == .wrongKey)
            }
            #expect(try await storage.listAll(prefix: "") == before)
        }
    }

    @Test func aPlainCopyStaysOne() async throws {
        let storage = MemoryStorage()
        let workspace = try await Workspace.inMemory()
        try await workspace.dictionary("d").set("1", forKey: "n")
        let plain = try Replica(of: workspace, to: storage, options: quick)
        try await plain.end()
        let before = try await storage.listAll(prefix: "")
        let sealed = try Replica(
            of: workspace, to: storage, encryption: encryption, options: quick)
        #expect(await code { try await sealed.waitUntilCopied() } == .wrongKey)
        #expect(
            await code {
                _ = try await Replica.restore(
                    from: storage, encryption: encryption, to: "/nowhere/at/all")
            } == .wrongKey)
        #expect(try await storage.listAll(prefix: "") == before)
        // An empty place is told as one, and is not begun by who reads.
        let empty = MemoryStorage()
        for key in [encryption, nil] {
            #expect(
                await code {
                    _ = try await Replica.restore(
                        from: empty, encryption: key, to: "/nowhere/at/all")
                } == .io)
        }
        #expect(empty.sizeBytes == 0)
    }

    /// Both found the place empty. Whose entry comes first has it; the other stops.
    @Test(arguments: [true, false]) func ofAPlainAndASealedWriterOneHasThePlace(
        isSealedFirst: Bool
    ) async throws {
        let storage = MemoryStorage()
        let sealed = try await CopyPlace(storage, encryption).open(begins: true).storage
        func takeOver(_ storage: any ObjectStorage) async throws {
            var journal = Journal(storage, writer: .random())
            try await journal.takeOver(behind: nil, name: "", time: 0)
        }
        try await takeOver(isSealedFirst ? sealed : storage)
        let before = try await storage.get(ObjectName.entry(0), maximumSizeBytes: .max)
        let found = await code { try await takeOver(isSealedFirst ? storage : sealed) }
        #expect(found == (isSealedFirst ? .wrongKey : .corrupt))
        #expect(try await storage.get(ObjectName.entry(0), maximumSizeBytes: .max) == before)
        #expect(try await storage.listAll(prefix: ObjectName.journal).count == 1)
    }

    @Test func anEncryptedWorkspaceIsNeverCopiedPlain() async throws {
        try await withDirectory { directory in
            let workspace = try await open("\(directory)/w", encryption)
            let storage = MemoryStorage()
            let error = #expect(throws: RoostError.self) {
                try Replica(of: workspace, to: storage)
            }
            #expect(error?.code == .notPermitted && storage.sizeBytes == 0)
            try await workspace.close()
        }
    }

    @Test func keysThatAreGoneOrDamagedAreNoEmptyPlace() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            _ = try await makeCopy(in: storage, directory)
            let name = CopyKeys.objectName
            let keys = try await storage.get(name, maximumSizeBytes: .max)!
            func restore() async -> RoostError.Code? {
                await code {
                    _ = try await Replica.restore(
                        from: storage, encryption: encryption, to: "\(directory)/r")
                }
            }
            for place in keys.indices {
                var damaged = keys
                damaged[place] ^= 1
                #expect(
                    await code { _ = try CopyKeys(damaged, encryption) } == .corrupt,
                    "byte \(place)")
                // What is damaged is read three times.
                guard place.isMultiple(of: 40) else { continue }
                try await storage.put(name, ObjectContent(damaged))
                #expect(await restore() == .corrupt, "byte \(place)")
            }
            try await storage.put(name, ObjectContent(Array(keys.dropLast())))
            #expect(await restore() == .corrupt)
            try await storage.delete(name)
            #expect(await restore() == .corrupt)
            let workspace = try await open("\(directory)/w", encryption)
            let replica = try Replica(
                of: workspace, to: storage, encryption: encryption, options: quick)
            #expect(await code { try await replica.waitUntilCopied() } == .corrupt)
            #expect(try await storage.get(name, maximumSizeBytes: .max) == nil)
            try await workspace.close()
            // Of another copy under the same key.
            let other = CopyKeys(new: encryption)
            try await storage.put(name, ObjectContent(other.sealed()))
            #expect(await restore() == .corrupt)
            try await storage.put(name, ObjectContent(keys))
            #expect(await restore() == nil)
        }
    }

    /// As of every other object of a copy.
    @Test func keysThatAreMisreadOnceAreNotDamaged() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let expected = try await makeCopy(in: storage, directory)
            let (_, found) = try await restored(MisreadKeys(storage), directory, encryption)
            #expect(found == expected)
            let workspace = try await open("\(directory)/w", encryption)
            let replica = try Replica(
                of: workspace, to: MisreadKeys(storage), encryption: encryption, options: quick)
            try await replica.end()
            #expect(replica.status.historyCount == 0)
            try await workspace.close()
        }
    }

    /// Objects in each other's places, and earlier ones under later names.
    @Test func objectsThatWereSwappedAreFound() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let expected = try await makeCopy(in: storage, directory)
            let objects = try await storage.listAll(prefix: "").map(\.name)
            var numbers = SeededNumbers(seed: testSeed)
            for name in objects {
                let bytes = try await storage.get(name, maximumSizeBytes: .max)!
                for _ in 0..<3 {
                    let other = objects.randomElement(using: &numbers)!
                    if other == name { continue }
                    let taken = try await storage.get(other, maximumSizeBytes: .max)!
                    try await storage.put(name, ObjectContent(taken))
                    let path = "\(directory)/\(UUID())"
                    do {
                        try await Replica.restore(from: storage, encryption: encryption, to: path)
                        // Entries before the base are not read.
                        let workspace = try await open(path, encryption)
                        #expect(try await contents(of: workspace, "d") == expected)
                        try await workspace.close()
                        #expect(name.hasPrefix(ObjectName.journal), "\(other) as \(name)")
                    } catch let error as RoostError {
                        #expect(error.code == .corrupt, "\(other) as \(name): \(error)")
                    }
                }
                try await storage.put(name, ObjectContent(bytes))
            }
        }
    }

    @Test func theKeysOfTheWorkspaceAndOfTheCopyChangeWhileItIsCopied() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let path = "\(directory)/w"
            let (second, copyKey) = (
                WorkspaceEncryption.key(SymmetricKey(size: .bits256)),
                WorkspaceEncryption.passphrase("of the copy", cost: .light)
            )
            let workspace = try await open(path, encryption)
            let d = workspace.dictionary("d")
            let replica = try Replica(
                of: workspace, to: storage, encryption: copyKey, options: quick)
            for round in 0..<4 {
                for number in 0..<50 { try await d.set("\(round)", forKey: "\(round) \(number)") }
                if round == 1 { try await workspace.rotateKey(to: second) }
                if round == 2 { try await workspace.compact() }
                try await replica.waitUntilCopied()
                if round == 2 {
                    try await Replica.rotateKey(of: storage, from: copyKey, to: second)
                }
            }
            #expect(replica.status.historyCount == 1)
            try await replica.end()
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            #expect(
                await code {
                    _ = try await Replica.restore(
                        from: storage, encryption: copyKey, to: "\(directory)/r")
                } == .wrongKey)
            #expect(
                await code {
                    try await Replica.rotateKey(of: storage, from: copyKey, to: second)
                } == .wrongKey)
            // Another opening of the same workspace goes on with the history.
            let again = try await open(path, second)
            let next = try Replica(of: again, to: storage, encryption: second, options: quick)
            try await next.end()
            #expect(next.status.historyCount == 0 && next.status.baseCount == 0)
            try await again.close()
            try await Replica.restore(from: storage, encryption: second, to: "\(directory)/r")
            let restored = try await open("\(directory)/r", second)
            #expect(try await contents(of: restored, "d") == expected && expected.count == 200)
            try await restored.close()
        }
    }

    /// A base of a workspace whose snapshots are read through their seals, and are larger than a chunk.
    @Test func basesOfEncryptedWorkspacesFollowTheLog() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let workspace = try await open("\(directory)/w", encryption)
            let d = workspace.dictionary("d")
            var options = quick
            options.retention = .zero
            let replica = try Replica(
                of: workspace, to: storage, encryption: encryption, options: options)
            try await replica.waitUntilCopied()
            var numbers = SeededNumbers(seed: testSeed)
            for _ in 0..<12 {
                for number in 0..<200 {
                    let text = (0..<100).map { _ in "\(numbers.next())" }.joined()
                    try await d.set(text, forKey: "k\(number)")
                }
                try await workspace.compact()
                try await replica.waitUntilCopied()
            }
            #expect(
                try await eventually {
                    replica.status.baseCount > 1 && !replica.status.isWritingBase
                })
            try await replica.end()
            let expected = try await contents(of: workspace, "d")
            try await workspace.close()
            let report = try await Replica.restore(
                from: storage, encryption: encryption, to: "\(directory)/r")
            #expect(report.snapshotSizeBytes > 100_000)
            let restored = try await open("\(directory)/r", encryption)
            #expect(try await contents(of: restored, "d") == expected)
            try await restored.close()
        }
    }
}

/// Gives of the keys a part once, and then all of them.
private final class MisreadKeys: ForwardingStorage {
    let base: any ObjectStorage
    private let wereRead = Atomic(false)

    init(_ base: MemoryStorage) { self.base = base }

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        let bytes = try await base.get(name, maximumSizeBytes: maximumSizeBytes)
        guard name == CopyKeys.objectName, let bytes,
            !wereRead.exchange(true, ordering: .relaxed)
        else { return bytes }
        return Array(bytes.dropLast())
    }
}
