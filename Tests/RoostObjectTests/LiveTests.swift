import Foundation
import Observation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What live queries and subscriptions promise.
@Suite(.timeLimit(.minutes(5))) struct LiveTests {
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
            guard case .result(var items)? = await changes.next() else { throw Untold() }
            #expect(items.map(\.id) == [0, 1, 2, 3])
            try await tickets.dictionary.workspace.transaction { transaction in
                try transaction.save(Ticket(id: 0, points: 10), in: tickets)
                try transaction.save(Ticket(id: 1, title: "new", points: 1), in: tickets)
                try transaction.delete(2, in: tickets)
                try transaction.save(Ticket(id: 7, points: 2), in: tickets)
            }
            guard case .changed(let change)? = await changes.next() else { throw Untold() }
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
            guard case .result(let items)? = await changes.next() else { throw Untold() }
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
        guard case .changed? = await changes.next() else { throw Untold() }
        #expect(await results.next() == nil)
        #expect(await changes.next() == nil)
        var late = tickets.all.changes().makeAsyncIterator()
        guard case .failed(let error)? = await late.next() else { throw Untold() }
        #expect(error.code == .closed)
        #expect(await late.next() == nil)
    }

    @Test func aLimitedResultIsFilledUp() async throws {
        try await withTickets(500) { tickets in
            let query = tickets.order(by: \.points).offset(3).limit(5)
            var changes = query.changes().makeAsyncIterator()
            guard case .result(var items)? = await changes.next() else { throw Untold() }
            for id in 0..<490 {
                try await tickets.delete(id)
                guard case .changed(let change)? = await changes.next() else { throw Untold() }
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
            guard case .result(var items)? = await changes.next() else { throw Untold() }
            try await tickets.dictionary.set("no ticket", forKey: tickets.key(of: 1))
            guard case .failed(let error)? = await changes.next() else { throw Untold() }
            #expect(error.code == .typeMismatch)
            #expect(await failures.next(isolation: nil)?.code == .typeMismatch)
            guard case .changed(let change)? = await changes.next() else { throw Untold() }
            change.apply(to: &items)
            #expect(items.map(\.id) == [0, 2])
            // Whoever begins now is told too.
            var late = tickets.all.changes().makeAsyncIterator()
            guard case .failed? = await late.next() else { throw Untold() }
            guard case .result(let rest)? = await late.next() else { throw Untold() }
            #expect(rest.map(\.id) == [0, 2])
            try await tickets.save(Ticket(id: 1, title: "again"))
            guard case .changed(let second)? = await changes.next() else { throw Untold() }
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
            guard case .failed? = await changes.next() else { throw Untold() }
            #expect(await others.next()?.count == 2)
            try await tickets.save(Ticket(id: 3, note: "longer"))
            guard case .changed(let change)? = await changes.next() else { throw Untold() }
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

    /// As where the first event of either is all that is waited for.
    @Test func closuresThatAreCalledAtOnceMayEndEachOther() async throws {
        let workspace = try await Workspace.inMemory()
        let repositories = ["one", "other"].map {
            workspace.repository(of: Ticket.self, named: $0)
        }
        let subscriptions = Mutex<[Subscription]>([])
        let (called, ended) = (Counter(), Counter())
        for tickets in repositories {
            let subscription = tickets.subscribe(1) { event in
                guard case .updated = event else { return }
                called.value.add(1, ordering: .sequentiallyConsistent)
                while called.value.load(ordering: .sequentiallyConsistent) < 2 {
                    Thread.sleep(forTimeInterval: 0.001)
                }
                for subscription in subscriptions.withLock({ $0 }) { subscription.cancel() }
                ended.value.add(1, ordering: .sequentiallyConsistent)
            }
            subscriptions.withLock { $0.append(subscription) }
        }
        for tickets in repositories {
            Thread.detachNewThread {
                _ = tickets.dictionary.enqueue(Ticket(id: 1), forKey: tickets.key(of: 1))
            }
        }
        let end = ContinuousClock.now + .seconds(60)
        while ended.value.load(ordering: .sequentiallyConsistent) < 2, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(1))
        }
        try #require(ended.value.load(ordering: .sequentiallyConsistent) == 2)
        let all = subscriptions.withLock { all in
            defer { all = [] }
            return all
        }
        #expect(all.count == 2)
        try await workspace.close()
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
}
