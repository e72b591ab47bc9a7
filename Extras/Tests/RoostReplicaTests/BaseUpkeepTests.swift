import Foundation
import Roost
import Synchronization
import Testing

@testable import RoostReplica

/// When bases are made, what hinders them, and what is read to go on with them.
@Suite(.timeLimit(.minutes(10))) struct BaseUpkeepTests {
    /// A base with the same snapshots would say nothing that the last one does not.
    @Test func noBaseIsMadeWhereNothingWasFlushedSince() async throws {
        let storage = MemoryStorage()
        let workspace = try await Workspace.inMemory()
        let d = workspace.dictionary("d")
        var options = quick
        options.minimumBytesBetweenBases = 1 << 10
        let replica = try Replica(of: workspace, to: storage, options: options)
        try await replica.waitUntilCopied()
        #expect(replica.status.baseCount == 1)
        let text = String(repeating: "x", count: 1_000)
        for number in 0..<100 {
            try await d.set(text, forKey: "k\(number)")
            try await replica.waitUntilCopied()
        }
        #expect(replica.status.baseCount == 1)
        // What was flushed makes one again.
        var number = 0
        #expect(
            try await eventually {
                number += 1
                try await d.set(text, forKey: "k\(number)")
                try await workspace.compact()
                try await replica.waitUntilCopied()
                return replica.status.baseCount > 1
            })
        try await replica.end()
        try await workspace.close()
    }

    /// Where many are kept, that would take longer than the copy may be old.
    @Test func copyingBeginsBeforeTheOlderBasesAreRead() async throws {
        try await withDirectory { directory in
            let storage = SlowBases()
            var workspace = try await Workspace.open(at: "\(directory)/w")
            var replica = try Replica(of: workspace, to: storage, options: quick)
            let text = String(repeating: "x", count: 1_000)
            #expect(
                try await eventually {
                    for number in 0..<100 {
                        try await workspace.dictionary("d").set(text, forKey: "k\(number)")
                    }
                    try await workspace.compact()
                    try await replica.waitUntilCopied()
                    return replica.status.baseCount > 2
                })
            try await replica.end()
            try await workspace.close()
            let end = try #require(try await JournalReader.end(of: storage.memory))
            let bases = try await BaseChain(from: end.standing.base, in: storage.memory).bases
            storage.held.withLock { $0 = Set(bases.dropFirst().map(\.name)) }
            workspace = try await Workspace.open(at: "\(directory)/w")
            var options = quick
            options.retention = .zero
            replica = try Replica(of: workspace, to: storage, options: options)
            try await workspace.dictionary("d").set("new", forKey: "new")
            let replicaBegun = replica
            let isCopied = Mutex(false)
            Task {
                try await replicaBegun.waitUntilCopied()
                isCopied.withLock { $0 = true }
            }
            #expect(try await eventually { isCopied.withLock { $0 } })
            storage.held.withLock { $0 = [] }
            // What they hold is removed once they are known.
            #expect(
                try await eventually {
                    for number in 0..<100 {
                        try await workspace.dictionary("d").set(text, forKey: "k\(number)")
                    }
                    try await workspace.compact()
                    let left = try await storage.memory.listAll(prefix: ObjectName.bases)
                    return !left.contains { $0.name == bases.last?.name }
                })
            try await replica.end()
            try await workspace.close()
        }
    }

    /// A storage that takes entries and no bases is troubled for as long, though each entry is taken.
    @Test func aBaseThatCannotBeWrittenIsToldWhileEntriesAreCopied() async throws {
        let storage = EntriesAlone()
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, options: quick)
        #expect(try await eventually { replica.status.baseTrouble != nil })
        for number in 0..<5 {
            let before = replica.status.logBytesCopied
            try await workspace.dictionary("d").set(number, forKey: "n")
            #expect(try await eventually { replica.status.logBytesCopied > before })
            #expect(replica.status.baseTrouble?.message == "no base is taken")
            #expect(replica.status.trouble == nil)
        }
        storage.takesBases.withLock { $0 = true }
        try await replica.waitUntilCopied()
        #expect(replica.status.baseTrouble == nil && replica.status.baseCount == 1)
        try await replica.end()
        try await workspace.close()
    }

    /// A file of the workspace's own that cannot be read keeps nothing from the copy that is in the log.
    @Test func aSnapshotThatCannotBeReadIsToldWhileEntriesAreCopied() async throws {
        try await withDirectory { directory in
            let workspace = try await Workspace.open(at: "\(directory)/w")
            let d = workspace.dictionary("d")
            var options = quick
            options.minimumBytesBetweenBases = 1 << 20
            let replica = try Replica(of: workspace, to: MemoryStorage(), options: options)
            try await replica.waitUntilCopied()
            var numbers = SeededNumbers(seed: testSeed)
            for number in 0..<1_000 {
                if number == 100 {
                    try await workspace.compact()
                    try cutSnapshots(in: "\(directory)/w")
                }
                let text = (0..<100).map { _ in "\(numbers.next())" }.joined()
                try await d.set(text, forKey: "k\(number)")
            }
            #expect(try await eventually { replica.status.baseTrouble?.code == .io })
            let before = replica.status.logBytesCopied
            try await d.set("more", forKey: "more")
            #expect(try await eventually { replica.status.logBytesCopied > before })
            #expect(replica.status.trouble == nil && replica.status.baseCount == 1)
            await replica.abandon()
            // What is cut may be found in the closing too.
            do { try await workspace.close() } catch {}
        }
    }

    /// What is behind the cut is as blocks are that the disk cannot read.
    private func cutSnapshots(in directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory)
        where name.hasPrefix("snapshot-") {
            let file = try FileHandle(
                forWritingTo: URL(fileURLWithPath: "\(directory)/\(name)"))
            try file.truncate(atOffset: 4096)
            try file.close()
        }
    }

    @Test func removalThatFailsIsToldWhileEntriesAreCopied() async throws {
        let storage = EntriesAlone()
        storage.takesBases.withLock { $0 = true }
        let workspace = try await Workspace.inMemory()
        let d = workspace.dictionary("d")
        var options = quick
        options.retention = .zero
        let replica = try Replica(of: workspace, to: storage, options: options)
        let text = String(repeating: "x", count: 1_000)
        #expect(
            try await eventually {
                for number in 0..<100 { try await d.set(text, forKey: "k\(number)") }
                try await workspace.compact()
                try await replica.waitUntilCopied()
                return replica.status.baseTrouble?.message == "nothing is removed"
            })
        #expect(replica.status.trouble == nil)
        try await replica.end()
        try await workspace.close()
    }

    @Test func aClockThatJumpsForwardMakesNothingOld() {
        let (minute, day) = (60_000 as UInt64, 86_400_000 as UInt64)
        let begin = 20_000 * day
        var clock = RetentionClock(time: begin, instant: 5)
        func now(_ time: UInt64, _ instant: UInt64) -> UInt64 {
            clock.now(time: begin + time, instant: 5 + instant, waiting: 7 * day) - begin
        }
        // As it goes, and where it is set by a little.
        #expect(now(minute, minute) == minute)
        #expect(now(11 * minute, 2 * minute) == 11 * minute)
        // A month ahead, and back again.
        #expect(now(30 * day, 3 * minute) == 12 * minute)
        #expect(now(30 * day + minute, 4 * minute) == 13 * minute)
        #expect(now(5 * minute, 5 * minute) == 5 * minute)
        #expect(now(day, day) == day)
        // A clock that was wrong before, and is right from here on, is believed in the end.
        #expect(now(60 * day, 2 * day) == 2 * day)
        #expect(now(66 * day, 8 * day) == 8 * day)
        #expect(now(67 * day, 9 * day) == 67 * day)
        #expect(now(68 * day, 10 * day) == 68 * day)
    }

    /// What was written before is all that shows it.
    @Test func aClockThatIsAheadFromTheBeginMakesNothingOld() {
        let (minute, day) = (60_000 as UInt64, 86_400_000 as UInt64)
        let last = 20_000 * day
        /// What counts as the time since the last entry, of a writer that begins so much later by its clock, and looks
        /// there, so long after its begin.
        func times(
            _ begin: UInt64, _ looks: [(time: UInt64, instant: UInt64)]
        ) -> [UInt64] {
            var clock = RetentionClock(time: last + begin, instant: 5)
            clock.begin(behind: last)
            return looks.map { look in
                clock.now(time: last + look.time, instant: 5 + look.instant, waiting: 7 * day)
                    - last
            }
        }
        let year = 365 * day
        // Ahead, and then set right.
        #expect(
            times(year, [(year, 0), (year + minute, minute), (3 * minute, 2 * minute)])
                == [0, minute, 3 * minute])
        // Nobody wrote for a year.
        #expect(
            times(year, [(year + day, day), (year + 8 * day, 8 * day)]) == [day, year + 8 * day])
        #expect(times(minute, [(minute, 0)]) == [minute])
        // The writer before was ahead.
        var behind = RetentionClock(time: last - day, instant: 5)
        behind.begin(behind: last)
        let now = behind.now(time: last - day, instant: 5, waiting: day)
        #expect(now == last - day)
    }

    /// What a storage's call waits for may never come, and may hear of no cancellation.
    @Test func whoStopsWaitsForNoCallThatHearsOfNothing() async throws {
        let storage = EntriesAlone()
        storage.takesBases.withLock { $0 = true }
        let workspace = try await Workspace.inMemory()
        let replica = try Replica(of: workspace, to: storage, options: quick)
        try await replica.waitUntilCopied()
        storage.isStuck.withLock { $0 = true }
        try await workspace.dictionary("d").set(1, forKey: "n")
        let outcome = Mutex<RoostError?>(nil)
        Task {
            do { try await replica.stop(within: .milliseconds(100)) } catch {
                outcome.withLock { $0 = asRoostError(error) }
            }
        }
        #expect(try await eventually { outcome.withLock { $0 } != nil })
        #expect(outcome.withLock { $0?.code } == .cancelled)
        storage.isStuck.withLock { $0 = false }
        try await workspace.close()
    }
}

/// A storage that does not answer who asks for some of its objects.
private final class SlowBases: ForwardingStorage {
    let memory = MemoryStorage()
    var base: any ObjectStorage { memory }
    let held = Mutex<Set<String>>([])

    func get(_ name: String, maximumSizeBytes: Int) async throws -> [UInt8]? {
        while held.withLock({ $0.contains(name) }) {
            try await Task.sleep(for: .milliseconds(5))
        }
        return try await memory.get(name, maximumSizeBytes: maximumSizeBytes)
    }
}

/// A storage that takes entries of the journal, removes nothing, and takes bases once it is told to.
private final class EntriesAlone: ForwardingStorage {
    let takesBases = Mutex(false)
    /// Entries are not answered, whether the task is cancelled or not.
    let isStuck = Mutex(false)
    let base: any ObjectStorage = MemoryStorage()

    func put(_ name: String, _ content: ObjectContent) async throws {
        guard takesBases.withLock({ $0 }) else {
            throw RoostError(.io, "no base is taken", file: name)
        }
        try await base.put(name, content)
    }
    func putIfAbsent(_ name: String, _ bytes: [UInt8]) async throws -> Bool {
        await Task {
            while isStuck.withLock({ $0 }) {
                do { try await Task.sleep(for: .milliseconds(5)) } catch {}
            }
        }.value
        return try await base.putIfAbsent(name, bytes)
    }
    func delete(_ name: String) async throws {
        throw RoostError(.io, "nothing is removed", file: name)
    }
}
