import Foundation
import Observation
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What readers of live results see while several write.
@Suite(.timeLimit(.minutes(5))) struct LiveAtOnceTests {
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
            guard case .resultDue = outlet.take() else { throw Untold() }
            #expect(try state.results[id]?.items == query.fetch())
            subscriber.deliver()
            #expect(events.all.last == .updated(Ticket(id: 2, title: "new")))
            // And it goes on from there.
            outlet.noteResultTaken()
            try await tickets.delete(0)
            try state.takeCommits(&told)
            guard case .change(.changed(let change)) = outlet.take() else { throw Untold() }
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
}
