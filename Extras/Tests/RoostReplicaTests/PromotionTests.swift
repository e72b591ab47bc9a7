import Foundation
import Synchronization
import Testing

@testable import Roost
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

    /// It has batches by now that the copy has not, under the numbers of those of who took over from it.
    @Test func aFollowerIsPromotedOnce() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let memory = storage.memory
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: memory, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let first = try await Follower.follow(
                storage, at: "\(directory)/first", interval: .milliseconds(10))
            let second = try await Follower.follow(
                memory, at: "\(directory)/second", interval: .milliseconds(10))
            let older = try await first.promote(options: quick)
            try await older.waitUntilCopied()
            storage.faults.withLock { $0.isOff = true }
            let (mine, others) = (
                first.workspace.dictionary("d"), second.workspace.dictionary("d")
            )
            for number in 0..<3 { try await mine.set("lost", forKey: "lost \(number)") }
            let newer = try await second.promote(options: quick)
            for number in 0..<3 { try await others.set("kept", forKey: "kept \(number)") }
            try await newer.waitUntilCopied()
            let takeover = try await JournalReader.end(of: memory)?.standing.takeover
            storage.faults.withLock { $0.isOff = false }
            await #expect(throws: RoostError.self) { try await older.waitUntilCopied() }

            let error = await #expect(throws: RoostError.self) {
                _ = try await first.promote(options: quick)
            }
            #expect(error?.code == .conflict)
            #expect(first.status.isPromoted)
            try await mine.set("still written to", forKey: "n")
            #expect(try await JournalReader.end(of: memory)?.standing.takeover == takeover)
            try await newer.end()
            let expected = try await contents(of: second.workspace, "d")
            try await first.workspace.close()
            try await second.workspace.close()
            // Nor is it marked as one that follows.
            let alone = try await Workspace.open(at: "\(directory)/first")
            try await alone.close()
            try await Replica.restore(from: memory, to: "\(directory)/r")
            let restored = try await Workspace.open(at: "\(directory)/r")
            #expect(try await contents(of: restored, "d") == expected)
            #expect(expected.count == 4)
            try await restored.close()
        }
    }

    /// A promoted workspace is opened again, and its log proves where the copy stands; that of the writer that was
    /// overtaken proves it no more.
    @Test func aPromotedWorkspaceGoesOnWithTheHistoryWhenItIsOpenedAgain() async throws {
        try await withDirectory { directory in
            let storage = MemoryStorage()
            let writer = try await Workspace.open(at: "\(directory)/writer")
            let replica = try Replica(of: writer, to: storage, options: quick)
            for number in 0..<50 { try await writer.dictionary("d").set("\(number)", forKey: "k") }
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let other = try await Follower.follow(
                storage, at: "\(directory)/other", interval: .milliseconds(10))
            #expect(follower.status.lastSequence == writer.statistics.lastSequence)
            #expect(follower.status.moment != nil)
            let promoted = try await follower.promote(options: quick)
            try await promoted.end()
            try await follower.close()
            // Written after it was overtaken, and copied by nobody.
            try await writer.dictionary("d").set("lost", forKey: "k")
            await #expect(throws: RoostError.self) { try await replica.waitUntilCopied() }
            try await writer.close()

            let again = try await Workspace.open(at: "\(directory)/f")
            let next = try Replica(of: again, to: storage, options: quick)
            try await again.dictionary("d").set("kept", forKey: "k")
            try await next.waitUntilCopied()
            #expect(next.status.historyCount == 0)
            #expect(
                try await eventually {
                    try other.workspace.dictionary("d").value(forKey: "k", as: String.self)
                        == "kept"
                })
            #expect(other.status.failure == nil)
            try await next.end()
            try await again.close()
            try await other.close()

            let old = try await Workspace.open(at: "\(directory)/writer")
            let back = try Replica(of: old, to: storage, options: quick)
            try await back.waitUntilCopied()
            #expect(back.status.historyCount == 1)
            try await back.end()
            try await old.close()
            let contents = try await Replica.contents(of: storage)
            #expect(Set(contents.stretches.map(\.history)).count == 2)
        }
    }

    /// A storage may list what it has taken only some time later.
    @Test func aPromotionWaitsForAListThatIsLate() async throws {
        try await withDirectory { directory in
            let memory = MemoryStorage()
            let workspace = try await Workspace.open(at: "\(directory)/writer")
            let replica = try Replica(of: workspace, to: memory, options: quick)
            try await workspace.dictionary("d").set("first", forKey: "k")
            try await replica.waitUntilCopied()
            let storage = LateLists(memory)
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .seconds(600))
            storage.hide(for: .seconds(2))
            for number in 0..<5 {
                try await workspace.dictionary("d").set("\(number)", forKey: "k")
                try await replica.waitUntilCopied()
            }
            let promoted = try await follower.promote(options: quick)
            #expect(
                try follower.workspace.dictionary("d").value(forKey: "k", as: String.self) == "4")
            try await promoted.end()
            try await follower.close()
            do { try await replica.end() } catch is RoostError {}
            try await workspace.close()
        }
    }

    @Test func ofTwoPromotionsAtOnceOneIsRefused() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            storage.faults.withLock { $0.isOff = true }
            // Without the storage neither gets done: whoever comes second is refused at once.
            let results = try await withThrowingTaskGroup(of: Result<Replica, RoostError>.self) {
                group in
                for _ in 0..<2 {
                    group.addTask {
                        do {
                            return .success(
                                try await follower.promote(options: quick, within: .seconds(600)))
                        } catch { return .failure(try #require(error as? RoostError)) }
                    }
                }
                let first = try await group.next()
                storage.faults.withLock { $0.isOff = false }
                return [first, try await group.next()]
            }
            guard case .failure(let error) = results[0], case .success(let next) = results[1] else {
                Issue.record("\(results)")
                return
            }
            #expect(error.code == .conflict)
            try await next.end()
            try await follower.workspace.close()
        }
    }

    /// As one that was never a follower, and where the storage is had again, it says so too.
    @Test func aPromotedOneTellsWhyNothingIsCopied() async throws {
        try await withDirectory { directory in
            let storage = FaultyStorage()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await writer.dictionary("d").set("1", forKey: "n")
            try await replica.end()
            try await writer.close()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let next = try await follower.promote(options: quick)
            for _ in 0..<2 {
                storage.faults.withLock { $0.isOff = true }
                try await follower.workspace.dictionary("d").set("2", forKey: "n")
                #expect(try await eventually { next.status.trouble != nil })
                storage.faults.withLock { $0.isOff = false }
                #expect(try await eventually { next.status.trouble == nil })
                try await next.waitUntilCopied()
            }
            try await next.end()
            try await follower.workspace.close()
        }
    }

    @Test func whatIsCopiedIsNotAppliedToAWorkspaceThatIsWrittenTo() async throws {
        let storage = MemoryStorage()
        let writer = try await Workspace.inMemory()
        let replica = try Replica(of: writer, to: storage, options: quick)
        try await writer.dictionary("d").set("1", forKey: "n")
        try await replica.end()
        let entry = try #require(try await JournalReader.end(of: storage))
        let workspace = try await Workspace.inMemory()
        let error = await #expect(throws: RoostError.self) {
            var applier = HistoryApplier(workspace.engine, history: entry.standing.history)
            _ = try await applier.apply(entry)
        }
        #expect(error?.code == .conflict)
        try await workspace.close()
        try await writer.close()
    }

    /// The old writer was told that it is copied; the directory is written to from then on, and follows nothing.
    @Test func whoIsPromotedHasOnDiskWhatItFollowed() async throws {
        try await withDirectory { directory in
            let storage = WatchedTakeovers()
            let writer = try await Workspace.open(at: "\(directory)/w")
            let replica = try Replica(of: writer, to: storage, options: quick)
            try await replica.waitUntilCopied()
            let follower = try await Follower.follow(
                storage, at: "\(directory)/f", interval: .milliseconds(10))
            let workspace = follower.workspace
            for number in 0..<50 { try await writer.dictionary("d").set("1", forKey: "\(number)") }
            try await replica.end()
            let last = writer.statistics.lastSequence
            try await writer.close()
            #expect(try await eventually { follower.status.lastSequence >= last })
            #expect(workspace.statistics.durableSequence < last)
            storage.watched.withLock { $0 = workspace }
            var slow = quick
            slow.interval = .seconds(3600)
            let next = try await follower.promote(options: slow)
            #expect(workspace.statistics.durableSequence >= last)
            // Before anybody was overtaken: a disk that fails must not take the writer's place.
            #expect(storage.durableSequence.withLock { $0 } == last)
            try await next.end()
            try await workspace.close()
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
                let bases = try await BaseChain(from: end.standing.base, in: storage).bases
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
private final class MetByAnother: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()
    let isAwaited = Atomic(false)

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        let isWritten = try await base.putIfAbsent(name, bytes)
        if isWritten, isAwaited.exchange(false, ordering: .relaxed) {
            let end = try await JournalReader.end(of: base)
            var journal = Journal(base, writer: .random())
            try await journal.takeOver(behind: end, name: "another", time: end!.standing.time)
        }
        return isWritten
    }
}

/// A storage in memory that looks how much of a workspace is on disk when the next entry is put.
private final class WatchedTakeovers: ForwardingStorage {
    let base: any ObjectStorage = MemoryStorage()
    let watched = Mutex<Workspace?>(nil)
    let durableSequence = Mutex<UInt64?>(nil)

    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        let workspace = watched.withLock { workspace in
            defer { workspace = nil }
            return workspace
        }
        if let workspace {
            durableSequence.withLock { $0 = workspace.statistics.durableSequence }
        }
        return try await base.putIfAbsent(name, bytes)
    }
}

/// Lists nothing for a while.
private final class LateLists: ForwardingStorage {
    let base: any ObjectStorage
    private let end = Mutex<ContinuousClock.Instant>(.now)

    init(_ base: MemoryStorage) { self.base = base }

    func hide(for duration: Duration) {
        end.withLock { $0 = .now + duration }
    }

    func list(prefix: String, after name: String?) async throws -> [StoredObject] {
        if ContinuousClock.now < end.withLock({ $0 }) { return [] }
        return try await base.list(prefix: prefix, after: name)
    }
}
