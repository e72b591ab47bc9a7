import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// What a query answers where a type's coding, a cursor or a body is not of the usual kind.
@Suite(.timeLimit(.minutes(5))) struct StoredFormTests {
    /// Its stored form has whole seconds.
    private struct Event: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var at: Double
        var title = ""

        static var indexes: [Index<Event>] {
            [Index("at", \.at), Index("unique", \.at, \.title, isUnique: true)]
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: CodingKeys.self)
            try values.encode(id, forKey: .id)
            try values.encode(at.rounded(.down), forKey: .at)
            try values.encode(title, forKey: .title)
        }
    }

    @Test(arguments: [false, true])
    func indexesHaveWhatIsStoredAndNotWhatWasGiven(isTransaction: Bool) async throws {
        let workspace = try await Workspace.inMemory()
        let events = workspace.repository(of: Event.self)
        try await events.indexesBuilt()
        func change(_ body: @Sendable (inout Transaction) throws -> Void) async throws {
            try await workspace.transaction { try body(&$0) }
        }
        let event = Event(id: 1, at: 1.4)
        if isTransaction {
            try await change { try $0.insert(event, in: events) }
        } else {
            try await events.insert(event)
        }
        #expect(try events.where { $0.at == 1 }.fetch().count == 1)
        #expect(try events.where { $0.at < 2 }.count() == 1)
        await #expect(throws: RoostError.self) { try await events.insert(Event(id: 2, at: 1.7)) }
        if isTransaction {
            try await change { transaction in
                _ = try transaction.update(1, in: events) { $0.title = "other" }
            }
        } else {
            _ = try await events.update(1) { $0.title = "other" }
        }
        #expect(try events.where { $0.at < 2 }.count() == 1)
        if isTransaction {
            try await change { try $0.delete(1, in: events) }
        } else {
            try await events.delete(1)
        }
        #expect(try events.where { $0.at < 2 }.count() == 0)
        try await events.insert(Event(id: 3, at: 1.4, title: "other"))
        #expect(try events.where { $0.at < 2 }.fetch().map(\.id) == [3])
        try await workspace.close()
    }

    private struct Ranked: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var kind: String
        var rank: Int

        static var indexes: [Index<Ranked>] {
            [Index("kind-rank", \.kind, \.rank), Index("rank", .descending(\.kind), \.rank)]
        }
    }

    @Test(arguments: [ScanOrder.ascending, .descending])
    func aPageGoesOnWhereItsQueryIsNarrowed(order: ScanOrder) async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Ranked.self)
        for (id, kind, rank) in [(1, "a", 9), (2, "a", 10), (3, "b", 1), (4, "b", 2), (5, "b", 20)]
        {
            try await items.save(Ranked(id: id, kind: kind, rank: rank))
        }
        try await items.indexesBuilt()
        let all = items.order(by: \.kind, order).order(by: \.rank)
        let first = try all.page(after: nil, limit: 1)
        for kind in ["a", "b"] {
            let narrowed = items.where { $0.kind == kind }.order(by: \.kind, order).order(
                by: \.rank)
            let rest = try all.fetch().dropFirst().filter { $0.kind == kind }.map(\.id)
            let page = try narrowed.page(after: first.next, limit: 10)
            #expect(page.items.map(\.id) == rest)
        }
        try await workspace.close()
    }

    /// What it was shown before it threw it rests on.
    @Test func aTransactionRestsOnWhatItSawBeforeAnErrorThatItCatches() async throws {
        struct Enough: Error {}
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.saveAll((0..<20).map { Ticket(id: $0, points: 1) })
        let sums = workspace.dictionary("sums")
        var runs = 0
        try await workspace.transaction { transaction in
            runs += 1
            var sum = 0
            var seen = 0
            do {
                try transaction.forEach(tickets.all) { ticket in
                    sum += ticket.points
                    seen += 1
                    if seen == 10 { throw Enough() }
                }
            } catch is Enough {}
            if runs == 1 {
                let key = tickets.key(of: 0)
                _ = tickets.dictionary.enqueue(Ticket(id: 0, points: 10), forKey: key)
            }
            try transaction.set(sum, forKey: "sum", in: sums)
        }
        #expect(runs == 2)
        #expect(try sums["sum", as: Int.self] == 19)
        try await workspace.close()
    }
}
