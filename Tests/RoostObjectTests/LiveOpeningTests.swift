import Foundation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What becomes live while others write, and what is read again because it was missed.
@Suite(.timeLimit(.minutes(5))) struct LiveOpeningTests {
    private struct Missing: Error {}

    /// What is live of tickets, of which nobody takes what its watcher is told but the test.
    private struct Watched {
        let tickets: Repository<Ticket>
        var state: LiveState<Ticket>
        var told = LiveTold()

        init(_ tickets: Repository<Ticket>) {
            self.tickets = tickets
            state = LiveState(tickets)
        }

        mutating func begin() throws -> EngineView {
            let engine = tickets.dictionary.workspace.engine
            let name = try tickets.dictionary.checkedName()
            return try state.begin(
                { engine.watchLive(WatchTarget(prefix: "", in: name)) {} as LiveWatch? }, &told)
        }

        mutating func open(
            _ query: Query<Ticket>, _ outlet: LiveOutlet<Ticket> = LiveOutlet(wantsPositions: true),
            meanwhile: (inout Watched) async throws -> Void = { _ in }
        ) async throws -> UInt64 {
            let view = try begin()
            defer { view.close() }
            let id = state.beginLoading()
            try state.reloadDue(&told)
            let load = try LiveLoad(query, in: view)
            try await meanwhile(&self)
            try state.finishLoading(id, query, load, outlet, &told)
            return id
        }

        mutating func subscribe(
            _ id: Int, _ tell: @escaping @Sendable (ObjectEvent<Ticket>) -> Void
        ) throws -> ObjectSubscriber<Ticket> {
            let subscriber = ObjectSubscriber(
                Array(tickets.key(of: id).utf8),
                tickets.dictionary.workspace.live.objects(of: tickets), tell)
            let view = try begin()
            defer { view.close() }
            try state.add(subscriber, view)
            try state.reloadDue(&told)
            return subscriber
        }
    }

    private func withTickets(
        _ count: Int, _ body: (inout Watched) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.saveAll((0..<count).map { Ticket(id: $0, points: $0) })
        var watched = Watched(tickets)
        try await body(&watched)
        watched = Watched(tickets)
        try await workspace.close()
    }

    /// Another result has to be read again just then, and what it brings along is for the new one too.
    @Test func aResultThatOpensBesideOneThatIsReadAgainMissesNoBatch() async throws {
        try await withTickets(100) { watched in
            let tickets = watched.tickets
            let isHooked = Mutex(false)
            let hooked = tickets.where {
                $0.satisfies { _ in
                    if isHooked.withLock({ isSet in
                        defer { isSet = false }
                        return isSet
                    }) {
                        // Commits while the batch before is taken.
                        _ = tickets.dictionary.enqueue(
                            Ticket(id: 999, points: 999), forKey: tickets.key(of: 999))
                    }
                    return true
                }
            }
            _ = try await watched.open(hooked.order(by: \.points).limit(1))
            try await tickets.dictionary.workspace.transaction { transaction in
                for id in 0..<17 { try transaction.delete(id, in: tickets) }
                try transaction.save(Ticket(id: 50, points: 50), in: tickets)
            }
            isHooked.withLock { $0 = true }
            let all = try await watched.open(tickets.all)
            #expect(try await tickets.find(by: 999) != nil)
            #expect(try watched.state.results[all]?.items == tickets.all.fetch())
        }
    }

    /// With a limit of one, seventeen are read; all of them go, or so many that too few are left.
    @Test(arguments: [1, 5])
    func aLimitedResultWhoseObjectsGoWhileItOpensShowsThoseThatFollow(limit: Int) async throws {
        try await withTickets(100) { watched in
            let tickets = watched.tickets
            let query = tickets.order(by: \.points).limit(limit)
            let id = try await watched.open(query) { watched in
                try await tickets.dictionary.workspace.transaction { transaction in
                    for id in 0..<17 { try transaction.delete(id, in: tickets) }
                }
                try watched.state.takeCommits(&watched.told)
            }
            #expect(try watched.state.results[id]?.items == query.fetch())
            // And it goes on from there.
            try await tickets.delete(18)
            try watched.state.takeCommits(&watched.told)
            #expect(try watched.state.results[id]?.items == query.fetch())
        }
    }

    @Test func aResultThatWasMissedIsToldAnewThoughASubscribedObjectCannotBeRead() async throws {
        try await withTickets(10) { watched in
            let tickets = watched.tickets
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            let id = try await watched.open(tickets.where { $0.points >= 0 }, outlet)
            outlet.noteResultTaken()
            let events = Mutex<[ObjectEvent<Ticket>]>([])
            let subscriber = try watched.subscribe(2) { event in
                events.withLock { $0.append(event) }
            }
            try await tickets.dictionary.set("no ticket", forKey: tickets.key(of: 2))
            try await tickets.delete(7)
            _ = watched.state.watch?.takeReady()
            try watched.state.take([WatchEvent(content: .missed(2))], &watched.told)
            try watched.state.reloadDue(&watched.told)
            guard case .resultDue = outlet.take() else { throw Missing() }
            #expect(watched.state.results[id]?.items.map(\.id) == [0, 1, 3, 4, 5, 6, 8, 9])
            subscriber.deliver()
            guard case .failed = events.withLock({ $0.last }) else { throw Missing() }
        }
    }

    @Test func aResultThatOpensWhileBatchesAreMissedHasThem() async throws {
        try await withTickets(10) { watched in
            let tickets = watched.tickets
            let id = try await watched.open(tickets.all) { watched in
                try await tickets.save(Ticket(id: 3, title: "new"))
                try await tickets.delete(4)
                _ = watched.state.watch?.takeReady()
                try watched.state.take([WatchEvent(content: .missed(2))], &watched.told)
                try watched.state.reloadDue(&watched.told)
            }
            #expect(try watched.state.results[id]?.items == tickets.all.fetch())
        }
    }

    /// A batch is one with those that came before it: where one is about a result, all are taken, in order.
    @Test func onlyWhatALiveResultMayBeAboutIsTaken() async throws {
        try await withTickets(10) { watched in
            let tickets = watched.tickets
            let clock = tickets.dictionary.workspace.engine.clock
            let id = try await watched.open(tickets.where { $0.points < 5 })
            watched.state.table.gate.isQuiet = watched.state.isQuiet
            try await tickets.delete(9)
            var taken = watched.state.table.gate.takeTouching(clock)
            #expect(taken?.isEnded == nil)
            try await tickets.delete(8)
            try await tickets.delete(2)
            try await tickets.delete(7)
            taken = watched.state.table.gate.takeTouching(clock)
            #expect(taken?.events.count == 3)
            try watched.state.take(try #require(taken), &watched.told)
            #expect(watched.state.results[id]?.items.map(\.id) == [0, 1, 3, 4])
            // Whoever subscribes is waited for, whatever the batch is about.
            let subscriber = try watched.subscribe(1) { _ in }
            watched.state.table.gate.isQuiet = watched.state.isQuiet
            try await tickets.delete(6)
            taken = watched.state.table.gate.takeTouching(clock)
            #expect(taken?.events.count == 1)
            _ = watched.state.remove(subscriber)
        }
    }

    /// Whoever writes within a closure leaves what is to be told to another thread that is just done.
    @Test func whatIsWrittenWithinAClosureIsToldThoughOthersAreAtIt() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let told = Mutex(0)
        let subscription = tickets.subscribe(1) { _ in told.withLock { $0 += 1 } }
        for round in 1...500 {
            async let plain: Void = tickets.save(Ticket(id: 1, points: round))
            async let within: Void = LiveCall.$isUnderWay.withValue(true) {
                try await tickets.save(Ticket(id: 1, points: -round))
            }
            _ = try await (plain, within)
            let count = told.withLock { $0 }
            #expect(count == 1 + 2 * round)
            guard count == 1 + 2 * round else { break }
        }
        withExtendedLifetime(subscription) {}
        try await workspace.close()
    }

    private final class Holder: Sendable {
        private let registration: LiveRegistration<Ticket>
        var isWanted: Bool { true }
        init(_ registration: LiveRegistration<Ticket>) { self.registration = registration }
    }

    /// A closure of a condition may hold what ends another live query.
    @Test func whatGoesWithALiveQueryMayEndAnother() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.save(Ticket(id: 1))
        let objects = workspace.live.objects(of: tickets)
        func open(_ query: Query<Ticket>) throws -> LiveRegistration<Ticket> {
            try objects.open(query, LiveOutlet(wantsPositions: true))
        }
        func openHolding(_ query: Query<Ticket>) throws -> LiveRegistration<Ticket> {
            let holder = Holder(try open(tickets.all))
            return try open(query.where { $0.satisfies { _ in holder.isWanted } })
        }
        // The second is the first in its order.
        for query in [tickets.all, tickets.order(by: \.points)] {
            var registration: LiveRegistration<Ticket>? = try openHolding(query)
            #expect(workspace.live.queryCount == 2)
            #expect(registration != nil)
            registration = nil
            #expect(workspace.live.queryCount == 0)
        }
        try await workspace.close()
    }

    /// The result never comes into being, and nobody would end it.
    @Test func aResultThatFailsToLoadKeepsNothing() async throws {
        try await withTickets(0) { watched in
            try await watched.tickets.save(Ticket(id: 1, note: "long"))
            let query = watched.tickets.where(#Predicate<Ticket> { $0.note!.count > 2 })
            await #expect(throws: PredicateError.self) {
                _ = try await watched.open(query) { watched in
                    for id in 4..<20 { try await watched.tickets.save(Ticket(id: id, note: "new")) }
                    for id in 2...3 { try await watched.tickets.save(Ticket(id: id)) }
                    try watched.state.takeCommits(&watched.told)
                }
            }
            #expect(watched.state.table.gate.objects.isEmpty)
            let id = try await watched.open(watched.tickets.all)
            #expect(watched.state.results[id]?.count == 19)
            #expect(watched.state.table.gate.objects.count == 19)
            _ = watched.state.close(id)
            #expect(watched.state.table.gate.objects.isEmpty)
        }
    }
}
