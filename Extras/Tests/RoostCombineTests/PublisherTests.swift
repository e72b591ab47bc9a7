import OpenCombine
import Roost
import RoostCombine
import Synchronization
import Testing

private struct Ticket: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var points = 0
}

/// `@unchecked Sendable`: a subscription's calls may come from any thread, as Combine has it.
private struct HeldSubscription: @unchecked Sendable {
    let subscription: any OpenCombine.Subscription
}

@Suite(.timeLimit(.minutes(10))) struct PublisherTests {
    @Test func aQuerysPublisherGivesItsResultAndEachNewerOne() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        try await tickets.save(Ticket(id: 1, points: 5))
        let (results, told) = AsyncStream<[Ticket]>.makeStream()
        let cancellable = tickets.where { $0.points > 3 }.publisher()
            .map { Array($0.reversed()) }
            .sink(receiveCompletion: { _ in told.finish() }, receiveValue: { told.yield($0) })
        var iterator = results.makeAsyncIterator()
        #expect(await iterator.next() == [Ticket(id: 1, points: 5)])
        try await tickets.save(Ticket(id: 2, points: 7))
        #expect(await iterator.next()?.map(\.id) == [2, 1])
        try await workspace.close()
        #expect(await iterator.next() == nil)
        withExtendedLifetime(cancellable) {}
    }

    @Test func anObjectsPublisherGivesItAndThatItIsGone() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let (objects, told) = AsyncStream<Ticket?>.makeStream()
        let cancellable = tickets.publisher(of: 1).sink { told.yield($0) }
        var iterator = objects.makeAsyncIterator()
        #expect(await iterator.next() == .some(nil))
        try await tickets.save(Ticket(id: 1))
        #expect(await iterator.next() == .some(Ticket(id: 1)))
        try await tickets.delete(1)
        #expect(await iterator.next() == .some(nil))
        cancellable.cancel()
        try await workspace.close()
    }

    @Test func aReadsPublisherGivesEachNewerValueAndFailsWithIt() async throws {
        struct TooMany: Error {}
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let open = tickets.where { $0.points > 3 }
        let (counts, told) = AsyncThrowingStream<Int, any Error>.makeStream()
        let cancellable = workspace.publisher { view in
            let count = try view.count(of: open)
            if count > 1 { throw TooMany() }
            return count
        }.sink(
            receiveCompletion: { completion in
                if case .failure(let error) = completion {
                    told.finish(throwing: error)
                } else {
                    told.finish()
                }
            }, receiveValue: { told.yield($0) })
        var iterator = counts.makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        try await tickets.save(Ticket(id: 1, points: 5))
        #expect(try await iterator.next() == 1)
        try await tickets.save(Ticket(id: 2, points: 5))
        await #expect(throws: TooMany.self) { try await iterator.next() }
        try await workspace.close()
        withExtendedLifetime(cancellable) {}
    }

    @MainActor @Test func aClosureOfTheMainActorIsCalledThere() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        var count = 0
        let cancellable = tickets.all.publisher().sink { count = $0.count }
        try await tickets.save(Ticket(id: 1))
        while count == 0 { await Task.yield() }
        cancellable.cancel()
        try await workspace.close()
    }

    @Test func aSubscriberIsGivenWhatItAsksForAndSkipsToTheNewest() async throws {
        let workspace = try await Workspace.inMemory()
        let tickets = workspace.repository(of: Ticket.self)
        let (results, told) = AsyncStream<Int>.makeStream()
        let held = Mutex<HeldSubscription?>(nil)
        let subscriber = AnySubscriber<[Ticket], Never>(
            receiveSubscription: { subscription in
                let own = HeldSubscription(subscription: subscription)
                held.withLock { $0 = own }
                subscription.request(.max(1))
            },
            receiveValue: {
                told.yield($0.count)
                return .none
            }, receiveCompletion: { _ in })
        tickets.all.publisher().subscribe(subscriber)
        var iterator = results.makeAsyncIterator()
        #expect(await iterator.next() == 0)
        for id in 0..<5 { try await tickets.save(Ticket(id: id)) }
        held.withLock { $0?.subscription.request(.max(1)) }
        #expect(await iterator.next() == 5)
        held.withLock { $0?.subscription.cancel() }
        try await workspace.close()
    }
}
