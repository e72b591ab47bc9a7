import Foundation
import Roost
import RoostEngine
import RoostIO
import RoostTestSupport
import Testing

/// Changes of one object, which are made at once where they can be, and else are transactions.
@Suite(.timeLimit(.minutes(10))) struct ChangeAtOnceTests {
    struct Note: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var rank: Int
        var slug: String
        var score: Double
        var tags: [String]

        static var indexes: [Index<Note>] {
            [
                Index("rank", \.rank, .descending(\.score)),
                Index("slug", \.slug, isUnique: true),
                Index("tags", each: \.tags, where: { $0.rank != 2 }),
                Index("score", \.score, isUnique: true, where: { $0.rank == 3 }),
            ]
        }

        init(_ random: inout SeededGenerator, id: Int) {
            self.id = id
            rank = random.below(5)
            slug = "s\(random.below(12))"
            score = random.once(in: 4) ? .nan : Double(random.below(6))
            tags = (0..<random.below(4)).map { _ in "t\(random.below(5))" }
        }

        static func == (left: Note, right: Note) -> Bool {
            (left.id, left.rank, left.slug, left.score.bitPattern)
                == (right.id, right.rank, right.slug, right.score.bitPattern)
                && left.tags == right.tags
        }
    }

    private static func workspace(
        at path: String? = nil, isDeclined: Bool = false
    ) async throws -> Workspace {
        try await Workspace.open(
            at: path ?? "/at-once", configuration: .init(durability: .process),
            fileSystem: path == nil ? MemoryFileSystem() : PosixFileSystem()
        ) { $0.declinesChangesAtOnce = isDeclined }
    }

    /// Whether the body of an update runs without a view, as it does where the change is made at once.
    private static func isMadeAtOnce(
        _ items: Repository<Note>, _ id: Int, _ durability: Durability? = nil
    ) async throws -> Bool? {
        let workspace = items.dictionary.workspace
        return try await items.update(id, durability: durability) { item in
            item.rank += 1
            return workspace.statistics.liveReadViewCount == 0
        }
    }

    @Test func anUpdateIsMadeAtOnceWhereNoSyncIsWaitedForAndNothingExpires() async throws {
        let workspace = try await Self.workspace()
        let items = workspace.repository(of: Note.self)
        try await items.indexesBuilt()
        var random = SeededGenerator(seed: 1)
        try await items.insert(Note(&random, id: 1))
        #expect(try await Self.isMadeAtOnce(items, 1) == true)
        #expect(try await Self.isMadeAtOnce(items, 1, .interval(.seconds(1))) == true)
        #expect(try await Self.isMadeAtOnce(items, 1, .synced) == false)
        #expect(try await Self.isMadeAtOnce(items, 2) == nil)
        // Of another's index nothing is known here: its mark goes, and the index is built anew.
        try await items.dictionary.set(
            Note(&random, id: 3), forKey: items.key(of: 3), expiresIn: .seconds(1000))
        try await items.indexesBuilt()
        #expect(try await Self.isMadeAtOnce(items, 3) == false)
        #expect(try items.indexStates().allSatisfy { $0.faults.isEmpty })
        try await workspace.close()
    }

    /// Objects, entries, errors and versions are those of transactions, after a reopening too.
    @Test(arguments: 0..<6)
    func aChangeAtOnceDoesWhatATransactionDoes(round: Int) async throws {
        try await withTemporaryDirectory { path in
            var random = SeededGenerator(seed: testSeed() &+ UInt64(round))
            let paths = ["\(path)/at-once", "\(path)/transactions"]
            var workspaces: [Workspace] = []
            for (place, path) in paths.enumerated() {
                workspaces.append(try await Self.workspace(at: path, isDeclined: place == 1))
            }
            for _ in 0..<3 {
                let repositories = workspaces.map { $0.repository(of: Note.self) }
                for items in repositories { try await items.indexesBuilt() }
                for _ in 0..<150 {
                    let (kind, id) = (random.below(9), random.below(10))
                    let note = Note(&random, id: id)
                    var outcomes: [String] = []
                    for items in repositories {
                        outcomes.append(await Self.outcome(of: kind, note, items))
                    }
                    #expect(outcomes[0] == outcomes[1], "\(kind) of \(note)")
                    if random.once(in: 40) { for items in workspaces { try await items.compact() } }
                }
                var last: [UInt64] = []
                for (place, items) in repositories.enumerated() {
                    #expect(try items.indexStates().allSatisfy { $0.faults.isEmpty })
                    let marks = workspaces[place].dictionary("marks")
                    try await marks.set(1, forKey: "last")
                    last.append(try marks.entry(forKey: "last", as: Int.self).version)
                }
                #expect(last[0] == last[1], "one frame each")
                #expect(
                    try await repositories[0].loadAll() == (try await repositories[1].loadAll()))
                for place in workspaces.indices {
                    try await workspaces[place].close()
                    workspaces[place] = try await Self.workspace(
                        at: paths[place], isDeclined: place == 1)
                }
            }
            for workspace in workspaces { try await workspace.close() }
        }
    }

    private static func outcome(
        of kind: Int, _ note: Note, _ items: Repository<Note>
    ) async -> String {
        do {
            switch kind {
            case 0...1: try await items.insert(note)
            case 2...3: try await items.save(note)
            case 4...5:
                let found = try await items.update(note.id) { item in
                    if note.rank == 0 { throw RoostError(.cancelled, "the body's own") }
                    item.slug = note.slug
                    item.tags = note.tags
                    item.score = note.score
                    return item.rank
                }
                return "\(found as Int?, default: "none")"
            case 6: try await items.update(note.id) { $0.id += note.rank }
            default: try await items.delete(note.id)
            }
            return "done"
        } catch let error as RoostError {
            let cause = error.cause as? NotUnique
            return "\(error.code) \(error.message) \(cause?.index ?? "") \(cause?.otherKey ?? "")"
        } catch { return "\(error)" }
    }

    struct Plain: Codable, Identifiable, Sendable, Equatable {
        var id: Int
        var count: Int
        var other = 0
    }

    /// The contender writes behind the read and before the check.
    @Test func anUpdateThatAnotherWasBeforeRunsAgain() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Self.workspace(at: path)
            let items = workspace.repository(of: Plain.self)
            try await items.insert(Plain(id: 1, count: 1))
            var runs = 0
            try await items.update(1) { item in
                runs += 1
                item.count += 1
                guard runs == 1 else { return }
                let other = Plain(id: 1, count: 10, other: 5)
                try items.dictionary.enqueue(other, forKey: items.key(of: 1)).get()
            }
            #expect(runs == 2)
            try await workspace.close()
            let reopened = try await Self.workspace(at: path)
            #expect(
                try reopened.repository(of: Plain.self)[1] == Plain(id: 1, count: 11, other: 5))
            try await reopened.close()
        }
    }

    @Test(arguments: [true, false])
    func noChangeOfManyTasksIsLost(isDeclined: Bool) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Self.workspace(at: path, isDeclined: isDeclined)
            let items = workspace.repository(of: Note.self)
            try await items.indexesBuilt()
            var random = SeededGenerator(seed: 3)
            for id in 0..<3 {
                var note = Note(&random, id: id)
                (note.rank, note.slug) = (0, "\(id)")
                try await items.insert(note)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<4 {
                    group.addTask {
                        for number in 0..<300 {
                            let id = (task + number) % 3
                            let durability: Durability = number % 100 == 7 ? .synced : .process
                            try await items.update(id, durability: durability) { $0.rank += 1 }
                            if number % 50 == 0 { try await workspace.compact() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try items.indexStates().allSatisfy { $0.faults.isEmpty })
            try await workspace.close()
            let reopened = try await Self.workspace(at: path)
            let ranks = try await reopened.repository(of: Note.self).loadAll().map(\.rank)
            #expect(ranks == [400, 400, 400])
            try await reopened.close()
        }
    }

    /// One of those who insert objects with one value that is to be unique has it.
    @Test func aUniqueValueIsTakenOnceByManyTasks() async throws {
        let workspace = try await Self.workspace()
        let items = workspace.repository(of: Note.self)
        try await items.indexesBuilt()
        let taken = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    var count = 0
                    for number in 0..<200 {
                        var note = Note(&random, id: task * 1000 + number)
                        (note.rank, note.slug) = (1, "\(number)")
                        do {
                            try await items.insert(note)
                            count += 1
                        } catch let error as RoostError where error.code == .notUnique {}
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(taken == 200)
        #expect(try items.count == 200)
        #expect(try items.indexStates().allSatisfy { $0.faults.isEmpty })
        try await workspace.close()
    }
}
