import Foundation
import Roost
import Testing

/// Objects that are classes, which whoever has one can change: nobody else sees that before it is saved.
@Suite("Objects of classes") struct ClassObjectTests {
    private func machines(_ workspace: Workspace) async throws -> Repository<Machine> {
        let machines = workspace.repository(of: Machine.self)
        try await machines.saveAll((0..<20).map { Machine(id: $0, name: "m\($0)", load: $0) })
        try await machines.indexesBuilt()
        return machines
    }

    @Test(
        "An update moves an object's index entries, at once, in a transaction and for all that match"
    )
    func anUpdateMovesEntries() async throws {
        let workspace = try await Workspace.inMemory()
        let machines = try await machines(workspace)
        try await machines.update(3) { $0.load = 100 }
        #expect(try machines.where { $0.load == 100 }.fetch().map(\.id) == [3])
        #expect(try machines.where { $0.load == 3 }.count() == 0)
        try await workspace.transaction { transaction in
            try transaction.update(4, in: machines) {
                $0.load = 200
                $0.name = "four"
            }
            #expect(try transaction.fetch(machines.where { $0.load == 200 }).map(\.id) == [4])
        }
        #expect(try machines.where { $0.load == 4 }.count() == 0)
        #expect(try await machines.where { $0.load >= 100 }.updateAll { $0.load += 1 } == 2)
        #expect(
            try machines.where { $0.load >= 100 }.order(by: \.load).fetch().map(\.load) == [
                101, 201,
            ])
        try await machines.insert(Machine(id: 40, name: "m4", load: 0))
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    @Test("What a reader or a failed update changes in an object is not what others read")
    func readersHaveTheirOwn() async throws {
        let workspace = try await Workspace.inMemory()
        let machines = try await machines(workspace)
        for _ in 0..<3 { try #require(try machines[5]).load = 500 }
        try #require(try await machines.find(by: 5)).load = 500
        #expect(try machines[5]?.load == 5)
        await #expect(throws: CancellationError.self) {
            try await machines.update(5) { machine in
                machine.load = 500
                throw CancellationError()
            }
        }
        #expect(try machines[5]?.load == 5)
        #expect(try machines.where { $0.load == 5 }.fetch().map(\.load) == [5])
        try await workspace.close()
    }

    @Test("An object that a live result shows may be changed and saved")
    func shownObjectsAreSaved() async throws {
        let workspace = try await Workspace.inMemory()
        let machines = try await machines(workspace)
        let query = machines.where { $0.load < 10 }.order(by: \.load, .descending)
        var changes = query.changes().makeAsyncIterator()
        var items: [Machine] = []
        guard case .result(let result) = await changes.next() else { return #expect(Bool(false)) }
        items = result
        for load in [0, 100, 5] {
            let machine = items[1]
            machine.load = load
            try await machines.save(machine)
            guard case .changed(let change) = await changes.next() else {
                return #expect(Bool(false))
            }
            change.apply(to: &items)
            #expect(try items.map(\.id) == query.fetch().map(\.id))
        }
        try await workspace.close()
    }

    @Test("A typed key's update of an object is written, though it equals the object that was read")
    func typedKeysAreWritten() async throws {
        let workspace = try await Workspace.inMemory()
        let settings = workspace.dictionary("settings")
        let key = Key<Machine>("machine", default: Machine(id: 0, name: "", load: 0))
        try await settings.set(Machine(id: 1, name: "a", load: 1), for: key)
        try await settings.update(key) { $0.load = 2 }
        #expect(try settings[key].load == 2)
        try await workspace.close()
    }
}

private final class Machine: Codable, Identifiable, Equatable, Indexed, @unchecked Sendable {
    static var indexes: [Index<Machine>] {
        [Index("load", \.load), Index("name", \.name, isUnique: true)]
    }

    let id: Int
    var name: String
    var load: Int

    init(id: Int, name: String, load: Int) {
        self.id = id
        self.name = name
        self.load = load
    }

    static func == (left: Machine, right: Machine) -> Bool {
        left.id == right.id && left.name == right.name && left.load == right.load
    }
}
