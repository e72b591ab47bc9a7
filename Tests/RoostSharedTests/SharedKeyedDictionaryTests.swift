import Foundation
import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

/// Dictionaries with keys of one type, of a shared workspace and, by the same code, of one in files.
@Suite struct SharedKeyedDictionaryTests {
    struct User: Codable, Equatable, Sendable { var name: String }
    struct Place: RawRepresentable, KeyRepresentable { var rawValue: Int }

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(), namespace: "test")
    }

    private func all<Element>(_ sequence: KeyValueSequence<Element>) async throws -> [Element] {
        var elements: [Element] = []
        for try await element in sequence { elements.append(element) }
        return elements
    }

    /// Written once, for both.
    private func use(_ workspace: some KeyValueWorkspace) async throws {
        let users = workspace.dictionary("users", keys: UUID.self)
        let (id, other) = (UUID(), UUID())
        try await users.set(User(name: "Ada"), forKey: id)
        #expect(try await users.load(id, as: User.self) == User(name: "Ada"))
        #expect(try await users.load(other, as: User.self) == nil)
        #expect(try await users.contains(id))
        #expect(try await users.contains(other) == false)
        // What the strings have, and nothing else.
        #expect(
            try await workspace.dictionary("users").load(id.uuidString, as: User.self)?.name
                == "Ada")
        try await users.update(id, default: User(name: "")) { $0.name += " L" }
        try await users.update(other, as: User.self) { $0 = User(name: "Bea") }
        #expect(try await users.count == 2)
        #expect(try await users.keys == [id, other].sorted())
        let entry = try await users.loadEntry(id, as: User.self)
        #expect(entry.value == User(name: "Ada L"))
        try await users.replace(entry, with: User(name: "Eve"))
        await #expect(throws: RoostError.self) {
            try await users.replace(entry, with: User(name: "late"))
        }

        let name = try await workspace.transaction { tx in
            #expect(try await tx.contains(id, in: users))
            let user = try await tx.load(id, as: User.self, in: users)
            try tx.set(User(name: "Zoe"), forKey: other, in: users)
            try tx.removeValue(forKey: id, in: users)
            #expect(try await tx.keys(of: users) == [other])
            #expect(try await tx.count(of: users) == 1)
            return user?.name
        }
        #expect(name == "Eve")
        try await workspace.write { batch in
            batch.removeAll(in: users)
            batch.set(1, forKey: id, in: users)
            batch.set(User(name: "Dan"), forKey: other, in: users)
            batch.removeValue(forKey: id, in: users)
        }
        let entries: [(key: UUID, value: User)] = try await all(users.entries())
        #expect(entries.map(\.key) == [other])
        #expect(entries.map(\.value.name) == ["Dan"])
        try await users.removeValue(forKey: other)
        #expect(try await users.keys.isEmpty)
        try await users.setAll([(id, 1), (other, 2), (id, 3)])
        #expect(try await users.load(id, as: Int.self) == 3)
        try await users.removeAll()
        #expect(try await users.count == 0)
    }

    @Test func aSharedWorkspaceHasKeysOfOneType() async throws {
        let workspace = try await connect()
        try await use(workspace)
        // The very calls that `Workspace` has, but for what suspends.
        let users = workspace.dictionary("users", keys: UUID.self)
        let id = UUID()
        try await users.set("ada", forKey: id, expiresIn: .seconds(600))
        let left = try #require(try await users.remainingTime(forKey: id))
        #expect(left > .seconds(500) && left <= .seconds(600))
        var updates = users.updates(of: id, as: String.self).makeAsyncIterator()
        #expect(try await updates.next() == "ada")
        try await users.set("bea", forKey: id)
        #expect(try await updates.next() == "bea")
        #expect(try await users.remainingTime(forKey: id) == nil)
        await workspace.close()
    }

    @Test func codeThatIsWrittenForAnyWorkspaceRunsOnOneInFiles() async throws {
        let workspace = try await Workspace.inMemory()
        try await use(workspace)
        // Who has a `Workspace` itself gets its own.
        let users = workspace.dictionary("users", keys: UUID.self)
        let own: KeyedDictionary<UUID> = users
        #expect(try own.keys.isEmpty)
        try await workspace.close()
    }

    @Test func numbersComeInTheirOrderAndRangesAreOfNumbers() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let workspace = try await connect()
        let numbers = workspace.dictionary("numbers", keys: Int.self)
        var expected: Set<Int> = [.min, -1, 0, 1, .max]
        for _ in 0..<60 {
            let bits = Int.random(in: 0..<63, using: &random)
            expected.insert(Int.random(in: -(1 << bits)...(1 << bits), using: &random))
        }
        for number in expected.shuffled(using: &random) {
            try await numbers.set(number, forKey: number)
        }
        let sorted = expected.sorted()
        #expect(try await numbers.keys == sorted, "seed \(seed)")
        #expect(try await all(numbers.keys(order: .descending)) == sorted.reversed())
        for _ in 0..<20 {
            let bounds = [
                sorted.randomElement(using: &random)!, sorted.randomElement(using: &random)!,
            ].sorted()
            let (low, high) = (bounds[0], bounds[1])
            #expect(
                try await all(numbers.keys(in: low..<high))
                    == sorted.filter { (low..<high).contains($0) }, "seed \(seed)")
            #expect(
                try await all(numbers.keys(in: low...high, limit: 5, order: .descending))
                    == sorted.filter { (low...high).contains($0) }.suffix(5).reversed(),
                "seed \(seed)")
            let above = try await all(numbers.entries(in: low..., as: Int.self))
            #expect(above.map(\.key) == sorted.filter { $0 >= low })
            #expect(above.map(\.value) == above.map(\.key))
            #expect(try await all(numbers.keys(in: ..<high)) == sorted.filter { $0 < high })
            #expect(try await all(numbers.keys(in: ...high)) == sorted.filter { $0 <= high })
            let inside = try await workspace.transaction { tx in
                try await tx.keys(of: numbers, in: low...high, limit: 3)
            }
            #expect(inside == Array(sorted.filter { (low...high).contains($0) }.prefix(3)))
        }
        let small = workspace.dictionary("small", keys: Int8.self)
        let bytes = stride(from: Int8.min, through: .max, by: 3)
        try await small.setAll(bytes.map { ($0, true) })
        #expect(try await small.keys == Array(bytes))
        let places = workspace.dictionary("places", keys: Place.self)
        try await places.setAll([3, -3, 0].map { (Place(rawValue: $0), $0) })
        #expect(try await places.keys.map(\.rawValue) == [-3, 0, 3])
        await workspace.close()
    }

    @Test func identifiersComeInTheOrderOfTheirBytes() async throws {
        let workspace = try await connect()
        let users = workspace.dictionary("users", keys: UUID.self)
        let ids = (0..<40).map { _ in UUID() }
        for id in ids { try await users.set(id.uuidString, forKey: id) }
        let sorted = ids.sorted()
        #expect(try await users.keys == sorted)
        let middle = sorted[20]
        #expect(try await all(users.keys(in: middle...)) == Array(sorted[20...]))
        let last: [(key: UUID, value: String)] = try await all(
            users.entries(limit: 3, order: .descending))
        #expect(last.map(\.key) == sorted.suffix(3).reversed())
        await workspace.close()
    }

    @Test func aKeyThatIsNoneOfTheTypeIsAnError() async throws {
        let workspace = try await connect()
        let users = workspace.dictionary("users", keys: UUID.self)
        try await users.strings.set(1, forKey: "nobody")
        let error = await #expect(throws: RoostError.self) { _ = try await users.keys }
        #expect(error?.code == .typeMismatch)
        #expect(error?.description.contains("nobody") == true)
        let inTransaction = await #expect(throws: RoostError.self) {
            try await workspace.transaction { tx in _ = try await tx.keys(of: users) }
        }
        #expect(inTransaction?.code == .typeMismatch)
        let inEntries = await #expect(throws: RoostError.self) {
            for try await _ in users.entries(as: Int.self) {}
        }
        #expect(inEntries?.code == .typeMismatch)
        await workspace.close()
    }

    @Test func aKeyOfATransactionIsAConflictAsItsStringIs() async throws {
        let workspace = try await connect()
        let numbers = workspace.dictionary("numbers", keys: Int.self)
        try await numbers.set(1, forKey: -7)
        var runs = 0
        try await workspace.transaction { tx in
            runs += 1
            let value = try await tx.load(-7, as: Int.self, in: numbers) ?? 0
            if runs == 1 { try await numbers.set(5, forKey: -7) }
            try tx.set(value + 1, forKey: -7, in: numbers)
        }
        #expect(runs == 2)
        #expect(try await numbers.load(-7) == 6)
        await workspace.close()
    }
}
