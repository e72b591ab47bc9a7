import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// A list of objects that have indexes: what it adds and removes is written with its entries.
@MainActor
@Suite(.timeLimit(.minutes(10))) struct ObservedObjectsTests {
    private nonisolated struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var name: String
        static var indexes: [Index<Item>] { [Index("name", \.name, isUnique: true)] }
    }

    @Test func whatIsAddedKeepsTheIndexes() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        try await items.save(Item(id: 1, name: "one"))
        try await items.indexesBuilt()
        let list = ObservedRepository(items)
        while !list.isLoaded { await Task.yield() }
        list.add(Item(id: 2, name: "two"))
        list.add(Item(id: 3, name: "three"))
        list.add(Item(id: 3, name: "third"))
        list.remove(1)
        #expect(list.items.map(\.name) == ["two", "third"])
        await list.written()
        let third = items.where { $0.name == "third" }
        #expect(
            try third.explain() == "index \"name\", name = \"third\": 1 entries, 1 objects read")
        #expect(try items.all.fetch().map(\.name) == ["two", "third"])
        #expect(list.failure == nil)
    }

    /// Others take the index away by writing the dictionary by its keys: what is added waits for the index, and
    /// closing waited for what was added.
    @Test func closingEndsBesideAWriterByKeys() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self)
        for id in 0..<500 { try await items.save(Item(id: id, name: "item \(id)")) }
        let list = ObservedRepository(items)
        while !list.isLoaded { await Task.yield() }
        let begin = ContinuousClock.now
        let writer = Task.detached {
            let dictionary = items.dictionary
            let item = Item(id: 1, name: "item 1")
            while begin.duration(to: .now) < .seconds(90) {
                do { try await dictionary.set(item, forKey: items.key(of: 1)) } catch { return }
                // It would have a thread of the pool for itself.
                await Task.yield()
            }
        }
        for id in 3_000..<3_002 { list.add(Item(id: id, name: "item \(id)")) }
        try await workspace.close()
        // A busy machine takes seconds for what is done in parts of one.
        #expect(begin.duration(to: .now) < .seconds(60))
        await writer.value
        await list.written()
        if let failure = list.failure { #expect(failure.code == .closed) }
    }

    /// An index that is being built is waited for.
    @Test func closingWritesWhatWasAddedBeforeTheIndexWasBuilt() async throws {
        try await withTemporaryDirectory { path in
            let plain = try await Workspace.open(at: path)
            let stored = (0..<5_000).map { ("\($0)", Item(id: $0, name: "item \($0)")) }
            let keys = plain.repository(of: Item.self)
            try await plain.dictionary(keys.dictionary.name).setAll(
                stored.map { (keys.key(of: $1.id), $1) })
            try await plain.close()
            let workspace = try await Workspace.open(at: path)
            let list = ObservedRepository(workspace.repository(of: Item.self))
            list.add(Item(id: 9_999, name: "added"))
            try await workspace.close()
            await list.written()
            #expect(list.failure == nil)
            let again = try await Workspace.open(at: path)
            #expect(try again.repository(of: Item.self)[9_999]?.name == "added")
            try await again.close()
        }
    }

    /// Of what was changed here nothing is remembered once it has been told.
    @Test func ownChangesAreForgottenOnceTheyAreTold() {
        var own = OwnChanges()
        let (a, b, c) = (Array("a".utf8), Array("b".utf8), Array("c".utf8))
        func expect(
            _ key: [UInt8], by version: UInt64, isPassed: Bool,
            _ place: SourceLocation = #_sourceLocation
        ) {
            let passes = own.isPassed(key, by: version)
            #expect(passes == isPassed, sourceLocation: place)
        }
        own.note(a, 3)
        own.note(b, 5)
        expect(a, by: 2, isPassed: false)
        expect(a, by: 3, isPassed: true)
        expect(a, by: 2, isPassed: true)
        expect(c, by: 1, isPassed: true)
        #expect(own.keys == [b])
        // Changed again meanwhile.
        own.note(b, 8)
        own.forget(before: 6)
        expect(b, by: 7, isPassed: false)
        // The batch may have more that is not told yet.
        own.forget(before: 8)
        #expect(own.contains(b))
        own.forget(before: 9)
        #expect(own.count == 0)
        // Enqueued, and without a place.
        own.note(c, nil)
        own.forget(before: 100)
        #expect(own.hasUnsettled)
        expect(c, by: 100, isPassed: false)
        own.settle(120)
        #expect(!own.hasUnsettled)
        expect(c, by: 119, isPassed: false)
        expect(c, by: 120, isPassed: true)
        for version in 1...1_000 {
            own.note(Array("\(version)".utf8), UInt64(version))
            own.forget(before: UInt64(version))
        }
        #expect(own.count == 1)
    }

    @Test func whatIsTakenLeavesTheListAgain() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        try await items.save(Item(id: 1, name: "one"))
        try await items.save(Item(id: 2, name: "two"))
        let list = ObservedRepository(items)
        while !list.isLoaded { await Task.yield() }
        list.add(Item(id: 3, name: "one"))
        list.add(Item(id: 2, name: "one"))
        #expect(list.items.map(\.name) == ["one", "one", "one"])
        await list.written()
        #expect(list.failure?.code == .notUnique)
        #expect(list.items.map(\.name) == ["one", "two"])
        #expect(try items.all.fetch().map(\.name) == ["one", "two"])
    }

    /// Others write the same items meanwhile: in the end the list shows what is stored.
    @Test func aListBesideOtherWritersShowsWhatIsStored() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        let list = ObservedRepository(items)
        while !list.isLoaded { await Task.yield() }
        let seed = testSeed()
        let others = Task.detached {
            var random = SeededGenerator(seed: seed)
            for round in 0..<300 {
                let id = random.below(8)
                try await items.save(Item(id: id, name: "other \(id) \(round)"))
                if random.once(in: 3) { try await items.delete(random.below(8)) }
            }
        }
        var random = SeededGenerator(seed: seed &+ 1)
        for round in 0..<300 {
            let id = random.below(8)
            if random.once(in: 3) {
                list.remove(id)
                #expect(!list.items.contains { $0.id == id })
            } else {
                list.add(Item(id: id, name: "mine \(id) \(round)"))
                #expect(list.items.first { $0.id == id }?.name == "mine \(id) \(round)")
            }
            if random.once(in: 4) { await Task.yield() }
        }
        try await others.value
        await list.written()
        let stored = try items.all.fetch()
        while list.items != stored { await Task.yield() }
        #expect(list.failure == nil)
    }
}
