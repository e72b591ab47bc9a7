import Foundation
import RoostEngine
import RoostFormat
import RoostTestSupport
import Testing

@testable import Roost

/// What stands in a repository's dictionary or beside it that its type did not put there.
@Suite(.timeLimit(.minutes(5))) struct RoundTheRepositoryTests {
    private struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: String
        var rank: Int
        static var indexes: [Index<Item>] { [Index("rank", \.rank)] }
    }

    private struct OtherItem: Codable, Identifiable, Sendable, Indexed {
        var id: String
        var rank: Int
        static var indexes: [Index<OtherItem>] { [Index("other", \.rank)] }
    }

    private struct PlainItem: Codable, Identifiable, Sendable {
        var id: String
        var rank: Int
    }

    private func code(_ body: () async throws -> Void) async -> RoostError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RoostError)?.code }
    }

    private func expectRight<Item>(_ items: Repository<Item>, count: Int = 1) throws {
        let states = try items.indexStates()
        #expect(states.count == count)
        for state in states {
            #expect(state.progress == .built)
            #expect(state.faults.isEmpty, "\(state.name): \(state.faults.prefix(3))")
        }
    }

    // MARK: Objects under keys of others

    @Test func updateAllChangesWhatMatchedUnderItsOwnKey() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        try await items.dictionary.set(Item(id: "b", rank: 1), forKey: "a")
        try await items.save(Item(id: "b", rank: 5))
        try await items.indexesBuilt()
        #expect(try await items.where { $0.rank == 1 }.updateAll { $0.rank = 2 } == 1)
        #expect(try items["a"] == Item(id: "b", rank: 2))
        #expect(try items["b"] == Item(id: "b", rank: 5))
        #expect(try await items.all.updateAll { $0.rank += 10 } == 2)
        #expect(try items["a"]?.rank == 12)
        #expect(try items["b"]?.rank == 15)
        try expectRight(items)
        #expect(
            await code { _ = try await items.all.updateAll { $0.id += "c" } } == .conflict)
        #expect(await code { _ = try await items.update("a") { $0.id = "c" } } == .conflict)
        try await items.update("a") { $0.rank = 1 }
        #expect(try items["a"] == Item(id: "b", rank: 1))
        // To the identifier that its key is of.
        try await items.update("a") { $0.id = "a" }
        #expect(try items["a"] == Item(id: "a", rank: 1))
    }

    @Test(arguments: [false, true])
    func anIdentifierOfOtherBytesIsAnother(isTransaction: Bool) async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self)
        try await items.save(Item(id: "\u{e9}", rank: 1))
        try await items.indexesBuilt()
        let thrown = await code {
            if isTransaction {
                try await workspace.transaction { tx in
                    try tx.update("\u{e9}", in: items) { $0.id = "e\u{301}" }
                }
            } else {
                try await items.update("\u{e9}") { $0.id = "e\u{301}" }
            }
        }
        #expect(thrown == .conflict)
    }

    // MARK: Names that are equal to a string

    @Test func dictionariesOfCanonicallyEqualNamesAreGuardedEach() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            for name in ["caf\u{e9}", "cafe\u{301}"] {
                let items = workspace.repository(of: Item.self, named: name)
                try await items.save(Item(id: "a", rank: 1))
                try await items.indexesBuilt()
            }
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            for name in ["caf\u{e9}", "cafe\u{301}"] {
                let plain = workspace.repository(of: PlainItem.self, named: name)
                try await plain.save(PlainItem(id: "a", rank: 2))
            }
            for name in ["caf\u{e9}", "cafe\u{301}"] {
                let stored = try StoredRepository(workspace, name)
                #expect(stored.indexes.count == 1)
                #expect(stored.indexes.allSatisfy { $0.state == .marked })
                let items = workspace.repository(of: Item.self, named: name)
                #expect(try items.where { $0.rank == 2 }.fetch() == [Item(id: "a", rank: 2)])
                try await items.indexesBuilt()
                try expectRight(items)
            }
            try await workspace.close()
        }
    }

    @MainActor @Test func observedItemsOfCanonicallyEqualKeysAreTwo() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        let observed = ObservedRepository(items)
        observed.add(Item(id: "\u{e9}", rank: 1))
        observed.add(Item(id: "e\u{301}", rank: 2))
        #expect(observed.items.map(\.rank).sorted() == [1, 2])
        await observed.written()
        #expect(observed.failure == nil)
        #expect(try items.count == 2)
        #expect(observed.items.map(\.rank).sorted() == [1, 2])
    }

    // MARK: Two types

    @Test func aDictionaryHasTheIndexesOfOneType() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        let others = workspace.repository(of: OtherItem.self, named: "items")
        try await items.save(Item(id: "a", rank: 1))
        #expect(await code { try await others.save(OtherItem(id: "b", rank: 2)) } == .conflict)
        #expect(await code { try await others.insert(OtherItem(id: "b", rank: 2)) } == .conflict)
        #expect(await code { try await others.delete("a") } == .conflict)
        #expect(await code { _ = try others.where { $0.rank == 1 }.fetch() } == .conflict)
        #expect(await code { try await others.indexesBuilt() } == .conflict)
        #expect(await code { try await others.reindex() } == .conflict)
        let both = await code {
            try await workspace.transaction { tx in
                try tx.save(Item(id: "c", rank: 3), in: items)
                try tx.save(OtherItem(id: "d", rank: 4), in: others)
            }
        }
        #expect(both == .conflict)
        #expect(try others["a"]?.rank == 1)
        // The same type again, and another dictionary, have theirs.
        try await workspace.repository(of: Item.self, named: "items").save(Item(id: "e", rank: 5))
        let elsewhere = workspace.repository(of: OtherItem.self, named: "others")
        try await elsewhere.save(OtherItem(id: "a", rank: 1))
        try await elsewhere.indexesBuilt()
        try await items.indexesBuilt()
        #expect(try items.where { $0.rank >= 1 }.fetch().map(\.id) == ["a", "e"])
        try expectRight(items)
        try expectRight(elsewhere)
    }

    // MARK: A type that has no indexes any more

    @Test func aMarkThatIsGoneIsNotTakenAwayAgain() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Item.self, named: "items")
            for rank in 0..<20 { try await items.save(Item(id: "\(rank)", rank: rank)) }
            try await items.indexesBuilt()
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            let name = try #require(DictionaryName("items"))
            var engine = workspace.engine
            #expect(engine.guards.marks(of: name.prefix).count == 1)
            let plain = workspace.repository(of: PlainItem.self, named: "items")
            try await plain.save(PlainItem(id: "1", rank: 100))
            #expect(engine.guards.marks(of: name.prefix).isEmpty)
            // From now on a put is one record.
            let sequence = engine.lastSequence
            try await plain.save(PlainItem(id: "2", rank: 100))
            #expect(engine.lastSequence == sequence + 1)
            #expect(try workspace.storedIndexes().map(\.state) == [.marked])
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            engine = workspace.engine
            #expect(engine.guards.marks(of: name.prefix).isEmpty)
            // Nothing is dropped that a type declares again.
            let again = workspace.repository(of: Item.self, named: "items")
            #expect(try again.where { $0.rank == 100 }.count() == 2)
            try await again.indexesBuilt()
            #expect(try again.where { $0.rank == 100 }.count() == 2)
            try expectRight(again)
            try await workspace.dictionary("items").set(PlainItem(id: "3", rank: 100), forKey: "3")
            #expect(try again.where { $0.rank == 100 }.count() == 3)
            try await workspace.close()
        }
    }

    private struct FormerItem: Codable, Identifiable, Sendable, Indexed {
        var id: String
        var rank: Int
        static var indexes: [Index<FormerItem>] { [] }
    }

    @Test func aTypeThatDeclaresNoneDropsTheIndexes() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            try await workspace.repository(of: Item.self, named: "items")
                .save(Item(id: "a", rank: 1))
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            try await workspace.repository(of: FormerItem.self, named: "items").indexesBuilt()
            #expect(try workspace.storedIndexes().isEmpty)
            try await workspace.close()
        }
    }

    // MARK: Entries that cannot be

    private struct Long: Codable, Identifiable, Sendable, Indexed {
        var id: String
        var name: String
        var serial: Int
        static var indexes: [Index<Long>] {
            [Index("name", \.name), Index("serial", \.serial, isUnique: true)]
        }
    }

    private struct PlainLong: Codable, Identifiable, Sendable {
        var id: String
        var name: String
        var serial: Int
    }

    @Test func anObjectWhoseKeyLeavesNoRoomForAnEntryFailsOneIndexAlone() async throws {
        let workspace = try await Workspace.inMemory()
        let key = "long" + String(repeating: "x", count: 65_000)
        let plain = workspace.repository(of: PlainLong.self, named: "items")
        let name = String(repeating: "n", count: 1_000)
        try await plain.save(PlainLong(id: key, name: name, serial: 1))
        let items = workspace.repository(of: Long.self, named: "items")
        // Others are written, and values kept unique.
        try await items.save(Long(id: "a", name: "n", serial: 2))
        #expect(
            await code { try await items.save(Long(id: "b", name: "n", serial: 1)) } == .notUnique)
        await #expect {
            try await items.indexesBuilt()
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .conflict && error.message.contains("\"longxxx")
        }
        #expect(try items.where { $0.name == name }.fetch().map(\.id) == [key])
        #expect(
            await code { try await items.save(Long(id: key, name: name, serial: 1)) }
                == .keyTooLarge)
        try await items.delete(key)
        #expect(try items[key] == nil)
        try await items.save(Long(id: "b", name: "n", serial: 1))
        try await items.reindex()
        try await items.indexesBuilt()
        try expectRight(items, count: 2)
    }

    /// Appends two forms where its shape is of one.
    private struct Version: Codable, Sendable, Equatable, IndexRepresentable {
        var major: Int
        var minor: Int
        static var indexShape: IndexShape { Int.indexShape }
        func encode(into form: inout IndexForm) {
            major.encode(into: &form)
            minor.encode(into: &form)
        }
    }

    private struct Release: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var version: Version
        static var indexes: [Index<Release>] { [Index("version", \.version)] }
    }

    private struct Releases: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var versions: [Version]?
        static var indexes: [Index<Releases>] { [Index("versions", each: \.versions)] }
    }

    @Test func aTypeThatAppendsMoreThanItsShapeIsRefused() async throws {
        let workspace = try await Workspace.inMemory()
        let releases = workspace.repository(of: Release.self)
        let release = Release(id: 1, version: Version(major: 1, minor: 2))
        #expect(await code { try await releases.save(release) } == .encodingFailed)
        let lists = workspace.repository(of: Releases.self)
        let list = Releases(id: 1, versions: [release.version])
        #expect(await code { try await lists.save(list) } == .encodingFailed)
        try await lists.save(Releases(id: 1))
    }

    // MARK: Views

    @Test func aViewThatIsOlderThanAnIndexDoesNotHaveItAdoptedAnew() async throws {
        let workspace = try await Workspace.inMemory()
        let plain = workspace.repository(of: PlainItem.self, named: "items")
        try await plain.save(PlainItem(id: "a", rank: 1))
        let view = try workspace.readView()
        defer { view.close() }
        let items = workspace.repository(of: Item.self, named: "items")
        try await items.indexesBuilt()
        try await items.save(Item(id: "b", rank: 1))
        let query = items.where { $0.rank == 1 }
        #expect(try view.fetch(query).map(\.id) == ["a"])
        #expect(try view.explain(query).contains("index \"rank\" is newer than what is read"))
        #expect(items.indexes?.isReadyToWrite == true)
        // What is written round it is seen in a new view.
        try await plain.save(PlainItem(id: "c", rank: 1))
        #expect(try query.fetch().map(\.id) == ["a", "b", "c"])
        try await items.indexesBuilt()
        try expectRight(items)
    }

    // MARK: One after the other

    @Test(arguments: [10, 400, 5_000], [nil, 0])
    func objectsInTurnAreThoseOfTheLimit(limit: Int, least: Int?) async throws {
        let items = try await Workspace.inMemory().repository(of: PlainItem.self)
        let count = 1_000
        try await items.saveAll(
            (0..<count).map { PlainItem(id: "\($0)", rank: ($0 * 7_919) % count) })
        var query = items.order(by: \.rank).offset(3).limit(limit)
        if let least { query = query.where { $0.rank >= least } }
        var ranks: [Int] = []
        try query.forEach { ranks.append($0.rank) }
        #expect(ranks == Array((0..<count).dropFirst(3).prefix(limit)))
        #expect(try query.fetch().map(\.rank) == ranks)
    }

    @Test(arguments: [100, 400])
    func objectsInTurnOfAnIndexsOrderAreThoseOfTheLimit(limit: Int) async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        try await items.saveAll((0..<1_000).map { Item(id: "\($0)", rank: ($0 * 7_919) % 1_000) })
        try await items.indexesBuilt()
        let query = items.where { $0.id != "0" }.order(by: \.rank).limit(limit)
        var ranks: [Int] = []
        try query.forEach { ranks.append($0.rank) }
        #expect(ranks == Array((1..<1_000).prefix(limit)))
    }
}
