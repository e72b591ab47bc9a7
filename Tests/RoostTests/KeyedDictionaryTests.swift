import Foundation
import Roost
import RoostTestSupport
import Testing

/// Keys of one type, in all calls that a dictionary of strings has.
@Suite(.timeLimit(.minutes(5))) struct KeyedDictionaryTests {
    private struct Draft: Codable, Sendable, Equatable { var title: String }

    @Test func everyCallTakesAndGivesKeysOfTheType() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var drafts = workspace.dictionary("drafts", keys: Int.self)
            try await drafts.set(Draft(title: "a"), forKey: -3)
            try await drafts.setAll([(12, Draft(title: "b")), (7, Draft(title: "c"))])
            try await drafts.set(Draft(title: "d"), forKey: 100, expiresIn: .seconds(600))
            drafts.enqueue(Draft(title: "e"), forKey: 5)
            drafts.enqueueRemoval(forKey: 7)
            try await drafts.update(12, default: Draft(title: "")) { $0.title += "!" }
            let copied = try drafts[12, as: Draft.self]
            try await drafts.set(copied, forKey: 13)
            try await drafts.set(try drafts[999, as: Draft.self], forKey: 5)
            try await workspace.close()

            workspace = try await Workspace.open(at: path)
            drafts = workspace.dictionary("drafts", keys: Int.self)
            #expect(try drafts.keys == [-3, 12, 13, 100])
            #expect(try await drafts.load(12, as: Draft.self) == Draft(title: "b!"))
            #expect(try drafts.expiration(forKey: 100) != nil)
            #expect(try drafts.expiration(forKey: 12) == nil)
            let page = try drafts.page(after: -3, as: Draft.self, limit: 2)
            #expect(page.map(\.key) == [12, 13])
            #expect(page.map(\.value.title) == ["b!", "b!"])
            var last: [Int] = []
            for try await (key, _) in drafts.entries(as: Draft.self, limit: 2, order: .descending) {
                last.append(key)
            }
            #expect(last == [100, 13])
            try await drafts.removeAll()
            #expect(try drafts.count == 0)
            try await workspace.close()
        }
    }

    @Test func batchesTransactionsAndViewsTakeThem() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users", keys: UUID.self)
        let (first, second) = (UUID(), UUID())
        try await workspace.write { batch in
            batch.set("ada", forKey: first, in: users)
            batch.set("eve", forKey: second, in: users)
            batch.removeValue(forKey: second, in: users)
        }
        let name = try await workspace.transaction { tx in
            let name = try tx.value(forKey: first, as: String.self, in: users)
            try tx.set(name, forKey: second, in: users)
            try tx.removeValue(forKey: first, in: users)
            return name
        }
        #expect(name == "ada")
        let seen = try workspace.read { view in
            try [first, second].map { try view.value(forKey: $0, as: String.self, in: users) }
        }
        #expect(seen == [nil, "ada"])
        try await workspace.close()
    }

    @Test func oneKeyIsWatched() async throws {
        let workspace = try await Workspace.inMemory()
        let counts = workspace.dictionary("counts", keys: Int8.self)
        var updates = counts.updates(of: 3, as: Int.self).makeAsyncIterator()
        #expect(await updates.next() == .some(nil))
        let (events, told) = AsyncStream<Int?>.makeStream()
        let subscription = counts.subscribe(3, of: Int.self) { event in
            if case .updated(let value) = event { told.yield(value) }
        }
        try await counts.set(4, forKey: 3)
        #expect(await updates.next() == 4)
        var iterator = events.makeAsyncIterator()
        #expect(await iterator.next() == 4)
        subscription.cancel()
        try await workspace.close()
    }

    /// A key that none of the type has is an error where it would be given.
    @Test func aKeyOfAnotherTypeIsAnError() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers", keys: Int.self)
        try await numbers.set(1, forKey: 1)
        try await workspace.dictionary("numbers").set(2, forKey: "two")
        #expect(throws: RoostError.self) { try numbers.keys }
        #expect(throws: RoostError.self) { try numbers.page(as: Int.self, limit: 9) }
        #expect(try numbers.page(as: Int.self, limit: 1).map(\.key) == [1])
        await #expect(throws: RoostError.self) {
            for try await _ in numbers.entries(as: Int.self) {}
        }
        try await workspace.close()
    }
}
