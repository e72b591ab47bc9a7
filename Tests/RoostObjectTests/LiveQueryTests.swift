import Foundation
import Observation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What a `LiveQuery` shows, and when.
@Suite(.timeLimit(.minutes(5))) struct LiveQueryTests {
    @MainActor @Test func aLiveQueryHasItsFirstResultWhenItIsMadeAndFollows() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.save(Ticket(id: 1, points: 1))
        let list = LiveQuery(tickets.where { $0.points > 0 }.order(by: \.points, .descending))
        #expect(list.items.map(\.id) == [1])
        var changes = 0
        list.onChange = { if $0 != nil { changes += 1 } }
        try await tickets.save(Ticket(id: 2, points: 2))
        try await tickets.save(Ticket(id: 3, points: 0))
        try await tickets.save(Ticket(id: 1, points: 3))
        while list.items.map(\.id) != [1, 2] { await Task.yield() }
        #expect(changes == 2)
        try await tickets.dictionary.set(1, forKey: tickets.key(of: 2))
        while list.error == nil || list.items.count > 1 { await Task.yield() }
        #expect(list.error?.code == .typeMismatch)
        weak var gone: LiveQuery<Ticket>?
        do {
            let other = LiveQuery(tickets.all)
            gone = other
        }
        #expect(gone == nil)
        try await workspace.close()
        #expect(LiveQuery(tickets.all).error?.code == .closed)
    }

    /// A view's struct is made anew at each drawing, and with it what stands as its state's first value.
    @MainActor @Test func aLiveQueryReadsNothingUntilItIsAskedFor() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.save(Ticket(id: 1, points: 1))
        for _ in 0..<100 { _ = LiveQuery(tickets.all) }
        let list = LiveQuery(tickets.all)
        list.query = tickets.where { $0.points == 1 }
        #expect(workspace.live.queryCount == 0)
        try await tickets.save(Ticket(id: 2, points: 1))
        let told = Mutex(0)
        withObservationTracking {
            #expect(list.items.map(\.id) == [1, 2])
        } onChange: {
            told.withLock { $0 += 1 }
        }
        #expect(workspace.live.queryCount == 1 && told.withLock { $0 } == 0)
        try await tickets.save(Ticket(id: 3, points: 1))
        #expect(list.items.map(\.id) == [1, 2, 3] && told.withLock { $0 } == 1)
        // Who is to be told of changes has asked.
        let other = LiveQuery(tickets.where { $0.points == 4 })
        var changes = 0
        other.onChange = { if $0 != nil { changes += 1 } }
        try await tickets.save(Ticket(id: 4, points: 4))
        #expect(changes == 1 && other.items.map(\.id) == [4])
        let third = LiveQuery(tickets.all)
        try await workspace.close()
        #expect(third.error?.code == .closed && third.items.isEmpty)
    }

    @MainActor @Test func aLiveQueryShowsAnotherQuerysResult() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        for id in 0..<6 { try await tickets.save(Ticket(id: id, points: id % 3)) }
        let list = LiveQuery(tickets.where { $0.points == 1 })
        var readAnew = 0
        list.onChange = { if $0 == nil { readAnew += 1 } }
        list.query = tickets.where { $0.points == 2 }.order(by: \.id, .descending)
        #expect(list.items.map(\.id) == [5, 2] && readAnew == 1)
        try await tickets.save(Ticket(id: 1, points: 2))
        try await tickets.save(Ticket(id: 7, points: 1))
        #expect(list.items.map(\.id) == [5, 2, 1])
        #expect(workspace.live.queryCount == 1)
        try await workspace.close()
        list.query = tickets.all
        #expect(list.items.isEmpty && list.error?.code == .closed && readAnew == 2)
    }

    @MainActor @Test func aLiveQueryShowsTheMainActorsWriteBehindAnothers() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let list = LiveQuery(tickets.order(by: \.points))
        var positions: [Int] = []
        list.onChange = { positions += $0?.inserted.map(\.position) ?? [-1] }
        // The other's change waits for the main actor, which has not been idle since.
        writeElsewhere { try await tickets.save(Ticket(id: 1, points: 1)) }
        #expect(list.items.isEmpty)
        try await tickets.save(Ticket(id: 2, points: 0))
        #expect(list.items.map(\.id) == [2, 1] && positions == [0, 0])
        await Task.yield()
        #expect(list.items.map(\.id) == [2, 1] && positions == [0, 0])
        try await workspace.close()
    }

    /// The other writers take what the main actor has written from the watches, too; and what is shown changes by
    /// nobody else's writes while the main actor does not suspend.
    @MainActor @Test func aLiveQueryShowsTheMainActorsWritesBesideOtherWriters() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        let tickets = workspace.repository(of: Ticket.self)
        let list = LiveQuery(tickets.order(by: \.id))
        let other = LiveQuery(tickets.where { $0.id == 1 })
        #expect(list.items.isEmpty && other.items.isEmpty)
        let writers = beginWriting { try await tickets.save(Ticket(id: 2, points: $0)) }
        for number in 0..<2_000 {
            try await tickets.save(Ticket(id: 1, points: number))
            #expect(list.items.first?.points == number && other.items.first?.points == number)
            let shown = list.items
            for _ in 0..<5 { #expect(list.items == shown) }
            if number % 16 == 0 { await Task.yield() }
        }
        let last = try await writers()
        while list.items.last?.points != last { await Task.yield() }
        #expect(list.items.map(\.id) == [1, 2])
        try await workspace.close()
    }

    /// What it writes is told behind what it is told, and not within.
    @MainActor @Test func whoIsToldAChangeMayWrite() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let list = LiveQuery(tickets.order(by: \.id))
        var told: [String] = []
        list.onChange = { change in
            let id = change?.inserted.first?.item.id ?? -1
            told.append("begin \(id)")
            if id < 4 {
                tickets.dictionary.enqueue(Ticket(id: id + 1), forKey: tickets.key(of: id + 1))
            }
            told.append("end \(id)")
        }
        try await tickets.save(Ticket(id: 1))
        while list.items.count < 4 { await Task.yield() }
        #expect(told == (1...4).flatMap { ["begin \($0)", "end \($0)"] })
        try await workspace.close()
    }

    /// What the new query has missed meanwhile is read by it, and not by the one before.
    @MainActor @Test func aLiveQueryMayBeSetWhileItTellsAChange() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let many = (0..<2_000).map { Ticket(id: $0 + 10, points: 2) }
        try await tickets.saveAll(many)
        let list = LiveQuery(tickets.where { $0.points == 1 })
        var isSet = false
        list.onChange = { _ in
            guard !isSet else { return }
            isSet = true
            list.query = tickets.where { $0.points == 2 }
            // More than an outlet holds comes while the main actor is here.
            writeElsewhere {
                for title in ["a", "b", "c"] {
                    let changed = many.map { Ticket(id: $0.id, title: title, points: 2) }
                    try await tickets.saveAll(changed)
                }
            }
        }
        try await tickets.save(Ticket(id: 1, points: 1))
        while !isSet { await Task.yield() }
        for _ in 0..<100 where list.items.first?.title != "c" { await Task.yield() }
        #expect(list.items.count == 2_000)
        #expect(list.items.allSatisfy { $0.title == "c" && $0.points == 2 })
        try await workspace.close()
    }
}
