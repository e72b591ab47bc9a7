import Foundation
import Roost
import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

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

    /// The story: a removal was enqueued and had no place among the changes yet; an index was built without its
    /// object; then the disk was full, so that the removal was given up and the object was there again.
    @Test func aRemovalThatIsGivenUpLeavesNoObjectWithoutItsEntry() async throws {
        try await withTemporaryDirectory { path in
            let failsFiles = Flag()
            let fileSystem = ObservedFileSystem { call in
                guard case .createFile(let name) = call, name.hasPrefix("log-") else { return }
                if failsFiles.isSet {
                    throw RoostError(.outOfSpace, "the test lets the disk be full")
                }
            }
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process),
                fileSystem: fileSystem)
            let plain = workspace.repository(of: Named.Plain.self, named: "items")
            // What is larger than this does not fit where the log has no room for a piece of filling.
            let long = String(repeating: "k", count: 40_000)
            for id in ["a", long, "z"] { try await plain.save(.init(id: id, rank: 7)) }
            let items = workspace.repository(of: Named.self, named: "items")
            let shard = workspace.engine.shards[0]
            let name = DictionaryName("items")!
            let key = items.key(of: long)
            let place = try await shard.takePlace(
                shard.claim(key, name, hash: workspace.engine.hash(of: key, in: name)))
            let failures = workspace.failures
            try items.dictionary.enqueueRemoval(forKey: key).get()
            #expect(try items[long] == nil)
            let isBuilt = Flag()
            let building = Task {
                // Where the log is full when a piece of the building comes, it ends with an error.
                do { try await items.indexesBuilt() } catch {}
                isBuilt.set(true)
            }
            // It waits for the removal, or does not.
            while !isBuilt.isSet,
                shard.turn.withLock({ $0.queue.count }) < 3
            {
                try await Task.sleep(for: .milliseconds(1))
            }
            failsFiles.set(true)
            let filling = workspace.dictionary("filling")
            var isFull = false
            while !isFull {
                do {
                    try await filling.set([UInt8](repeating: 1, count: 30_000), forKey: "f")
                } catch let error as RoostError where error.code == .outOfSpace {
                    isFull = true
                }
            }
            shard.giveBack(place)
            for await failure in failures {
                #expect(failure.code == .outOfSpace)
                break
            }
            failsFiles.set(false)
            await building.value
            try await items.indexesBuilt()
            #expect(try items[long] != nil)
            #expect(try items.where { $0.rank == 7 }.fetch().map(\.id) == ["a", long, "z"])
            for state in try items.indexStates() {
                #expect(state.progress == .built)
                #expect(state.faults.isEmpty, "\(state.name): \(state.faults.prefix(3))")
            }
            do { try await workspace.close() } catch let error as RoostError {
                #expect(error.code == .outOfSpace)
            }
        }
    }

    private final class Flag: Sendable {
        private let value = Atomic(false)
        var isSet: Bool { value.load(ordering: .sequentiallyConsistent) }
        func set(_ isSet: Bool) { value.store(isSet, ordering: .sequentiallyConsistent) }
    }

    private struct Named: Codable, Identifiable, Sendable, Indexed {
        var id: String
        var rank: Int
        static var indexes: [Index<Named>] { [Index("rank", \.rank)] }

        struct Plain: Codable, Identifiable, Sendable {
            var id: String
            var rank: Int
        }
    }
}
