import Foundation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// That live results and subscriptions lose what expires when its time comes, and nothing else then.
@Suite(.timeLimit(.minutes(5))) struct LiveExpiryTests {
    private struct Missing: Error {}

    private let time = SettableTime()

    private func withTickets(_ body: (Repository<Ticket>) async throws -> Void) async throws {
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 4, clock: .settable(time)))
        try await body(workspace.repository(of: Ticket.self))
        try await workspace.close()
    }

    private func save(
        _ id: Int, points: Int = 0, expiresIn duration: Duration?, in tickets: Repository<Ticket>
    ) async throws {
        try await save(Ticket(id: id, points: points), expiresIn: duration, in: tickets)
    }

    private func save(
        _ ticket: Ticket, expiresIn duration: Duration?, in tickets: Repository<Ticket>
    ) async throws {
        if let duration {
            try await tickets.dictionary.set(
                ticket, forKey: tickets.key(of: ticket.id), expiresIn: duration)
        } else {
            try await tickets.dictionary.set(ticket, forKey: tickets.key(of: ticket.id))
        }
    }

    private func isArmed(_ tickets: Repository<Ticket>) -> Bool {
        tickets.dictionary.workspace.engine.expiryTimer.isArmed
    }

    // MARK: Results

    @Test(arguments: [false, true])
    func aResultLosesAnObjectAtItsMoment(isThereBefore: Bool) async throws {
        try await withTickets { tickets in
            for id in 0..<3 { try await save(id, expiresIn: nil, in: tickets) }
            if isThereBefore { try await save(9, expiresIn: .seconds(10), in: tickets) }
            if isThereBefore { try await tickets.dictionary.workspace.compact() }
            let query = tickets.order(by: \.id, .descending)
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            let registration = try tickets.dictionary.workspace.live.objects(of: tickets).open(
                query, outlet)
            var items = registration.items(outlet) ?? []
            if !isThereBefore {
                try await save(9, expiresIn: .seconds(10), in: tickets)
                guard case .change(.changed(let change)) = outlet.take() else { throw Missing() }
                change.apply(to: &items)
            }
            #expect(items.map(\.id) == [9, 2, 1, 0])
            time.advance(by: .milliseconds(9_998))
            guard case .empty = outlet.take() else { throw Missing() }
            time.advance(by: .milliseconds(2))
            guard case .change(.changed(let change)) = outlet.take() else { throw Missing() }
            #expect(change.removed == [0] && change.count == 1)
            change.apply(to: &items)
            #expect(try items == query.fetch())
            guard case .empty = outlet.take() else { throw Missing() }
            #expect(registration.items(outlet) == items)
            #expect(!isArmed(tickets))
        }
    }

    @Test func whatExpiresAtOnceIsOneChange() async throws {
        try await withTickets { tickets in
            var changes = tickets.order(by: \.id).changes().makeAsyncIterator()
            _ = await changes.next()
            for id in 0..<100 {
                try await save(id, expiresIn: .seconds(id % 3 == 0 ? 5 : 50), in: tickets)
                _ = await changes.next()
            }
            time.advance(by: .seconds(6))
            guard case .changed(let change)? = await changes.next() else { throw Missing() }
            #expect(change.removed == (0..<100).filter { $0 % 3 == 0 })
            try await tickets.delete(1)
            guard case .changed(let next)? = await changes.next() else { throw Missing() }
            #expect(next.removed == [0])
        }
    }

    /// By the system's clock and timer alone.
    @Test func aResultLosesAnObjectThoughNothingElseHappens() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await save(1, expiresIn: .milliseconds(300), in: tickets)
        try await save(2, expiresIn: nil, in: tickets)
        for await items in tickets.all.updates() where items.map(\.id) == [2] { break }
        try await workspace.close()
    }

    @MainActor @Test func aLiveQueryLosesWhatExpires() async throws {
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let tickets = workspace.repository(of: Ticket.self)
        try await save(1, expiresIn: .seconds(10), in: tickets)
        try await save(2, expiresIn: nil, in: tickets)
        let list = LiveQuery(tickets.all)
        #expect(list.items.map(\.id) == [1, 2])
        time.advance(by: .seconds(10))
        while list.items.map(\.id) != [2] { await Task.yield() }
        try await workspace.close()
    }

    @Test func aLimitedResultIsFilledUpWithWhatFollows() async throws {
        try await withTickets { tickets in
            for id in 0..<200 {
                try await save(
                    id, expiresIn: id < 150 ? .seconds(1 + id / 50) : nil, in: tickets)
            }
            let query = tickets.order(by: \.id).limit(3)
            var changes = query.changes().makeAsyncIterator()
            guard case .result(var items)? = await changes.next() else { throw Missing() }
            for first in [50, 100, 150] {
                time.advance(by: .seconds(1))
                guard case .changed(let change)? = await changes.next() else { throw Missing() }
                change.apply(to: &items)
                #expect(items.map(\.id) == Array(first..<(first + 3)))
            }
        }
    }

    // MARK: Subscriptions

    @Test func aSubscriptionIsToldThatItsObjectIsGone() async throws {
        try await withTickets { tickets in
            let events = Mutex<[ObjectEvent<Ticket>]>([])
            let later = Mutex<[ObjectEvent<Ticket>]>([])
            try await save(1, expiresIn: .seconds(10), in: tickets)
            let first = tickets.subscribe(1) { event in events.withLock { $0.append(event) } }
            let second = tickets.subscribe(2) { event in later.withLock { $0.append(event) } }
            try await save(2, expiresIn: .seconds(20), in: tickets)
            time.advance(by: .seconds(10))
            #expect(events.withLock { $0 } == [.initial(Ticket(id: 1)), .deleted])
            #expect(later.withLock { $0 } == [.initial(nil), .updated(Ticket(id: 2))])
            time.advance(by: .seconds(10))
            #expect(later.withLock { $0.last } == .deleted)
            #expect(!isArmed(tickets))
            try await save(1, expiresIn: .seconds(10), in: tickets)
            #expect(events.withLock { $0.count } == 2)
            withExtendedLifetime((first, second)) {}
        }
    }

    @Test func anObjectThatCannotBeReadExpiresToo() async throws {
        try await withTickets { tickets in
            let events = Mutex<[ObjectEvent<Ticket>]>([])
            let key = tickets.key(of: 1)
            try await tickets.dictionary.set("none", forKey: key, expiresIn: .seconds(10))
            let first = tickets.subscribe(1) { event in events.withLock { $0.append(event) } }
            time.advance(by: .seconds(10))
            #expect(events.withLock { $0.last } == .deleted)
            let second = tickets.subscribe(1) { event in events.withLock { $0.append(event) } }
            try await tickets.dictionary.set("none", forKey: key, expiresIn: .seconds(10))
            guard case .failed = events.withLock({ $0.last }) else { throw Missing() }
            time.advance(by: .seconds(10))
            #expect(events.withLock { $0.last } == .deleted)
            withExtendedLifetime((first, second)) {}
        }
    }

    /// Whoever moves the clock within a closure does not wait for its own call.
    @Test func aClosureMayMoveTheClock() async throws {
        try await withTickets { tickets in
            try await save(1, expiresIn: .seconds(10), in: tickets)
            let count = Mutex(0)
            let subscription = tickets.subscribe(1) { event in
                count.withLock { $0 += 1 }
                if case .initial = event { time.advance(by: .seconds(10)) }
            }
            #expect(count.withLock { $0 } == 2)
            withExtendedLifetime(subscription) {}
        }
    }

    // MARK: Deadlines that change

    @Test func anObjectThatIsSavedAgainGoesByItsLastDeadline() async throws {
        try await withTickets { tickets in
            try await save(1, expiresIn: .seconds(10), in: tickets)
            try await save(2, expiresIn: .seconds(10), in: tickets)
            try await save(3, expiresIn: .seconds(30), in: tickets)
            var results = tickets.all.updates().makeAsyncIterator()
            #expect(await results.next()?.count == 3)
            try await save(1, expiresIn: .seconds(40), in: tickets)
            try await save(2, expiresIn: nil, in: tickets)
            try await save(3, expiresIn: .seconds(10), in: tickets)
            #expect(await results.next()?.count == 3)
            time.advance(by: .seconds(10))
            #expect(await results.next()?.map(\.id) == [1, 2])
            time.advance(by: .seconds(29))
            try await save(2, points: 1, expiresIn: nil, in: tickets)
            #expect(await results.next()?.map(\.id) == [1, 2])
            time.advance(by: .seconds(1))
            #expect(await results.next()?.map(\.id) == [2])
            #expect(!isArmed(tickets))
        }
    }

    /// The batch with the later deadline became visible and waits to be taken when the earlier one comes.
    @Test func anObjectThatWasSavedAgainInTimeIsNeverGone() async throws {
        try await withTickets { tickets in
            let engine = tickets.dictionary.workspace.engine
            let name = try tickets.dictionary.checkedName()
            let query = tickets.all
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            try await save(1, expiresIn: .seconds(10), in: tickets)
            var state = LiveState(tickets)
            var told = LiveTold()
            let view = try state.begin(
                { engine.watchLive(WatchTarget(prefix: "", in: name)) {} as LiveWatch? }, &told)
            let id = state.beginLoading()
            try state.finishLoading(id, query, LiveLoad(query, in: view), outlet, &told)
            view.close()
            outlet.noteResultTaken()
            try await save(1, points: 1, expiresIn: .seconds(20), in: tickets)
            time.advance(by: .seconds(10))
            try state.takeCommits(&told)
            guard case .change(.changed(let change)) = outlet.take() else { throw Missing() }
            #expect(change.updated.count == 1 && change.count == 1)
            guard case .empty = outlet.take() else { throw Missing() }
            time.advance(by: .seconds(10))
            try state.takeCommits(&told)
            guard case .change(.changed(let last)) = outlet.take() else { throw Missing() }
            #expect(last.removed == [0])
            _ = state.close(id)
            #expect(state.deadlines.isEmpty)
        }
    }

    /// It is loaded, and what is written meanwhile is not yet known to expire.
    @Test func whatIsSavedWhileAResultOpensExpiresInIt() async throws {
        try await withTickets { tickets in
            let engine = tickets.dictionary.workspace.engine
            let name = try tickets.dictionary.checkedName()
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            try await save(1, expiresIn: .seconds(10), in: tickets)
            try await save(2, expiresIn: nil, in: tickets)
            var state = LiveState(tickets)
            var told = LiveTold()
            let view = try state.begin(
                { engine.watchLive(WatchTarget(prefix: "", in: name)) {} as LiveWatch? }, &told)
            let id = state.beginLoading()
            let load = try LiveLoad(tickets.all, in: view)
            try await save(2, expiresIn: .seconds(10), in: tickets)
            try await save(3, expiresIn: .seconds(20), in: tickets)
            try await save(1, expiresIn: .seconds(20), in: tickets)
            try state.takeCommits(&told)
            try state.finishLoading(id, tickets.all, load, outlet, &told)
            view.close()
            for (ids, count) in [([1, 3], 2), ([], 0)] {
                time.advance(by: .seconds(10))
                try state.takeCommits(&told)
                #expect(state.results[id]?.items.map(\.id) == ids)
                #expect(state.deadlines.count == count)
            }
            _ = state.close(id)
        }
    }

    @Test func whatIsReadAgainAfterBatchesWereMissedExpires() async throws {
        try await withTickets { tickets in
            let engine = tickets.dictionary.workspace.engine
            let name = try tickets.dictionary.checkedName()
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            let events = Mutex<[ObjectEvent<Ticket>]>([])
            let subscriber = ObjectSubscriber(
                Array(tickets.key(of: 2).utf8),
                tickets.dictionary.workspace.live.objects(of: tickets)
            ) { event in events.withLock { $0.append(event) } }
            try await save(2, expiresIn: .seconds(5), in: tickets)
            var state = LiveState(tickets)
            var told = LiveTold()
            let view = try state.begin(
                { engine.watchLive(WatchTarget(prefix: "", in: name)) {} as LiveWatch? }, &told)
            try state.add(subscriber, view)
            let id = state.beginLoading()
            try state.finishLoading(
                id, tickets.all, LiveLoad(tickets.all, in: view), outlet, &told)
            view.close()
            try await save(1, expiresIn: .seconds(10), in: tickets)
            try await save(2, expiresIn: .seconds(20), in: tickets)
            _ = state.watch?.takeReady()
            try state.take([WatchEvent(content: .missed(2))], &told)
            try state.reloadDue(&told)
            #expect(state.results[id]?.items.map(\.id) == [1, 2])
            time.advance(by: .seconds(10))
            try state.takeCommits(&told)
            #expect(state.results[id]?.items.map(\.id) == [2])
            subscriber.deliver()
            #expect(events.withLock { $0.last } == .updated(Ticket(id: 2)))
            time.advance(by: .seconds(10))
            try state.takeCommits(&told)
            #expect(state.results[id]?.items.isEmpty == true)
            subscriber.deliver()
            #expect(events.withLock { $0.last } == .deleted)
            _ = state.close(id)
        }
    }

    @Test func aClockThatIsSetBackBringsNothingBack() async throws {
        try await withTickets { tickets in
            try await save(1, expiresIn: .seconds(10), in: tickets)
            try await save(2, expiresIn: .seconds(20), in: tickets)
            let outlet = LiveOutlet<Ticket>(wantsPositions: true)
            let registration = try tickets.dictionary.workspace.live.objects(of: tickets).open(
                tickets.all, outlet)
            #expect(registration.items(outlet)?.count == 2)
            time.advance(by: .seconds(10))
            guard case .change(.changed(let first)) = outlet.take() else { throw Missing() }
            #expect(first.removed == [0])
            time.advance(by: .seconds(-3600))
            try await save(3, expiresIn: nil, in: tickets)
            guard case .change(.changed(let second)) = outlet.take() else { throw Missing() }
            #expect(second.inserted.count == 1 && second.count == 1)
            time.advance(by: .seconds(3609))
            guard case .empty = outlet.take() else { throw Missing() }
            time.advance(by: .seconds(1))
            guard case .change(.changed(let third)) = outlet.take() else { throw Missing() }
            #expect(third.removed == [0] && third.count == 1)
        }
    }

    // MARK: The timer

    @Test func theTimerRunsOnlyWhileSomethingThatExpiresIsLookedAt() async throws {
        try await withTickets { tickets in
            try await save(1, points: 1, expiresIn: .seconds(10), in: tickets)
            try await save(2, points: 5, expiresIn: nil, in: tickets)
            #expect(!isArmed(tickets))
            let live = tickets.dictionary.workspace.live.objects(of: tickets)
            do {
                let other = LiveOutlet<Ticket>(wantsPositions: true)
                let registration = try live.open(tickets.where { $0.points > 3 }, other)
                #expect(!isArmed(tickets))
                try await save(3, points: 4, expiresIn: .seconds(10), in: tickets)
                #expect(isArmed(tickets))
                // It leaves the result, and later all else does.
                try await save(3, points: 1, expiresIn: .seconds(10), in: tickets)
                #expect(!isArmed(tickets))
                try await save(3, points: 4, expiresIn: .seconds(10), in: tickets)
                try await tickets.delete(3)
                #expect(!isArmed(tickets))
                try await save(3, points: 4, expiresIn: .seconds(10), in: tickets)
                try await tickets.dictionary.removeAll()
                #expect(!isArmed(tickets))
                try await save(3, points: 4, expiresIn: .seconds(10), in: tickets)
                #expect(isArmed(tickets))
                withExtendedLifetime(registration) {}
            }
            #expect(!isArmed(tickets))
            let subscription = tickets.subscribe(3) { _ in }
            #expect(isArmed(tickets))
            subscription.cancel()
            #expect(!isArmed(tickets))
        }
    }

    @Test func aCancelledSubscriberAndAClosedWorkspaceAreToldNothing() async throws {
        try await withTickets { tickets in
            try await save(1, expiresIn: .seconds(10), in: tickets)
            let events = Mutex<[ObjectEvent<Ticket>]>([])
            let subscription = tickets.subscribe(1) { event in events.withLock { $0.append(event) }
            }
            subscription.cancel()
            time.advance(by: .seconds(10))
            #expect(events.withLock { $0.count } == 1)
            try await save(1, expiresIn: .seconds(10), in: tickets)
            var results = tickets.all.updates().makeAsyncIterator()
            #expect(await results.next()?.count == 1)
            let second = tickets.subscribe(1) { event in events.withLock { $0.append(event) } }
            try await tickets.dictionary.workspace.close()
            #expect(!isArmed(tickets))
            time.advance(by: .seconds(10))
            #expect(events.withLock { $0.count } == 2)
            #expect(await results.next() == nil)
            withExtendedLifetime(second) {}
        }
    }

    // MARK: Readers of other openings

    @Test func aReaderBesideTheWriterLosesWhatExpires() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await Workspace.open(
                at: path, configuration: .init(clock: .settable(time)))
            let written = writer.repository(of: Ticket.self)
            try await save(1, expiresIn: .seconds(10), in: written)
            try await save(2, expiresIn: nil, in: written)
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly, clock: .settable(time)))
            let tickets = reader.repository(of: Ticket.self)
            var results = tickets.all.updates().makeAsyncIterator()
            #expect(await results.next()?.map(\.id) == [1, 2])
            try await save(3, expiresIn: .seconds(20), in: written)
            #expect(await results.next()?.map(\.id) == [1, 2, 3])
            time.advance(by: .seconds(10))
            #expect(await results.next()?.map(\.id) == [2, 3])
            time.advance(by: .seconds(10))
            #expect(await results.next()?.map(\.id) == [2])
            try await reader.close()
            try await writer.close()
        }
    }

    // MARK: Many

    /// Random saves, removals and moves of the clock: changes that are applied give what a fetch does.
    @Test(arguments: 0..<3) func resultsAreWhatAFetchGives(round: Int) async throws {
        var random = SeededGenerator(seed: testSeed() &+ UInt64(round))
        try await withTickets { tickets in
            let live = tickets.dictionary.workspace.live.objects(of: tickets)
            let queries = [
                tickets.all, tickets.where { $0.points > 4 }.order(by: \.points),
                tickets.order(by: \.points, .descending).limit(5),
                tickets.order(by: \.points).offset(2).limit(20),
            ]
            var results = try queries.map { query in
                let outlet = LiveOutlet<Ticket>(wantsPositions: true)
                return (outlet, try live.open(query, outlet), [Ticket]())
            }
            for step in 0..<600 {
                let id = random.below(60)
                switch random.below(8) {
                case 0: try await tickets.delete(id)
                case 1, 2: time.advance(by: .seconds(random.below(12)))
                case 3: time.advance(by: .seconds(-random.below(5)))
                default:
                    try await save(
                        id, points: random.below(10),
                        expiresIn: random.once(in: 3) ? nil : .seconds(random.below(40)),
                        in: tickets)
                }
                for (index, query) in queries.enumerated() {
                    results[index].2 = try taken(results[index])
                    let fetched = try query.fetch()
                    #expect(results[index].2 == fetched, "step \(step), query \(index)")
                    if results[index].2 != fetched { return }
                }
            }
            results = []
            #expect(!isArmed(tickets))
            #expect(live.keptObjectCount == 0)
        }
    }

    private func taken(
        _ result: (LiveOutlet<Ticket>, LiveRegistration<Ticket>, [Ticket])
    ) throws -> [Ticket] {
        var (outlet, registration, items) = result
        while true {
            switch outlet.take() {
            case .resultDue: items = registration.items(outlet) ?? []
            case .change(.changed(let change)): change.apply(to: &items)
            case .empty: return items
            case .change, .ended: throw Missing()
            }
        }
    }
}
