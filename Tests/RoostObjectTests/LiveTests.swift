import Foundation
import Observation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

struct Ticket: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var title = ""
    var points = 0
    var note: String?
}

/// What live queries and subscriptions promise.
@Suite(.timeLimit(.minutes(5))) struct LiveTests {
    private func withTickets(
        _ count: Int, _ body: (Repository<Ticket>) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.saveAll((0..<count).map { Ticket(id: $0, points: $0) })
        try await body(tickets)
        try await workspace.close()
    }

    @Test func updatesGiveTheResultAndThenEachNewerOne() async throws {
        try await withTickets(4) { tickets in
            var results = tickets.where { $0.points > 1 }.updates().makeAsyncIterator()
            #expect(await results.next()?.map(\.id) == [2, 3])
            try await tickets.save(Ticket(id: 9, points: 9))
            #expect(await results.next()?.map(\.id) == [2, 3, 9])
            // Nothing of this is in the result, so the next is of the removal.
            try await tickets.save(Ticket(id: 1, points: 0))
            try await tickets.delete(2)
            #expect(await results.next()?.map(\.id) == [3, 9])
        }
    }

    @Test func aSlowReaderSkipsToTheNewestResult() async throws {
        try await withTickets(0) { tickets in
            var results = tickets.all.updates().makeAsyncIterator()
            #expect(await results.next() == [])
            for id in 0..<50 { try await tickets.save(Ticket(id: id)) }
            #expect(await results.next()?.count == 50)
        }
    }

    @Test func changesAreToldOneForEachTransaction() async throws {
        try await withTickets(4) { tickets in
            let query = tickets.order(by: \.points)
            var changes = query.changes().makeAsyncIterator()
            guard case .result(var items)? = await changes.next() else { throw Missing() }
            #expect(items.map(\.id) == [0, 1, 2, 3])
            try await tickets.dictionary.workspace.transaction { transaction in
                try transaction.save(Ticket(id: 0, points: 10), in: tickets)
                try transaction.save(Ticket(id: 1, title: "new", points: 1), in: tickets)
                try transaction.delete(2, in: tickets)
                try transaction.save(Ticket(id: 7, points: 2), in: tickets)
            }
            guard case .changed(let change)? = await changes.next() else { throw Missing() }
            #expect(change.removed == [2])
            #expect(change.inserted.map(\.position) == [1])
            #expect(change.moved.map(\.from) == [0] && change.moved.map(\.to) == [3])
            #expect(change.updated.map(\.position) == [0])
            change.apply(to: &items)
            #expect(try items == query.fetch())
        }
    }

    @Test func aReaderThatNeverReadsHoldsNobodyUpAndIsGivenTheResultAnew() async throws {
        try await withTickets(10) { tickets in
            var changes = tickets.all.changes().makeAsyncIterator()
            _ = await changes.next()
            for number in 0..<3_000 {
                try await tickets.save(Ticket(id: number % 10, points: number))
            }
            guard case .result(let items)? = await changes.next() else { throw Missing() }
            #expect(try items == tickets.all.fetch())
        }
    }

    @Test func aCancelledReaderIsAtItsEnd() async throws {
        try await withTickets(1) { tickets in
            let (begun, hasBegun) = AsyncStream<Void>.makeStream()
            let reader = Task {
                var count = 0
                for await _ in tickets.all.updates() {
                    count += 1
                    hasBegun.yield()
                }
                return count
            }
            for await _ in begun { break }
            reader.cancel()
            #expect(await reader.value == 1)
        }
    }

    @Test func readersOfAClosedWorkspaceAreAtTheirEnd() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        var results = tickets.all.updates().makeAsyncIterator()
        var changes = tickets.all.changes().makeAsyncIterator()
        _ = await (results.next(), changes.next())
        try await tickets.save(Ticket(id: 1))
        try await workspace.close()
        #expect(await results.next()?.count == 1)
        guard case .changed? = await changes.next() else { throw Missing() }
        #expect(await results.next() == nil)
        #expect(await changes.next() == nil)
        var late = tickets.all.changes().makeAsyncIterator()
        guard case .failed(let error)? = await late.next() else { throw Missing() }
        #expect(error.code == .closed)
        #expect(await late.next() == nil)
    }

    @Test func aLimitedResultIsFilledUp() async throws {
        try await withTickets(500) { tickets in
            let query = tickets.order(by: \.points).offset(3).limit(5)
            var changes = query.changes().makeAsyncIterator()
            guard case .result(var items)? = await changes.next() else { throw Missing() }
            for id in 0..<490 {
                try await tickets.delete(id)
                guard case .changed(let change)? = await changes.next() else { throw Missing() }
                change.apply(to: &items)
                #expect(items.map(\.id) == Array((id + 4)..<(id + 9)))
            }
        }
    }

    @Test func anObjectThatDoesNotDecodeIsAnErrorAndLeavesTheResult() async throws {
        try await withTickets(3) { tickets in
            var failures = tickets.dictionary.workspace.failures.makeAsyncIterator()
            let events = Events<ObjectEvent<Ticket>>()
            let subscription = tickets.subscribe(1) { events.add($0) }
            var changes = tickets.all.changes().makeAsyncIterator()
            guard case .result(var items)? = await changes.next() else { throw Missing() }
            try await tickets.dictionary.set("no ticket", forKey: tickets.key(of: 1))
            guard case .failed(let error)? = await changes.next() else { throw Missing() }
            #expect(error.code == .typeMismatch)
            #expect(await failures.next(isolation: nil)?.code == .typeMismatch)
            guard case .changed(let change)? = await changes.next() else { throw Missing() }
            change.apply(to: &items)
            #expect(items.map(\.id) == [0, 2])
            // Whoever begins now is told too.
            var late = tickets.all.changes().makeAsyncIterator()
            guard case .failed? = await late.next() else { throw Missing() }
            guard case .result(let rest)? = await late.next() else { throw Missing() }
            #expect(rest.map(\.id) == [0, 2])
            try await tickets.save(Ticket(id: 1, title: "again"))
            guard case .changed(let second)? = await changes.next() else { throw Missing() }
            second.apply(to: &items)
            #expect(try items == tickets.all.fetch())
            #expect(
                events.all == [
                    .initial(Ticket(id: 1, points: 1)), .failed(error),
                    .updated(Ticket(id: 1, title: "again")),
                ])
            subscription.cancel()
        }
    }

    @Test func aPredicateThatThrowsIsAnErrorOfItsQueryAlone() async throws {
        try await withTickets(0) { tickets in
            try await tickets.save(Ticket(id: 1, note: "long"))
            let predicate = #Predicate<Ticket> { $0.note!.count > 2 }
            var changes = tickets.where(predicate).changes().makeAsyncIterator()
            var others = tickets.all.updates().makeAsyncIterator()
            _ = await (changes.next(), others.next())
            try await tickets.save(Ticket(id: 2))
            guard case .failed? = await changes.next() else { throw Missing() }
            #expect(await others.next()?.count == 2)
            try await tickets.save(Ticket(id: 3, note: "longer"))
            guard case .changed(let change)? = await changes.next() else { throw Missing() }
            #expect(change.inserted.map(\.item.id) == [3])
        }
    }

    @Test func emptyingTheDictionaryEmptiesTheResult() async throws {
        try await withTickets(3) { tickets in
            let events = Events<ObjectEvent<Ticket>>()
            let subscription = tickets.subscribe(0) { events.add($0) }
            var results = tickets.all.updates().makeAsyncIterator()
            _ = await results.next()
            try await tickets.dictionary.removeAll()
            #expect(events.all.last == .deleted)
            #expect(await results.next() == [])
            subscription.cancel()
        }
    }

    // MARK: Subscriptions

    @Test func subscriptionsHaveBeenToldWhenTheWriteReturns() async throws {
        try await withTickets(2) { tickets in
            let events = Events<ObjectEvent<Ticket>>()
            let subscription = tickets.subscribe(1) { events.add($0) }
            #expect(events.all == [.initial(Ticket(id: 1, points: 1))])
            try await tickets.update(1) { $0.title = "one" }
            #expect(events.all.last == .updated(Ticket(id: 1, title: "one", points: 1)))
            try await tickets.save(Ticket(id: 0))
            #expect(events.all.count == 2)
            try await tickets.dictionary.workspace.transaction { transaction in
                try transaction.save(Ticket(id: 1, title: "two"), in: tickets)
                try transaction.save(Ticket(id: 5), in: tickets)
            }
            #expect(events.all.last == .updated(Ticket(id: 1, title: "two")))
            try await tickets.delete(1)
            try await tickets.save(Ticket(id: 1, title: "three"))
            #expect(events.all.count == 4 && events.all.last == .deleted)
            subscription.cancel()
        }
    }

    @Test func writersAtOnceAreToldBeforeTheyReturn() async throws {
        try await withTickets(4) { tickets in
            let seen = Events<Ticket>()
            let subscriptions = (0..<4).map { id in
                tickets.subscribe(id) { if case .updated(let ticket) = $0 { seen.add(ticket) } }
            }
            try await withThrowingTaskGroup { group in
                for id in 0..<4 {
                    group.addTask {
                        for number in 0..<300 {
                            let ticket = Ticket(id: id, points: number)
                            try await tickets.save(ticket)
                            #expect(seen.all.last { $0.id == id } == ticket)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(seen.all.count == 1200)
            for subscription in subscriptions { subscription.cancel() }
        }
    }

    @Test func aClosureMayWriteAndCancel() async throws {
        try await withTickets(2) { tickets in
            let events = Events<ObjectEvent<Ticket>>()
            let held = Mutex<Subscription?>(nil)
            let subscription = tickets.subscribe(1) { event in
                events.add(event)
                guard case .updated(let ticket) = event else { return }
                if ticket.points < 5 {
                    let next = Ticket(id: 1, points: ticket.points + 1)
                    _ = tickets.dictionary.enqueue(next, forKey: tickets.key(of: 1))
                } else {
                    held.withLock { $0 }?.cancel()
                }
            }
            held.withLock { $0 = subscription }
            try await tickets.save(Ticket(id: 1, points: 2))
            try await tickets.dictionary.workspace.synchronize()
            try await tickets.save(Ticket(id: 1, points: 9))
            let points = events.all.map { event in
                if case .updated(let ticket) = event { ticket.points } else { -1 }
            }
            #expect(points == [-1, 2, 3, 4, 5])
        }
    }

    // MARK: Several at once

    @Test func aReaderBesideWritersSeesEachTransactionWhole() async throws {
        try await withTickets(20) { tickets in
            let query = tickets.order(by: \.points)
            let reader = Task {
                var items: [Ticket] = []
                var count = 0
                for await change in query.changes() {
                    switch change {
                    case .result(let result): items = result
                    case .changed(let change): change.apply(to: &items)
                    case .failed(let error): Issue.record(error)
                    }
                    count += 1
                    // Each transaction moves points from one to another.
                    #expect(items.reduce(0) { $0 + $1.points } == 190)
                    if items.contains(where: { $0.title == "last" }) { break }
                }
                return (items, count)
            }
            try await withThrowingTaskGroup { group in
                for writer in 0..<4 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(writer))
                        for _ in 0..<200 {
                            let (from, to) = (random.below(20), random.below(20))
                            try await tickets.dictionary.workspace.transaction { transaction in
                                try transaction.update(from, in: tickets) { $0.points -= 1 }
                                try transaction.update(to, in: tickets) { $0.points += 1 }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await tickets.update(0) { $0.title = "last" }
            let (items, count) = await reader.value
            #expect(try items == query.fetch())
            #expect(count > 1)
        }
    }

    @Test func aQueryThatBeginsBesideWritersMissesNothing() async throws {
        try await withTickets(10) { tickets in
            let writer = Task {
                for number in 0..<600 {
                    try await tickets.save(Ticket(id: number % 40, points: number))
                }
            }
            let live = tickets.dictionary.workspace.live.objects(of: tickets)
            var opened: [(LiveOutlet<Ticket>, LiveRegistration<Ticket>, Query<Ticket>)] = []
            for number in 0..<40 {
                let all = tickets.order(by: \.points, .descending)
                let query = number % 2 == 0 ? all : all.limit(5)
                let outlet = LiveOutlet<Ticket>(wantsPositions: true)
                opened.append((outlet, try live.open(query, outlet), query))
                await Task.yield()
            }
            try await writer.value
            for (outlet, registration, query) in opened {
                var items: [Ticket] = []
                // There is no element to be waited for.
                taking: while true {
                    switch outlet.take() {
                    case .resultDue: items = registration.items(outlet) ?? []
                    case .change(.changed(let change)): change.apply(to: &items)
                    default: break taking
                    }
                }
                #expect(try items == query.fetch())
            }
        }
    }

    @Test func whereAWatcherHadNoRoomAllIsReadAgain() async throws {
        try await withTickets(30) { tickets in
            let engine = tickets.dictionary.workspace.engine
            let name = try tickets.dictionary.checkedName()
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            let events = Events<ObjectEvent<Ticket>>()
            let subscriber = ObjectSubscriber(
                Array(tickets.key(of: 2).utf8),
                tickets.dictionary.workspace.live.objects(of: tickets)
            ) { events.add($0) }
            let query = tickets.order(by: \.points).limit(4)
            // Nobody takes what the watcher is told.
            var state = LiveState(tickets)
            var told = LiveTold()
            let watching = {
                engine.watchLive(WatchTarget(prefix: "", in: name)) {} as LiveWatch?
            }
            let view = try state.begin(watching, &told)
            try state.add(subscriber, view)
            let id = state.beginLoading()
            try state.finishLoading(id, query, LiveLoad(query, in: view), outlet, &told)
            view.close()
            outlet.noteResultTaken()
            for ticket in 0..<3 { try await tickets.save(Ticket(id: ticket, title: "new")) }
            _ = state.watch?.takeReady()
            try state.take([WatchEvent(content: .missed(3))], &told)
            try state.reloadDue(&told)
            guard case .resultDue = outlet.take() else { throw Missing() }
            #expect(try state.results[id]?.items == query.fetch())
            subscriber.deliver()
            #expect(events.all.last == .updated(Ticket(id: 2, title: "new")))
            // And it goes on from there.
            outlet.noteResultTaken()
            try await tickets.delete(0)
            try state.takeCommits(&told)
            guard case .change(.changed(let change)) = outlet.take() else { throw Missing() }
            #expect(change.removed == [0] && change.inserted.map(\.position) == [3])
            _ = state.close(id)
        }
    }

    @Test func whatNobodyLooksAtIsLetGoOf() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        weak var live: LiveObjects<Ticket>?
        do {
            var results = tickets.all.updates().makeAsyncIterator()
            _ = await results.next()
            live = workspace.live.objects(of: tickets)
            #expect(live != nil)
            _ = results
        }
        #expect(live == nil)
        try await tickets.save(Ticket(id: 1))
        try await workspace.close()
    }

    // MARK: On the main actor

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

private struct Missing: Error {}

/// What closures were told.
private final class Events<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    var all: [Event] { events.withLock { $0 } }
    func add(_ event: Event) { events.withLock { $0.append(event) } }
}
