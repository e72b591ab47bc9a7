import Roost
import RoostShared
import RoostTestSupport
import Testing

struct Chore: Codable, Identifiable, Equatable, Sendable {
    var id: Int
    var owner: String
    var priority: Int
    var due: Double?
    var slug: String
    var tags: [String] = []
}

extension Chore: Indexed {
    static var indexes: [Index<Chore>] {
        [
            Index("owner-priority", \.owner, .descending(\.priority)),
            Index("priority", \.priority),
            Index("due", \.due, where: { $0.owner != "nobody" }),
            Index("slug", \.slug, isUnique: true),
            Index("tags", each: \.tags),
        ]
    }
}

/// The same objects, as a version of the service that declares other indexes has them.
private struct OlderChore: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var owner: String
    var priority: Int
    var due: Double?
    var slug: String
    var tags: [String] = []
    static var indexes: [Index<OlderChore>] {
        [Index("slug", \.slug, isUnique: true), Index("owner", \.owner)]
    }
}

func makeChore(_ id: Int, owner: String = "ada", priority: Int = 0, slug: String? = nil) -> Chore {
    Chore(id: id, owner: owner, priority: priority, slug: slug ?? "s\(id)")
}

@Suite struct IndexedRepositoryTests {
    private let engine = MemoryEngine()

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    private func expectRefused(
        _ code: RoostError.Code, _ comment: Comment? = nil, _ body: () async throws -> Void
    ) async {
        let error = await #expect(throws: RoostError.self, comment) { try await body() }
        #expect(error?.code == code, comment)
    }

    @Test func anOrderThatIsAListIsAnIndexesToo() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        let all = (0..<30).map { makeChore($0, owner: "owner \($0 % 3)", priority: $0 % 7) }
        try await tasks.saveAll(all)
        try await tasks.buildIndexes()
        let order: [OrderedField<Chore>] = [.ascending(\.owner), .descending(\.priority)]
        let expected = all.sorted {
            ($0.owner, -$0.priority, $0.id) < ($1.owner, -$1.priority, $1.id)
        }
        #expect(try await tasks.order(by: order).fetch() == expected)
        let some = tasks.where { $0.owner >= "owner 1" }.order(by: order).limit(4)
        let rest = expected.filter { $0.owner >= "owner 1" }
        #expect(try await some.fetch() == Array(rest.prefix(4)))
        let none: [OrderedField<Chore>] = []
        #expect(try await tasks.order(by: none).fetch().map(\.id) == Array(0..<30))
        await workspace.close()
    }

    @Test func aQueryNoIndexAnswersIsRefusedAndSaysWhatIsMissing() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.saveAll((0..<5).map { makeChore($0, priority: $0) })
        let error = await #expect(throws: RoostError.self) {
            try await tasks.where { $0.priority > 2 }.fetch()
        }
        #expect(error?.code == .notIndexed)
        #expect(error?.message.contains("\"priority\" would, once `buildIndexes()`") == true)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.priority > 2 }.fetch().map(\.id) == [3, 4])
        let unindexed = tasks.where { $0.id < $0.priority }
        await expectRefused(.notIndexed) { _ = try await unindexed.fetch() }
        await expectRefused(.notIndexed) { _ = try await tasks.order(by: \.due).limit(1).fetch() }
        #expect(try await tasks.where { $0.id > 2 }.fetch().map(\.id) == [3, 4])
        #expect(try await tasks.all.fetch().count == 5)
        #expect(try await tasks.order(by: \.id, .descending).fetch().map(\.id) == [4, 3, 2, 1, 0])
        #expect(
            try await tasks.where { $0.priority > 2 }.explain()
                == "index \"priority\": priority > 2")
    }

    @Test func whatIsUniqueStaysSo() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        try await tasks.save(makeChore(1, slug: "a"))
        let error = await #expect(throws: RoostError.self) {
            try await tasks.save(makeChore(2, slug: "a"))
        }
        #expect(error?.code == .notUnique)
        #expect((error?.cause as? NotUnique)?.index == "slug")
        #expect((error?.cause as? NotUnique)?.otherKey == 1.key)
        #expect(try await tasks.count == 1)
        // Its own it may keep, and give up.
        try await tasks.save(makeChore(1, priority: 5, slug: "a"))
        try await tasks.update(1) { $0?.slug = "b" }
        try await tasks.insert(makeChore(2, slug: "a"))
        await expectRefused(.alreadyExists) { try await tasks.insert(makeChore(2, slug: "c")) }
        try await tasks.delete(2)
        await expectRefused(.notUnique) {
            try await tasks.saveAll([makeChore(3, slug: "x"), makeChore(4, slug: "x")])
        }
        #expect(try await tasks.where { $0.slug == "b" }.first()?.priority == 5)
        #expect(try await tasks.where { $0.slug == "a" }.count() == 0)

        // Of many at once one has it.
        let won = try await withThrowingTaskGroup(of: Bool.self) { group in
            for id in 10..<20 {
                group.addTask {
                    do {
                        try await tasks.save(makeChore(id, slug: "one"))
                        return true
                    } catch let error as RoostError where error.code == .notUnique { return false }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(won == 1)
        #expect(try await tasks.where { $0.slug == "one" }.count() == 1)
    }

    @Test func replacingGoesByTheVersion() async throws {
        let tasks = try await connect().repository(of: Chore.self)
        try await tasks.buildIndexes()
        try await tasks.save(makeChore(1))
        let entry = try await tasks.entry(of: 1)
        let newer = try await tasks.replace(entry, with: makeChore(1, priority: 7))
        await expectRefused(.conflict) {
            try await tasks.replace(entry, with: makeChore(1, priority: 8))
        }
        try await tasks.replace(newer, with: makeChore(1, priority: 9))
        #expect(try await tasks.where { $0.priority == 9 }.count() == 1)
        #expect(try await tasks.where { $0.priority == 7 }.count() == 0)
    }

    /// What is written past the indexes takes them away, whoever writes it, so that no query misses an object.
    /// Its stored form has whole numbers.
    private struct Rounded: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var at: Double
        static var indexes: [Index<Rounded>] { [Index("at", \.at)] }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(id, forKey: .id)
            try values.encode(at.rounded(.down), forKey: .at)
        }
    }

    @Test func indexesHaveWhatIsStoredAndNotWhatWasGiven() async throws {
        let workspace = try await connect()
        let rounded = workspace.repository(of: Rounded.self)
        try await rounded.buildIndexes()
        try await rounded.insert(Rounded(id: 1, at: 1.4))
        #expect(try await rounded.where { $0.at == 1 }.fetch().count == 1)
        #expect(try await rounded.where { $0.at < 2 }.count() == 1)
        try await rounded.delete(1)
        #expect(try await rounded.where { $0.at < 2 }.count() == 0)
    }

    /// The room of a commit is the same for the first that takes indexes away.
    @Test func asMuchIsWrittenByKeysWhereThereAreIndexes() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.save(makeChore(0))
        try await tasks.buildIndexes()
        let most = (0..<126).map { ($0.key, makeChore($0)) }
        try await workspace.dictionary("Chore").setAll(most)
        #expect(try await tasks.count == 126)
        await expectRefused(.notIndexed, "a query") {
            _ = try await tasks.where { $0.priority == 0 }.fetch()
        }
    }

    @Test(arguments: ["set", "setAll", "update", "removeAll", "transaction", "other", "elsewhere"])
    func writingByKeysTakesTheIndexesAway(how: String) async throws {
        let workspace = try await connect()
        let elsewhere = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        // Both know that there are no indexes; one of them is to find out that there are.
        try await elsewhere.dictionary("Chore").set(makeChore(9), forKey: 9.key)
        try await tasks.save(makeChore(0))
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.priority == 0 }.count() == 2)
        let new = makeChore(5, priority: 0)
        let values = (how == "elsewhere" ? elsewhere : workspace).dictionary("Chore")
        switch how {
        case "setAll": try await values.setAll([(5.key, new)])
        case "update": try await values.update(5.key, default: new) { $0.priority = 0 }
        case "removeAll": try await values.removeAll()
        case "transaction":
            try await workspace.transaction { try $0.set(new, forKey: 5.key, in: values) }
        case "other":
            // By a repository that declares only one of them, which is kept.
            let older = workspace.repository(of: OlderChore.self, named: "Chore")
            try await older.save(OlderChore(id: 5, owner: "bea", priority: 0, slug: "s5"))
        default: try await values.set(new, forKey: 5.key)
        }
        await expectRefused(.notIndexed, "\(how)") {
            _ = try await tasks.where { $0.priority == 0 }.fetch()
        }
        if how == "other" {
            #expect(try await tasks.where { $0.slug == "s5" }.count() == 1)
        }
        try await tasks.buildIndexes()
        let left = how == "removeAll" ? 0 : 3
        #expect(try await tasks.where { $0.priority == 0 }.fetch().count == left, "\(how)")
        #expect(try await tasks.where { $0.slug.hasPrefix("s") }.count() == left, "\(how)")
    }

    @Test func objectsAndValuesInOneTransaction() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        let totals = workspace.dictionary("totals")
        try await tasks.buildIndexes()
        try await workspace.transaction { attempt in
            try await attempt.insert(makeChore(1, slug: "a"), in: tasks)
            try await attempt.save(makeChore(2, slug: "b"), in: tasks)
            #expect(try await attempt.find(2, in: tasks)?.slug == "b")
            try attempt.set(2, forKey: "n", in: totals)
        }
        try await workspace.transaction { attempt in
            try await attempt.delete(1, in: tasks)
            try await attempt.save(makeChore(2, slug: "a"), in: tasks)
        }
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [2])
        #expect(try await tasks.where { $0.slug == "b" }.count() == 0)
        #expect(try await totals.load("n", as: Int.self) == 2)
        await expectRefused(.notUnique) {
            try await workspace.transaction { attempt in
                try attempt.set(3, forKey: "n", in: totals)
                try await attempt.insert(makeChore(3, slug: "a"), in: tasks)
            }
        }
        #expect(try await totals.load("n", as: Int.self) == 2)
    }

    /// The entries of what it takes away by keys are there still, and hold no value.
    @Test func aValueThatATransactionTakesAwayByKeysIsFree() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        try await tasks.saveAll([makeChore(1, slug: "a"), makeChore(2, slug: "b")])
        try await workspace.transaction { transaction in
            try transaction.removeValue(forKey: tasks.key(of: 1), in: tasks.dictionary)
            try await transaction.insert(makeChore(3, slug: "a"), in: tasks)
        }
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [3])
        try await workspace.transaction { transaction in
            try transaction.removeAll(in: tasks.dictionary)
            try await transaction.save(makeChore(4, slug: "b"), in: tasks)
            try await transaction.save(makeChore(2, slug: "a"), in: tasks)
        }
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [2])
        #expect(try await tasks.where { $0.slug == "b" }.fetch().map(\.id) == [4])
        await expectRefused(.notUnique) { try await tasks.insert(makeChore(5, slug: "a")) }
        await workspace.close()
    }

    @Test func moreThanTheEngineTakesIsTooLarge() async throws {
        let tasks = try await connect().repository(of: Chore.self)
        try await tasks.buildIndexes()
        // Four entries and the object, of which 128 fit with the mark.
        try await tasks.saveAll((0..<25).map { makeChore($0) })
        await expectRefused(.tooLarge) {
            try await tasks.saveAll((100..<130).map { makeChore($0) })
        }
        #expect(try await tasks.count == 25)
    }

    /// Two build while others write: each index has what reading every object gives.
    @Test func indexesAreBuiltBesideWriters() async throws {
        let seed = testSeed()
        let one = try await connect().repository(of: Chore.self)
        let two = try await connect().repository(of: Chore.self)
        for start in stride(from: 0, to: 300, by: 20) {
            try await one.saveAll((start..<start + 20).map { makeChore($0, priority: $0 % 7) })
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await one.buildIndexes() }
            group.addTask { try await two.buildIndexes() }
            for writer in 0..<3 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(writer))
                    for _ in 0..<100 {
                        let id = Int.random(in: 0..<320, using: &random)
                        let tasks = writer == 0 ? one : two
                        if Bool.random(using: &random) {
                            try await tasks.save(makeChore(id, priority: id % 5, slug: "t\(id)"))
                        } else {
                            try await tasks.delete(id)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let all = try await one.loadAll()
        for priority in 0..<7 {
            let found = try await two.where { $0.priority == priority }.fetch()
            #expect(found == all.filter { $0.priority == priority }, "seed \(seed)")
        }
        #expect(
            try await one.where { $0.slug.hasPrefix("t") }.count()
                == all.count { $0.slug.hasPrefix("t") }, "seed \(seed)")
    }

    @Test func whatCannotBeIndexedIsSaid() async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        let values = workspace.dictionary("Chore")
        try await values.set(makeChore(1), forKey: 1.key, expiresIn: .seconds(3600))
        await expectRefused(.notIndexed) { try await tasks.buildIndexes() }
        await expectRefused(.notIndexed) { _ = try await tasks.where { $0.priority > 0 }.count() }
        try await values.setAll([
            (1.key, makeChore(1, slug: "a")), (2.key, makeChore(2, slug: "a")),
        ])
        await expectRefused(.notUnique) { try await tasks.buildIndexes() }
        try await values.set("no task", forKey: 2.key)
        await expectRefused(.typeMismatch) { try await tasks.buildIndexes() }
        try await tasks.delete(2)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [1])
    }

    /// What keeps an index from being built is changed and deleted as anything else.
    @Test func whatIsTooLongForAnIndexIsMended() async throws {
        let limited = MemoryEngine(
            limits: SharedLimits(
                operationCount: 128, commitSizeBytes: 3 << 19, keySizeBytes: 2_000))
        let workspace = try await SharedWorkspace.connect(to: .memory(limited), namespace: "test")
        let tasks = workspace.repository(of: Chore.self)
        let long = String(repeating: "x", count: 1_100)
        try await tasks.saveAll([
            makeChore(1), makeChore(2, slug: long), makeChore(3, slug: long),
        ])
        await expectRefused(.valueTooLarge) { try await tasks.buildIndexes() }
        try await tasks.update(2) { $0?.slug = "b" }
        try await tasks.delete(3)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "b" }.fetch().map(\.id) == [2])
        // Each zero is two bytes of an entry's key.
        let zeros = String(repeating: "\0", count: 1_000)
        let values = workspace.dictionary("Chore")
        try await values.setAll([
            (3.key, makeChore(3, owner: zeros)), (4.key, makeChore(4, owner: zeros)),
        ])
        await expectRefused(.keyTooLarge) { try await tasks.buildIndexes() }
        try await tasks.update(3) { $0?.owner = "bob" }
        try await tasks.delete(4)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.owner == "bob" }.fetch().map(\.id) == [3])
        await workspace.close()
    }

    /// Until an index is built an object may have a value without an entry, and another be given the value: whoever of the
    /// two loses it leaves the other its entry.
    @Test(arguments: ["save", "saveAll", "delete"])
    func aValueThatTwoHaveIsKeptForWhoHasTheEntry(how: String) async throws {
        let workspace = try await connect()
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.saveAll([
            makeChore(1, slug: "a"), makeChore(2, slug: "b"), makeChore(3, slug: "c"),
            makeChore(4, slug: "c"),
        ])
        // Of objects of which two have one value none has an entry.
        await expectRefused(.notUnique) { try await tasks.buildIndexes() }
        try await tasks.save(makeChore(2, slug: "a"))
        switch how {
        case "save": try await tasks.save(makeChore(1, slug: "d"))
        case "saveAll": try await tasks.saveAll([makeChore(1, slug: "d")])
        default: try await tasks.delete(1)
        }
        await expectRefused(.notUnique) { try await tasks.insert(makeChore(5, slug: "a")) }
        try await tasks.delete(4)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [2])
        #expect(try await tasks.where { $0.slug == "a" }.count() == 1)
        await workspace.close()
    }

    /// Its deadline is past, and the engine has not removed it yet.
    @Test func whatHasExpiredIsNotIndexed() async throws {
        let time = SettableTime()
        let workspace = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine(tellsTime: false)), namespace: "test",
            configuration: .init(callDeadline: .seconds(120), clock: .settable(time)))
        let values = workspace.dictionary("Chore")
        try await values.set(makeChore(1, slug: "a"), forKey: 1.key, expiresIn: .seconds(3600))
        try await values.set(makeChore(2, slug: "a"), forKey: 2.key)
        time.advance(by: .seconds(3601))
        let tasks = workspace.repository(of: Chore.self)
        try await tasks.buildIndexes()
        #expect(try await tasks.where { $0.slug == "a" }.fetch().map(\.id) == [2])
        try await tasks.save(makeChore(1, slug: "b"))
        #expect(try await tasks.where { $0.slug == "b" }.fetch().map(\.id) == [1])
        await workspace.close()
    }
}
