import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// A base that is damaged or gone takes with it no state that another base leads to.
@Suite(.timeLimit(.minutes(10))) struct DamagedBaseTests {
    enum Harm: CaseIterable, Sendable {
        case damaged, gone
    }

    private func harm(_ name: String, _ harm: Harm, in storage: MemoryStorage) async throws {
        guard harm == .damaged else { return try await storage.delete(name) }
        var bytes = try #require(try await storage.get(name, maximumSizeBytes: .max))
        bytes[bytes.count / 2] ^= 1
        try await storage.put(name, ObjectContent(bytes))
    }

    private func chain(_ storage: MemoryStorage) async throws -> BaseChain {
        let end = try #require(try await JournalReader.end(of: storage))
        return try await BaseChain(from: end.standing.base, in: storage)
    }

    @Test(arguments: [false, true]) func anOlderBaseThatIsDamagedHindersNobody(
        isEntry: Bool
    ) async throws {
        try await withBases { directory, storage, expected in
            let oldest = try #require(try await chain(storage).bases.last)
            let name = isEntry ? ObjectName.entry(oldest.entry.index) : oldest.name
            // One that is behind when the base is damaged.
            let follower = try await Follower.follow(storage, at: "\(directory)/f")
            try await follower.close()
            try await harm(name, .damaged, in: storage)
            let (report, found) = try await restored(storage, directory)
            #expect(found == expected)
            #expect(report.passedDamages.map(\.file) == [name])
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await workspace.dictionary("d").set("more", forKey: "more")
            try await replica.waitUntilCopied()
            #expect(try await eventually { replica.status.baseTrouble?.file == name })
            let again = try await Follower.follow(storage, at: "\(directory)/f")
            #expect(
                try await eventually {
                    try again.workspace.dictionary("d")["more", as: String.self] == "more"
                })
            try await again.close()
            try await replica.end()
            #expect(replica.status.historyCount == 0)
            try await workspace.close()
        }
    }

    @Test(arguments: Harm.allCases, [false, true])
    func anOlderBaseIsBegunWithWhereTheNewestIsDamaged(
        _ kind: Harm, isSnapshot: Bool
    ) async throws {
        try await withBases { directory, storage, expected in
            let bases = try await chain(storage).bases
            let older = Set(bases.dropFirst().flatMap { $0.record.snapshots.map(\.name) })
            let own = bases[0].record.snapshots.map(\.name).first { !older.contains($0) }
            let name = isSnapshot ? try #require(own) : bases[0].name
            try await harm(name, kind, in: storage)
            let (report, found) = try await restored(storage, directory)
            #expect(found == expected)
            #expect(report.passedDamages.map(\.file) == [name])
            // A follower too.
            let follower = try await Follower.follow(storage, at: "\(directory)/f")
            #expect(try await contents(of: follower.workspace, "d") == expected)
            try await follower.close()
        }
    }

    /// As of a plain workspace, though its files are written once, from their begin to their end.
    @Test func whatIsDamagedOrMisreadIsPassedOverForAnEncryptedWorkspaceToo() async throws {
        try await withBases { directory, storage, expected in
            let misread = try await restoredEncrypted(MisreadingStorage(storage), directory)
            #expect(misread.1 == expected)
            #expect(misread.0.passedDamages.isEmpty)
            let bases = try await chain(storage).bases
            let older = Set(bases.dropFirst().flatMap { $0.record.snapshots.map(\.name) })
            let own = bases[0].record.snapshots.map(\.name).first { !older.contains($0) }
            let name = try #require(own)
            try await harm(name, .damaged, in: storage)
            let (report, found) = try await restoredEncrypted(storage, directory)
            #expect(found == expected)
            #expect(report.passedDamages.map(\.file) == [name])
        }
    }

    private func restoredEncrypted(
        _ storage: any ObjectStorage, _ directory: String
    ) async throws -> (RestoreReport, [String: String]) {
        let encryption = try #require(newEncryption(true))
        let path = "\(directory)/encrypted-\(UUID().uuidString)"
        let report = try await Replica.restore(
            from: storage, to: path, files: .encrypted(encryption))
        let workspace = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly, encryption: encryption))
        let found = try await contents(of: workspace, "d")
        try await workspace.close()
        return (report, found)
    }

    @Test(arguments: Harm.allCases) func aNewestBaseThatIsDamagedIsReplacedAtOnce(
        _ kind: Harm
    ) async throws {
        try await withBases { directory, storage, expected in
            let newest = try await chain(storage).bases[0]
            try await harm(newest.name, kind, in: storage)
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            #expect(try await eventually { replica.status.baseCount == 1 })
            #expect(replica.status.historyCount == 0)
            try await replica.end()
            try await workspace.close()
            let (report, found) = try await restored(storage, directory)
            #expect(found == expected)
            let base = try await chain(storage).bases[0]
            #expect(base.entry.index > newest.entry.index)
            #expect(report.snapshotCount == base.record.snapshots.count)
            // It refers to nothing of a base that an earlier writer may be removing.
            #expect(
                base.record.snapshots.allSatisfy {
                    $0.name.hasSuffix(
                        "-\(base.name.suffix(32))-\(ObjectName.index(ofBase: base.name)!)")
                })
        }
    }

    /// What older bases lead to is there as long as the retention says, whoever writes on.
    @Test(arguments: Harm.allCases) func earlierMomentsOutliveTheWritersBehindADamagedBase(
        _ kind: Harm
    ) async throws {
        try await withBases { directory, storage, _ in
            let bases = try await chain(storage).bases
            let oldest = try #require(bases.last).record.completeSequence
            let before = try await restored(storage, directory, at: .sequence(oldest)).1
            try await harm(bases[0].name, kind, in: storage)
            for _ in 0..<2 {
                let workspace = try await Workspace.open(at: "\(directory)/w")
                let replica = try Replica(of: workspace, to: storage, options: quick)
                try await writeBases(workspace, replica, count: 2)
                try await replica.end()
                try await workspace.close()
                #expect(
                    try await restored(storage, directory, at: .sequence(oldest)).1 == before)
            }
            #expect(try await chain(storage).bases.count >= bases.count + 3)
        }
    }

    /// An answer that was cut on its way is none about what is stored.
    @Test func whatIsMisreadOnceIsNotDamaged() async throws {
        try await withBases { directory, storage, _ in
            let count = try await chain(storage).bases.count
            let misreading = MisreadingStorage(storage)
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: workspace, to: misreading, options: quick)
            try await writeBases(workspace, replica, count: 1)
            let follower = try await Follower.follow(misreading, at: "\(directory)/f")
            let found = try await contents(of: workspace, "d")
            #expect(
                try await eventually {
                    try await contents(of: follower.workspace, "d") == found
                })
            try await follower.close()
            try await replica.end()
            #expect(replica.status.historyCount == 0)
            try await workspace.close()
            #expect(try await restored(misreading, directory).1 == found)
            #expect(try await chain(storage).bases.count > count)
            #expect(try await chain(storage).damages.isEmpty)
            #expect(misreading.misreadCount > 10)
        }
    }

    /// Retention would remove what is older, as if it had done so before.
    @Test func anEntryThatIsAnsweredWithNothingIsNoRemovedOne() async throws {
        try await withBases { _, storage, _ in
            let end = try #require(try await JournalReader.end(of: storage))
            let all = try await BaseChain(from: end.standing.base, in: storage).bases
            let name = ObjectName.entry(all[1].entry.index)
            let once = EmptyingStorage(storage, name: name, count: 1)
            let whole = try await BaseChain(from: end.standing.base, in: once)
            #expect(whole.bases.count == all.count && whole.damages.isEmpty)
            let always = EmptyingStorage(storage, name: name, count: .max)
            let broken = try await BaseChain(from: end.standing.base, in: always)
            #expect(broken.bases.count == 1 && broken.damages.first?.file == name)
        }
    }

    /// All bases, and some entries: what a new base needs not hinders nobody.
    @Test(arguments: [1, 3, 8]) func aCopyWhoseBasesAreAllDamagedBeginsAgain(
        entryCount: Int
    ) async throws {
        try await withBases { directory, storage, _ in
            let chain = try await chain(storage)
            for base in chain.bases { try await harm(base.name, .damaged, in: storage) }
            let names = try await storage.listAll(prefix: ObjectName.journal).map(\.name)
            // The last one says where the journal ends.
            for name in names.dropLast().suffix(entryCount) {
                try await harm(name, .damaged, in: storage)
            }
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: workspace, to: storage, options: quick)
            try await workspace.dictionary("d").set("more", forKey: "more")
            try await replica.waitUntilCopied()
            let expected = try await contents(of: workspace, "d")
            #expect(try await restored(storage, directory).1 == expected)
            try await replica.end()
            try await workspace.close()
        }
    }

    /// A state of another history is none of these.
    @Test(arguments: Harm.allCases) func noOtherHistoryTakesThePlaceOfADamagedOne(
        _ kind: Harm
    ) async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            var moments: [Date] = []
            for name in ["a", "b"] {
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                try await workspace.dictionary("d").set(name, forKey: "name")
                try await workspace.compact()
                let replica = try Replica(of: workspace, to: storage, options: quick)
                try await workspace.dictionary("d").set(name, forKey: "again")
                try await replica.end()
                try await workspace.close()
                try await Task.sleep(for: .milliseconds(20))
                moments.append(Date())
                try await Task.sleep(for: .milliseconds(20))
            }
            let bases = try await chain(storage).bases
            #expect(bases.count == 2)
            let snapshot = bases[0].record.snapshots[0].name
            for name in [bases[0].name, snapshot] {
                let bytes = try #require(try await storage.get(name, maximumSizeBytes: .max))
                try await harm(name, kind, in: storage)
                for point in [RestorePoint.newest, .sequence(2), .moment(moments[1])] {
                    let error = await #expect(throws: RoostError.self) {
                        try await restored(storage, directory, at: point)
                    }
                    #expect(error?.code == (kind == .damaged ? .corrupt : .io))
                    #expect(error?.file == name)
                }
                let before = try await restored(storage, directory, at: .moment(moments[0]))
                #expect(before.1 == ["name": "a", "again": "a"])
                try await storage.put(name, ObjectContent(bytes))
            }
        }
    }
}

/// Gives of each object once a part, and then all of it.
private final class MisreadingStorage: ForwardingStorage {
    let base: any ObjectStorage
    private let misread = Mutex<Set<String>>([])

    init(_ base: MemoryStorage) { self.base = base }

    var misreadCount: Int { misread.withLock { $0.count } }

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        let bytes = try await base.get(name, maximumSizeBytes: maximumSizeBytes)
        guard let bytes, misread.withLock({ $0.insert(name).inserted }) else { return bytes }
        return Array(bytes.prefix(bytes.count / 2))
    }

    func download(_ name: String, to receive: ([UInt8]) async throws -> Void) async throws -> Bool {
        guard let bytes = try await get(name, maximumSizeBytes: .max) else { return false }
        try await receive(bytes)
        return true
    }
}

/// Gives nothing of one object, so often.
private final class EmptyingStorage: ForwardingStorage {
    let base: any ObjectStorage
    private let name: String
    private let leftCount: Mutex<Int>

    init(_ base: MemoryStorage, name: String, count: Int) {
        self.base = base
        self.name = name
        leftCount = Mutex(count)
    }

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        let isEmpty =
            name == self.name
            && leftCount.withLock { count in
                count -= 1
                return count >= 0
            }
        if isEmpty { return [] }
        return try await base.get(name, maximumSizeBytes: maximumSizeBytes)
    }
}
