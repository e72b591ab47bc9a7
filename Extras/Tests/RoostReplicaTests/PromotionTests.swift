import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// What a follower may not do when it takes its writer's place.
struct PromotionTests {
    /// The journal goes on, and the follower lacks batches that retention removed before it had them.
    @Test func aFollowerThatLacksBatchesOvertakesNobody() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let memory = storage.memory
            let writer = try await Workspace.open(at: "\(directory)/w")
            let d = writer.dictionary("d")
            let replica = try Replica(of: writer, to: memory, options: quick)
            try await d.set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            let known = try #require(try await JournalReader.end(of: memory))
            for number in 0..<50 { try await d.set("\(number)", forKey: "k\(number)") }
            try await replica.waitUntilCopied()
            try await replica.end()
            let second = try Replica(of: writer, to: memory, options: quick)
            try await second.waitUntilCopied()
            await second.abandon()
            let end = try #require(try await JournalReader.end(of: memory))
            #expect(end.kind == .takeover && end.standing.history == known.standing.history)
            for index in known.index + 1..<end.index {
                try await memory.delete(ObjectName.entry(index))
            }
            storage.faults.withLock { $0.isOff = false }

            let error = await #expect(throws: RoostError.self) {
                _ = try await follower.promote(options: quick)
            }
            #expect(error?.code == .conflict)
            #expect(try await JournalReader.end(of: memory)?.digest == end.digest)
            #expect(try await JournalReader.entry(known.index + 1, in: memory) == nil)
            let followed = follower.workspace.dictionary("d")
            await #expect(throws: RoostError.self) { try await followed.set("x", forKey: "x") }
            try await follower.close()
            try await writer.close()
        }
    }

    /// Another takes over in the same moment, behind the place where the follower did.
    @Test func aFollowerGoesBehindWhoCameBetween() async throws {
        try await withDirectory { directory in
            let storage = MetByAnother()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.isAwaited.store(true, ordering: .relaxed)
            let next = try await follower.promote(options: quick)
            let hasMet = !storage.isAwaited.load(ordering: .relaxed)
            #expect(hasMet)
            try await follower.workspace.dictionary("d").set("2", forKey: "n")
            try await next.end()
            #expect(next.status.historyCount == 0)
            try await follower.workspace.close()
            try await Replica.restore(from: storage, to: "\(directory)/r")
            let restored = try await Workspace.open(at: "\(directory)/r")
            #expect(try await contents(of: restored, "d") == ["n": "2"])
            try await restored.close()
        }
    }

    @Test func aFollowerSaysThatRetentionRemovedWhatComesNext() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let memory = storage.memory
            let writer = try await Workspace.open(at: "\(directory)/w")
            let d = writer.dictionary("d")
            let replica = try Replica(of: writer, to: memory, options: quick)
            try await d.set("1", forKey: "n")
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            let known = try #require(try await JournalReader.end(of: memory))
            for number in 2...3 {
                try await d.set("\(number)", forKey: "n")
                try await replica.waitUntilCopied()
            }
            try await replica.end()
            try await memory.delete(ObjectName.entry(known.index + 1))
            storage.faults.withLock { $0.isOff = false }
            #expect(try await eventually { follower.status.failure?.code == .conflict })
            #expect(try await contents(of: follower.workspace, "d") == ["n": "1"])
            try await follower.close()
            try await writer.close()
        }
    }

    /// The writer's newest base holds more in its snapshots than the follower has brought to its own.
    @Test func aPromotedFollowerWritesNoBaseThatLacksBatches() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let text = String(repeating: "x", count: 1_000)
            func fill(_ workspace: Workspace, _ count: Int, _ round: Int) async throws {
                let d = workspace.dictionary("d")
                for number in 0..<count { try await d.set("\(text) \(round)", forKey: "\(number)") }
            }
            func restored(_ name: String) async throws -> [String: String] {
                try await Replica.restore(from: storage, to: "\(directory)/\(name)")
                let workspace = try await Workspace.open(at: "\(directory)/\(name)")
                let found = try await contents(of: workspace, "d")
                try await workspace.close()
                return found
            }
            let writer = try await Workspace.open(at: "\(directory)/w")
            try await writer.dictionary("d").set("first", forKey: "first")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let isFlushed = try await eventually {
                try await fill(writer, 100, 0)
                try await writer.compact()
                try await replica.waitUntilCopied()
                let end = try #require(try await JournalReader.end(of: storage))
                let bases = try await JournalReader.bases(from: end.standing.base, in: storage)
                return bases[0].record.flushedSequence > 1
            }
            #expect(isFlushed)
            try await replica.end()
            try await writer.close()
            let last = replica.status.copiedSequence
            #expect(try await eventually { follower.status.lastSequence >= last })

            let next = try await follower.promote(options: quick)
            for round in 1...20 {
                try await fill(follower.workspace, 20, round)
                try await next.waitUntilCopied()
            }
            #expect(try await restored("before") == contents(of: follower.workspace, "d"))
            try await follower.workspace.compact()
            let hasBase = try await eventually {
                try await fill(follower.workspace, 20, 21)
                try await next.waitUntilCopied()
                return next.status.baseCount > 0
            }
            #expect(hasBase)
            try await next.end()
            #expect(try await restored("after") == contents(of: follower.workspace, "d"))
            try await follower.workspace.close()
        }
    }
}

/// A storage in memory where another writer takes over right behind the next entry, if it is awaited.
private final class MetByAnother: ObjectStorage {
    private let memory = MemoryStorage()
    let isAwaited = Atomic(false)

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        let isWritten = try await memory.putIfAbsent(name, bytes)
        if isWritten, isAwaited.exchange(false, ordering: .relaxed) {
            let end = try await JournalReader.end(of: memory)
            var journal = Journal(memory, writer: .random())
            try await journal.takeOver(behind: end, name: "another", time: end!.standing.time)
        }
        return isWritten
    }
    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        try await memory.get(name, maximumSizeBytes: maximumSizeBytes)
    }
    func download(_ name: String, to receive: ([UInt8]) async throws -> Void) async throws -> Bool {
        try await memory.download(name, to: receive)
    }
    func put(_ name: String, _ content: ObjectContent) async throws {
        try await memory.put(name, content)
    }
    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        try await memory.list(prefix: prefix, after: name)
    }
    func delete(_ name: String) async throws { try await memory.delete(name) }
}
