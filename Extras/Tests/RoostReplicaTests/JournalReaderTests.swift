import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// What it takes to read a journal of many entries.
@Suite(.timeLimit(.minutes(5))) struct JournalReaderTests {
    /// Copies so many batches, each in an entry of its own.
    private func copied(_ count: Int, to storage: any ObjectStorage) async throws {
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, options: quick)
        for number in 0..<count {
            try await workspace.dictionary("d").set("\(number)", forKey: "n")
            try await replica.waitUntilCopied()
        }
        try await replica.end()
        try await workspace.close()
    }

    @Test func oneListIsEnoughForAllOfItsEntries() async throws {
        try await withDirectory { directory in
            let storage = CountedLists()
            try await copied(200, to: storage)
            storage.count.withLock { $0 = 0 }
            #expect(try await restored(storage, directory).1 == ["n": "199"])
            // The end is looked for, the entries are listed, and nothing is after them.
            let count = storage.count.withLock { $0 }
            #expect(count < 10, "\(count) lists were asked for")
        }
    }

    /// Retention may come by while a reader is at what it has listed.
    @Test func entriesThatAreRemovedWhileTheyAreReadAreKnownForThat() async throws {
        let storage = CountedLists()
        try await copied(60, to: storage)
        let end = try #require(try await JournalReader.end(of: storage))
        var reader = JournalReader(storage, from: 0)
        for index in 0..<8 as Range<UInt64> {
            #expect(try await reader.read()?.index == index)
        }
        for index in 0..<40 as Range<UInt64> { try await storage.delete(ObjectName.entry(index)) }
        let error = await #expect(throws: RoostError.self) { _ = try await reader.read() }
        #expect(error?.code == .io && reader.isOvertaken)
        var later = JournalReader(storage, from: 40)
        var last: UInt64?
        while let entry = try await later.read() { last = entry.index }
        #expect(last == end.index)
    }

    /// As of a directory that is read while entries are added to it.
    @Test func anEntryThatAListLacksIsNotTakenForOneThatWasRemoved() async throws {
        let storage = CountedLists()
        try await copied(20, to: storage)
        let end = try #require(try await JournalReader.end(of: storage))
        storage.leftOut.withLock { $0 = [3, 7, 8] }
        var reader = JournalReader(storage, from: 0)
        for index in 0...end.index { #expect(try await reader.read()?.index == index) }
        #expect(try await reader.read() == nil)
        #expect(!reader.isOvertaken)
        // What is not there is not found by asking for it either.
        try await storage.delete(ObjectName.entry(3))
        var later = JournalReader(storage, from: 3)
        let error = await #expect(throws: RoostError.self) { _ = try await later.read() }
        #expect(error?.code == .io && later.isOvertaken)
    }

    /// It would end for good, and have to begin anew in another directory.
    @Test func aFollowerGoesOnWhereAListLacksAnEntry() async throws {
        try await withDirectory { directory in
            let storage = CountedLists()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let d = writer.dictionary("d")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await d.set("0", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let known = try #require(try await JournalReader.end(of: storage))
            storage.leftOut.withLock { $0 = [known.index + 1, known.index + 4] }
            for number in 1...6 {
                try await d.set("\(number)", forKey: "n")
                try await replica.waitUntilCopied()
            }
            let last = writer.statistics.lastSequence
            let hasAll = try await eventually {
                follower.status.lastSequence >= last || follower.status.failure != nil
            }
            #expect(hasAll && follower.status.failure == nil)
            #expect(try await contents(of: follower.workspace, "d") == ["n": "6"])
            try await replica.end()
            #expect(try await restored(storage, directory).1 == ["n": "6"])
            try await follower.close()
            try await writer.close()
        }
    }

    /// Each may have a gibibyte.
    @Test(arguments: [(20 << 20, 3), (65 << 20, 1), (1 << 20, 8)] as [(UInt64, Int)])
    func ofLargeEntriesFewAreHeld(_ sizeBytes: UInt64, _ count: Int) async throws {
        let storage = CountedLists()
        try await copied(20, to: storage)
        storage.saidSizeBytes.withLock { $0 = sizeBytes }
        var reader = JournalReader(storage, from: 0)
        storage.taken.withLock { $0 = [] }
        _ = try await reader.read()
        #expect(storage.taken.withLock { $0.count } == count)
        var last: UInt64?
        while let entry = try await reader.read() { last = entry.index }
        #expect(try await JournalReader.end(of: storage)?.index == last)
    }

    /// Else each list would take as long as all that is stored.
    @Test func filesThatAreNotWantedAreNotLookedAt() async throws {
        try await withDirectory { directory in
            let storage = DirectoryStorage(path: directory)
            for name in ["a/2", "a/3", "a/3-x/y", "a/30", "a/3.0/z", "b/1", "ab"] {
                try await storage.put(name, ObjectContent([1]))
            }
            // Whoever looks at this one is told of a loop.
            try FileManager.default.createSymbolicLink(
                atPath: "\(directory)/a/1", withDestinationPath: "1")
            func names(_ prefix: String, _ name: String?) async throws -> [String] {
                try await storage.list(prefix: prefix, after: name).map(\.name)
            }
            #expect(
                try await names("a/", "a/2") == ["a/3", "a/3-x/y", "a/3.0/z", "a/30"])
            #expect(try await names("a/", "a/3-x/x") == ["a/3-x/y", "a/3.0/z", "a/30"])
            #expect(try await names("a/3-", nil) == ["a/3-x/y"])
            #expect(try await names("a/3", "a/3-") == ["a/3-x/y", "a/3.0/z", "a/30"])
            try FileManager.default.removeItem(atPath: "\(directory)/a/1")
            #expect(
                try await names("", nil)
                    == ["a/2", "a/3", "a/3-x/y", "a/3.0/z", "a/30", "ab", "b/1"])
            #expect(try await names("", "a/3.0/z") == ["a/30", "ab", "b/1"])
            #expect(try await names("a", "a/30") == ["ab"])
        }
    }
}

/// A storage in memory that counts how often it is asked for a list, and leaves entries out of all of them, or says
/// another size of them.
private final class CountedLists: ForwardingStorage {
    let count = Mutex(0)
    let saidSizeBytes = Mutex<UInt64?>(nil)
    /// What was asked for.
    let taken = Mutex<[String]>([])
    let leftOut = Mutex<Set<UInt64>>([])
    let base: any ObjectStorage = MemoryStorage()

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        count.withLock { $0 += 1 }
        let all = try await base.list(prefix: prefix, after: name)
        let names = leftOut.withLock { $0.map { ObjectName.entry($0) } }
        let size = saidSizeBytes.withLock { $0 }
        return all.filter { !names.contains($0.name) }
            .map { StoredObject(name: $0.name, sizeBytes: size ?? $0.sizeBytes) }
    }
    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        taken.withLock { $0.append(name) }
        return try await base.get(name, maximumSizeBytes: maximumSizeBytes)
    }
}
