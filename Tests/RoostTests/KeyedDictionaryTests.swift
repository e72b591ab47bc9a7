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

    @Test func rangesGoByTheOrderOfTheType() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var days = workspace.dictionary("days", keys: Int.self)
            var all: [Int: String] = [:]
            for _ in 0..<200 {
                let day = Int.random(in: -1_000...1_000, using: &random)
                all[day] = "day \(day)"
                try await days.set("day \(day)", forKey: day)
            }
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            days = workspace.dictionary("days", keys: Int.self)
            func collected<Element>(
                _ sequence: some AsyncSequence<Element, any Error>
            ) async throws -> [Element] {
                var collected: [Element] = []
                for try await element in sequence { collected.append(element) }
                return collected
            }
            for _ in 0..<30 {
                let low = Int.random(in: -1_100...1_000, using: &random)
                let high = Int.random(in: low...1_100, using: &random)
                let expected = all.keys.filter { (low..<high).contains($0) }.sorted()
                let comment: Comment = "seed \(seed), \(low) to \(high)"
                let entries = try await collected(days.entries(in: low..<high, as: String.self))
                #expect(entries.map(\.key) == expected, comment)
                #expect(entries.map(\.value) == expected.map { all[$0]! }, comment)
                #expect(
                    try await collected(days.keys(in: low..<high, order: .descending))
                        == expected.reversed(), comment)
                #expect(
                    try await collected(days.keys(in: low..., limit: 3))
                        == Array(all.keys.filter { $0 >= low }.sorted().prefix(3)), comment)
                #expect(
                    try await collected(days.keys(in: ...high, limit: 3, order: .descending))
                        == Array(all.keys.filter { $0 <= high }.sorted().reversed().prefix(3)),
                    comment)
                #expect(
                    try workspace.read { try $0.keys(of: days, in: low..<high, limit: 5) }
                        == Array(expected.prefix(5)), comment)
                #expect(
                    try await workspace.transaction { try $0.keys(of: days, in: ..<high) }
                        == all.keys.filter { $0 < high }.sorted(), comment)
            }
            #expect(try await collected(days.keys()) == all.keys.sorted())
            #expect(
                try workspace.read { try $0.keys(of: days, order: .descending).first }
                    == all.keys.max())
            let some = all.keys.first!
            let seen = try await workspace.transaction { tx in
                (
                    try tx.keys(of: days), try tx.contains(some, in: days),
                    try tx.contains(5_000, in: days)
                )
            }
            #expect(seen == (all.keys.sorted(), true, false))
            #expect(try workspace.read { try $0.contains(some, in: days) })
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
