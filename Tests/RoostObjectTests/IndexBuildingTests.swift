import Foundation
import Roost
import RoostEngine
import RoostTestSupport
import Testing

/// Indexes that are built over objects that are there, and what is written meanwhile.
@Suite(.timeLimit(.minutes(10))) struct IndexBuildingTests {
    private struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var name: String
        var rank: Int
        static var indexes: [Index<Item>] { [Index("rank", \.rank), Index("name", \.name)] }
    }

    private struct PlainItem: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
        var rank: Int
    }

    private func expectRight(_ items: Repository<Item>) throws {
        let states = try items.indexStates()
        #expect(states.count == Item.indexes.count)
        for state in states {
            #expect(state.progress == .built)
            #expect(state.faults.isEmpty, "\(state.name): \(state.faults.prefix(3))")
        }
    }

    /// Writers change few of an object's entries, and the building leaves just those to them.
    @Test func whatWritersChangeOfAnIndexThatIsBuiltStays() async throws {
        let seed = testSeed()
        let workspace = try await Workspace.inMemory()
        let count = 3_000
        let items = workspace.repository(of: Item.self, named: "items")
        // Before the indexes, as the program of another version.
        let plain = workspace.repository(of: PlainItem.self, named: "items")
        try await plain.saveAll((0..<count).map { PlainItem(id: $0, name: "n\($0)", rank: 0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(writer))
                    for round in 0..<2_000 {
                        let id = random.below(count)
                        if round % 16 == 0 {
                            try await items.delete(id)
                        } else {
                            let rank = random.below(100)
                            try await items.save(Item(id: id, name: "n\(id)", rank: rank))
                        }
                    }
                }
            }
            group.addTask { try await items.indexesBuilt() }
            try await group.waitForAll()
        }
        try expectRight(items)
    }

    /// A save without a deadline of an object that had one changes no field, and the index still
    /// has the object once the deadline is past.
    @Test func anObjectThatNoLongerExpiresKeepsItsEntries() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let items = workspace.repository(of: Item.self, named: "items")
        let item = Item(id: 1, name: "one", rank: 7)
        try await items.dictionary.set(
            item, forKey: items.key(of: 1), expiresIn: .seconds(60))
        try await items.indexesBuilt()
        try await items.save(item)
        time.advance(by: .seconds(61))
        #expect(try items[1] == item)
        #expect(try items.where { $0.rank == 7 }.fetch() == [item])
        try expectRight(items)
    }
}
