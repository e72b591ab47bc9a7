import Foundation
import Roost
import RoostTestSupport
import Testing

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
