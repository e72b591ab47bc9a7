import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// What every storage promises, of those that need no server.
struct ObjectStorageTests {
    @Test func memoryKeepsItsPromises() async throws { try await check(MemoryStorage()) }

    @Test func aDirectoryKeepsItsPromises() async throws {
        try await withDirectory { path in
            try await check(DirectoryStorage(path: "\(path)/not/there/yet"))
        }
    }

    /// A name that is there is taken for one that stays: by the attempt that made it, too, whose sync failed.
    @Test func aNameCountsOnceItsDirectoryIsSynced() async throws {
        try await withDirectory { path in
            let sync = FailingSync()
            let storage = DirectoryStorage(path: path) { try sync.check() }
            let isNew = try await storage.putIfAbsent("a/0", [0])
            #expect(isNew)
            sync.isFailing.store(true, ordering: .relaxed)
            await #expect(throws: Failed.self) { try await storage.putIfAbsent("a/1", [1]) }
            await #expect(throws: Failed.self) { try await storage.putIfAbsent("a/1", [1]) }
            sync.isFailing.store(false, ordering: .relaxed)
            let isWritten = try await storage.putIfAbsent("a/1", [1])
            let names = try await storage.listAll(prefix: "").map(\.name)
            #expect(!isWritten && names == ["a/0", "a/1"])
        }
    }

    /// A folder that is there may be from an attempt whose sync failed: a power cut would take all that is in it.
    @Test func aFolderCountsOnceItsOwnNameIsSynced() async throws {
        try await withDirectory { path in
            let sync = FailingSync()
            let storage = DirectoryStorage(path: path) { try sync.check() }
            sync.isFailing.store(true, ordering: .relaxed)
            await #expect(throws: Failed.self) { try await storage.putIfAbsent("a/0", [0]) }
            sync.isFailing.store(false, ordering: .relaxed)
            let before = sync.count.load(ordering: .relaxed)
            let isWritten = try await storage.putIfAbsent("a/0", [0])
            let first = sync.count.load(ordering: .relaxed)
            let isAnother = try await storage.putIfAbsent("a/1", [1])
            let second = sync.count.load(ordering: .relaxed)
            // The folder's name and the object's, and from then on the objects' alone.
            #expect(isWritten && isAnother && first - before == 2 && second - first == 1)
        }
    }

    /// A process may change its working directory, and would put what comes then elsewhere.
    @Test func aDirectorysPathBeginsAtTheRoot() async throws {
        try await withDirectory { directory in
            let place = "\(directory)/file"
            try Data().write(to: URL(fileURLWithPath: place))
            let current = FileManager.default.currentDirectoryPath
            let upwards = current.split(separator: "/").map { _ in "../" }.joined()
            let storage = DirectoryStorage(path: upwards + place.dropFirst())
            let error = await #expect(throws: RoostError.self) {
                try await storage.put("a", ObjectContent([1]))
            }
            #expect(error?.code == .io && error?.file?.hasPrefix(current) == true)
        }
    }

    /// A share that is not mounted any more leaves an empty directory in its place.
    @Test func nothingIsPutWhereWhatWasThereIsGone() async throws {
        try await withDirectory { directory in
            let (share, elsewhere) = ("\(directory)/share", "\(directory)/elsewhere")
            let storage = DirectoryStorage(path: share)
            let isNew = try await storage.putIfAbsent("journal/1", [1])
            #expect(isNew)
            let files = FileManager.default
            try files.moveItem(atPath: share, toPath: elsewhere)
            try files.createDirectory(atPath: share, withIntermediateDirectories: false)
            for name in ["journal/2", "snapshots/a"] {
                let error = await #expect(throws: RoostError.self) {
                    try await storage.putIfAbsent(name, [2])
                }
                #expect(error?.code == .io)
            }
            #expect(try files.contentsOfDirectory(atPath: share).isEmpty)
            // The directory for the mount may go with it.
            try files.removeItem(atPath: share)
            await #expect(throws: RoostError.self) {
                try await storage.put("bases/a", ObjectContent([3]))
            }
            #expect(!files.fileExists(atPath: share))
            try files.moveItem(atPath: elsewhere, toPath: share)
            let isWritten = try await storage.putIfAbsent("journal/2", [2])
            let names = try await storage.listAll(prefix: "").map(\.name)
            #expect(isWritten && names == ["journal/1", "journal/2"])
        }
    }

    /// Who only read until then knows it too: a follower would take over a copy that nobody else has, and a writer hold the
    /// bases that it cannot see for removed.
    @Test func nothingIsPutOrMissedWhereWhatWasListedIsGone() async throws {
        try await withDirectory { directory in
            let (share, elsewhere) = ("\(directory)/share", "\(directory)/elsewhere")
            let isNew = try await DirectoryStorage(path: share).putIfAbsent("journal/1", [1])
            #expect(isNew)
            let reader = DirectoryStorage(path: share)
            #expect(try await reader.list(prefix: "journal/", after: nil).count == 1)
            #expect(try await reader.list(prefix: "bases/", after: nil).isEmpty)
            let files = FileManager.default
            try files.moveItem(atPath: share, toPath: elsewhere)
            try files.createDirectory(atPath: share, withIntermediateDirectories: false)
            for name in ["journal/1", "journal/2", "bases/1"] {
                await #expect(throws: RoostError.self) {
                    try await reader.get(name, maximumSizeBytes: 9)
                }
            }
            for prefix in ["journal/", "bases/"] {
                await #expect(throws: RoostError.self) {
                    try await reader.list(prefix: prefix, after: nil)
                }
            }
            let error = await #expect(throws: RoostError.self) {
                try await reader.putIfAbsent("journal/2", [2])
            }
            #expect(error?.code == .io)
            #expect(try files.contentsOfDirectory(atPath: share).isEmpty)
            try files.removeItem(atPath: share)
            try files.moveItem(atPath: elsewhere, toPath: share)
            #expect(try await reader.get("journal/1", maximumSizeBytes: 9) == [1])
            #expect(try await reader.get("journal/2", maximumSizeBytes: 9) == nil)
        }
    }

    /// It holds files alone, and would open no more.
    @Test func noDirectoryIsMadeInsideAWorkspace() async throws {
        try await withDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/w")
            try await workspace.dictionary("d").set("1", forKey: "n")
            for path in ["\(directory)/w", "\(directory)/w/copies"] {
                let storage = DirectoryStorage(path: path)
                let error = await #expect(throws: RoostError.self) {
                    try await storage.putIfAbsent("journal/0", [1])
                }
                #expect(error?.code == .io)
            }
            try await workspace.close()
            let again = try await Workspace.open(at: "\(directory)/w")
            #expect(try await contents(of: again, "d") == ["n": "1"])
            try await again.close()
        }
    }

    /// Also by one that runs for longer than a day: servers do.
    @Test func whatAKilledWriterLeftIsRemovedADayLater() async throws {
        try await withDirectory { path in
            let passed = Mutex(Duration.zero)
            let begin = ContinuousClock.now
            let storage = DirectoryStorage(path: path, now: { begin + passed.withLock { $0 } }) {}
            func leave(_ name: String, age: Double) throws {
                try Data([0]).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
                try FileManager.default.setAttributes(
                    [.modificationDate: Date() - age], ofItemAtPath: "\(path)/\(name)")
            }
            func namesAfterAPut(_ time: Duration) async throws -> [String] {
                passed.withLock { $0 = time }
                try await storage.put("a/0", ObjectContent([0]))
                return try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            }
            try leave(".unfinished-1", age: 90_000)
            try leave(".unfinished-2", age: 80_000)
            #expect(try await namesAfterAPut(.zero) == [".unfinished-2", "a"])
            try leave(".unfinished-2", age: 90_000)
            // It is looked for seldom.
            #expect(try await namesAfterAPut(.seconds(80_000)) == [".unfinished-2", "a"])
            #expect(try await namesAfterAPut(.seconds(90_000)) == ["a"])
        }
    }

    @Test func aListThatBeginsAnewEachTimeIsAnError() async throws {
        let storage = ListsFromTheBegin()
        #expect(try await storage.putIfAbsent("a/0", [0]))
        let error = await #expect(throws: RoostError.self) {
            try await storage.listAll(prefix: "a/")
        }
        #expect(error?.code == .io)
    }

    private func check(_ storage: any ObjectStorage) async throws {
        try await checkStorage(storage)
    }
}

/// A disk that does not take names, for a while.
private final class FailingSync: Sendable {
    let isFailing = Atomic(false)
    /// How many directories were to be synced.
    let count = Atomic(0)

    func check() throws {
        count.wrappingAdd(1, ordering: .relaxed)
        if isFailing.load(ordering: .relaxed) { throw Failed() }
    }
}

/// A storage that takes no notice of where a list is to go on, a hundred times.
private final class ListsFromTheBegin: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()
    private let listCount = Atomic(0)

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        let count = listCount.wrappingAdd(1, ordering: .relaxed).newValue
        return count > 100 ? [] : try await base.list(prefix: prefix, after: nil)
    }
}

private struct Failed: Error {}

/// Also of a real server: see `ServerTests`.
func checkStorage(_ storage: any ObjectStorage) async throws {
    #expect(try await storage.get("a/1", maximumSizeBytes: 10) == nil)
    #expect(try await storage.list(prefix: "a/", after: nil).isEmpty)
    #expect(try await storage.putIfAbsent("a/1", [1, 2, 3]))
    #expect(try await !storage.putIfAbsent("a/1", [4]))
    #expect(try await storage.get("a/1", maximumSizeBytes: 10) == [1, 2, 3])
    await #expect(throws: (any Error).self) {
        try await storage.get("a/1", maximumSizeBytes: 2)
    }
    try await storage.put("a/2", ObjectContent([5]))
    try await storage.put("a/2", ObjectContent([6, 7]))
    try await storage.put("b/1", ObjectContent([]))
    #expect(try await storage.get("a/2", maximumSizeBytes: 2) == [6, 7])
    #expect(try await storage.get("b/1", maximumSizeBytes: 2) == [])
    let all = try await storage.listAll(prefix: "a/")
    #expect(all == [.init(name: "a/1", sizeBytes: 3), .init(name: "a/2", sizeBytes: 2)])
    #expect(try await storage.list(prefix: "a/", after: "a/1").map(\.name) == ["a/2"])

    // More than one part, and more than one range.
    let large = (0..<(37 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 13) }
    try await storage.put("large", ObjectContent(large))
    var read: [UInt8] = []
    let isThere = try await storage.download("large") { read += $0 }
    #expect(isThere && read == large)
    #expect(try await !storage.download("none") { _ in })

    let winners = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<8 as Range<UInt8> {
            group.addTask { (try? await storage.putIfAbsent("c/race", [number])) ?? false }
        }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(winners == 1)
    for name in ["a/1", "a/2", "b/1", "large", "c/race", "c/race"] {
        try await storage.delete(name)
    }
    #expect(try await storage.listAll(prefix: "").isEmpty)
}
