import Foundation
import RoostEngine
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// That who follows a read is given each newer value of it, and is left alone by all else.
@Suite(.timeLimit(.minutes(5))) struct ReadUpdatesTests {
    private struct Missing: Error {}

    private func withTickets(
        _ configuration: Workspace.Configuration = .init(shardCount: 4),
        _ body: (Repository<Ticket>, WorkspaceDictionary) async throws -> Void
    ) async throws {
        let workspace = try await Workspace.inMemory(configuration: configuration)
        try await body(workspace.repository(of: Ticket.self), workspace.dictionary("settings"))
        try await workspace.close()
    }

    /// Reads once, and says how often the read becomes due.
    private func observe<Value>(
        _ workspace: Workspace, _ read: (ReadView) throws -> Value
    ) throws -> (ReadObservation, Value, @Sendable () -> Int) {
        let count = Counter()
        let observation = ReadObservation(workspace) { count.value.add(1, ordering: .relaxed) }
        let value = try observation.read(read).result.get()
        return (observation, value, { count.value.load(ordering: .relaxed) })
    }

    /// What is known of a read stays as long as who observes it, and the view has the files that it began on.
    @Test func theViewOfAReadGoesWithTheRead() async throws {
        try await withTickets { tickets, settings in
            try await settings.set(1, forKey: "a")
            weak var view: EngineView?
            let (observation, isThere, _) = try observe(tickets.dictionary.workspace) { read in
                view = read.engineView
                return try read.contains("a", in: settings)
            }
            #expect(isThere)
            #expect(view == nil)
            withExtendedLifetime(observation) {}
        }
    }

    // MARK: What is due

    @Test func aReadOfSeveralIsDueByAnyOfThem() async throws {
        try await withTickets { tickets, settings in
            let high = tickets.where { $0.points > 10 }
            let read: @Sendable (ReadView) throws -> (Int, String?) = { view in
                (try view.count(of: high), try view.value(forKey: "title", in: settings))
            }
            let (observation, _, count) = try observe(tickets.dictionary.workspace, read)
            try await tickets.save(Ticket(id: 1, points: 11))
            #expect(observation.isDue && count() == 1)
            #expect(try observation.read(read).result.get() == (1, nil))
            #expect(!observation.isDue)
            try await settings.set("Open", forKey: "title")
            #expect(observation.isDue && count() == 2)
            #expect(try observation.read(read).result.get() == (1, "Open"))
        }
    }

    @Test func writesOfOtherKeysMakeNothingDue() async throws {
        try await withTickets { tickets, settings in
            for id in 0..<50 { try await tickets.save(Ticket(id: id, points: id)) }
            try await settings.set(1, forKey: "a")
            let (observation, _, count) = try observe(tickets.dictionary.workspace) { view in
                (
                    try view.find(7, in: tickets), try view.contains("a", in: settings),
                    try view.keys(of: settings, prefix: "x/"),
                    try view.fetch(tickets.where { $0.id == 9 })
                )
            }
            for id in 20..<60 { try await tickets.save(Ticket(id: id, points: 0)) }
            try await settings.set(2, forKey: "b")
            try await settings.removeValue(forKey: "y/1")
            #expect(!observation.isDue && count() == 0)
            try await settings.set(3, forKey: "x/1")
            #expect(observation.isDue && count() == 1)
        }
    }

    @Test func aPageIsNotDueByWhatComesBehindIt() async throws {
        try await withTickets { tickets, settings in
            for number in 10..<40 { try await settings.set(number, forKey: "k\(number)") }
            let (observation, _, _) = try observe(settings.workspace) { view in
                try view.page(of: settings, as: Int.self, limit: 5).map(\.key)
            }
            try await settings.set(0, forKey: "k15")
            try await settings.removeValue(forKey: "k39")
            #expect(!observation.isDue)
            try await settings.removeValue(forKey: "k14")
            #expect(observation.isDue)
        }
    }

    /// The least bytes that keys have stand before and behind those of the dictionary's name.
    @Test(arguments: [ScanOrder.ascending, .descending], ["k", "\u{1}"])
    func lentBytesUpToALimitAreDueByWhatTheyShow(order: ScanOrder, start: String) async throws {
        try await withTickets { _, settings in
            for number in 10..<40 {
                try await settings.set("\(number)", forKey: "\(start)\(number)")
            }
            let read: (ReadView) throws -> [String] = { view in
                var seen: [String] = []
                try view.forEachBytes(of: settings, limit: 5, order: order) { _, value in
                    seen.append(value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
                }
                return seen
            }
            let isDescending = order == .descending
            let (observation, seen, _) = try observe(settings.workspace, read)
            #expect(seen.first == (isDescending ? "39" : "10"))
            try await settings.set("behind", forKey: "\(start)20")
            #expect(!observation.isDue)
            try await settings.set("last", forKey: "\(start)\(isDescending ? 35 : 14)")
            #expect(observation.isDue)
            #expect(try observation.read(read).result.get().last == "last")
            try await settings.removeValue(forKey: "\(start)\(isDescending ? 39 : 10)")
            #expect(observation.isDue)
        }
    }

    /// With one shard the object and what says that its index counts are in the same.
    @Test(arguments: [1, 16])
    func aWriteRoundTheRepositoryMakesAQueryDue(shardCount: Int) async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: shardCount))
        let posts = workspace.repository(of: IndexedTicket.self)
        try await posts.save(IndexedTicket(id: 1, points: 3))
        try await posts.indexesBuilt()
        let query = posts.where { $0.points == 3 }
        #expect(try query.explain().contains("index"))
        let (observation, found, _) = try observe(workspace) { try $0.count(of: query) }
        #expect(found == 1)
        try await posts.dictionary.set(
            IndexedTicket(id: 2, points: 3), forKey: posts.key(of: 2))
        #expect(observation.isDue)
        #expect(try observation.read { try $0.count(of: query) }.result.get() == 2)
        try await workspace.close()
    }

    @Test func whatExpiresMakesAReadDueAtItsMoment() async throws {
        let time = SettableTime()
        try await withTickets(.init(shardCount: 4, clock: .settable(time))) { tickets, settings in
            try await settings.set("soon", forKey: "a", expiresIn: .seconds(10))
            try await settings.set("later", forKey: "b", expiresIn: .seconds(20))
            let read: (ReadView) throws -> Int = { try $0.count(of: settings) }
            let (observation, _, _) = try observe(settings.workspace, read)
            time.advance(by: .milliseconds(9_990))
            #expect(!observation.isDue)
            time.advance(by: .milliseconds(20))
            #expect(observation.isDue)
            #expect(try observation.read(read).result.get() == 1)
            time.advance(by: .seconds(10))
            #expect(observation.isDue)
            #expect(try observation.read(read).result.get() == 0)
            #expect(!settings.workspace.engine.expiryTimer.isArmed)
        }
    }

    @Test func whatIsWrittenWhileItReadsMakesItDue() async throws {
        try await withTickets { tickets, settings in
            try await settings.set(1, forKey: "a")
            let gate = Gate()
            let observation = ReadObservation(settings.workspace) {}
            let read: @Sendable (ReadView) throws -> Int = { view in
                let value = try view.value(forKey: "a", as: Int.self, in: settings) ?? 0
                gate.pass()
                return value
            }
            for round in 1...3 {
                gate.close()
                let outcome = onThread { try observation.read(read).result.get() }
                await gate.waitForArrival()
                try await settings.set(round + 1, forKey: "a")
                gate.open()
                // The first read was not watched before: it finds out itself, and reads again.
                #expect(try await outcome() == (round == 1 ? 2 : round))
                #expect(observation.isDue == (round > 1))
            }
        }
    }

    /// What is kept for a read that goes on has a bound: of more it is not known any more what it was.
    @Test(arguments: [100, 5_000])
    func ofManyWritesDuringAReadItIsOnlyKnownThatTheyWere(count: Int) async throws {
        try await withTickets { tickets, settings in
            try await settings.set(1, forKey: "a")
            let gate = Gate()
            let observation = ReadObservation(settings.workspace) {}
            let read: @Sendable (ReadView) throws -> Int? = { view in
                gate.pass()
                return try view.value(forKey: "a", as: Int.self, in: settings)
            }
            _ = observation.read(read)
            for isTouched in [false, true] {
                gate.close()
                let outcome = onThread { try observation.read(read).result.get() }
                await gate.waitForArrival()
                for number in 0..<count { try await settings.set(number, forKey: "b\(number)") }
                if isTouched { try await settings.set(2, forKey: "a") }
                gate.open()
                #expect(try await outcome() == 1)
                #expect(observation.isDue == (isTouched || count > 4_096))
            }
        }
    }

    // MARK: Sequences

    @Test func whoReadsNothingEndsWithTheWorkspace() async throws {
        try await withTickets { tickets, settings in
            let workspace = settings.workspace
            let nobody = tickets.where { $0.id.isIn([]) }
            var counts = workspace.updates { try $0.count(of: nobody) }.makeAsyncIterator()
            #expect(try await counts.next() == 0)
            var all = workspace.updates { _ in 1 }.makeAsyncIterator()
            #expect(try await all.next() == 1)
            let waiting = Task {
                for try await count in workspace.updates(of: { _ in 2 }) where count != 2 {}
                return true
            }
            try await tickets.save(Ticket(id: 1, points: 1))
            try await workspace.close()
            let end = try await (counts.next(), all.next())
            #expect(end.0 == nil && end.1 == nil)
            #expect(try await waiting.value)
        }
    }

    @Test func aSequenceGivesTheFirstValueAndEachNewerOne() async throws {
        try await withTickets { tickets, settings in
            let workspace = tickets.dictionary.workspace
            let sums = workspace.updates { view in try view.sum(of: \.points, in: tickets.all) }
            var iterator = sums.makeAsyncIterator()
            #expect(try await iterator.next() == 0)
            try await tickets.save(Ticket(id: 1, points: 5))
            #expect(try await iterator.next() == 5)
            // Equal values are left out.
            try await tickets.save(Ticket(id: 2, points: 0))
            try await tickets.save(Ticket(id: 3, points: 2))
            #expect(try await iterator.next() == 7)
            try await workspace.close()
            let end = try await iterator.next()
            #expect(end == nil)
        }
    }

    @Test func whatTheReadThrowsEndsTheSequence() async throws {
        try await withTickets { tickets, settings in
            var iterator = settings.workspace.updates { view in
                guard try view.contains("a", in: settings) else { throw Missing() }
                return 1
            }.makeAsyncIterator()
            await #expect(throws: Missing.self) { try await iterator.next() }
            let end = try await iterator.next()
            #expect(end == nil)
        }
    }

    @Test func aCancelledReaderEnds() async throws {
        try await withTickets { tickets, settings in
            let workspace = settings.workspace
            let (begun, signal) = AsyncStream<Void>.makeStream()
            let task = Task {
                var seen: [Int] = []
                for try await count in workspace.updates(of: { try $0.count(of: settings) }) {
                    seen.append(count)
                    signal.finish()
                }
                return seen
            }
            for await _ in begun {}
            task.cancel()
            let seen = try await task.value
            #expect(seen == [0])
        }
    }

    @Test func eachValueIsOfOneMoment() async throws {
        try await withTickets { tickets, settings in
            let workspace = settings.workspace
            try await tickets.save(Ticket(id: 0, points: 100))
            try await settings.set(0, forKey: "given")
            let totals = workspace.updates { view in
                let left = try view.sum(of: \.points, in: tickets.all)
                return left + (try view.value(forKey: "given", as: Int.self, in: settings) ?? 0)
            }
            let left = workspace.updates { try $0.find(0, in: tickets)?.points }
            let reader = Task {
                for try await total in totals where total != 100 { return total }
                return 100
            }
            let last = Task {
                for try await points in left where points == 0 { return true }
                return false
            }
            for _ in 0..<100 {
                try await workspace.transaction { transaction in
                    try transaction.update(0, in: tickets) { $0.points -= 1 }
                    let given: Int = try transaction.value(forKey: "given", in: settings) ?? 0
                    try transaction.set(given + 1, forKey: "given", in: settings)
                }
            }
            #expect(try await last.value)
            try await workspace.close()
            #expect(try await reader.value == 100)
        }
    }

    @Test func readersEndWithWhatIsThere() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        let tickets = workspace.repository(of: IndexedTicket.self)
        let settings = workspace.dictionary("settings")
        let seed = testSeed()
        let reads: [@Sendable (ReadView) throws -> [Int]] = [
            { [try $0.count(of: tickets.where { $0.points > 5 })] },
            { try $0.fetch(tickets.order(by: \.points).limit(3)).map(\.id) },
            { [try $0.count(of: settings), try $0.sum(of: \.points, in: tickets.all)] },
            { view in
                let first = try view.first(tickets.order(by: \.points, .descending))?.id ?? 0
                let name = "\(first % 5)"
                return [try view.value(forKey: name, as: Int.self, in: settings) ?? -1]
            },
        ]
        let last = reads.map { _ in Newest() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (read, last) in zip(reads, last) {
                group.addTask {
                    for try await value in workspace.updates(of: read) { last.set(value) }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for writer in 0..<4 {
                    writers.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(writer))
                        for _ in 0..<200 {
                            let id = random.below(40)
                            switch random.below(5) {
                            case 0: try await tickets.delete(id)
                            case 1: try await settings.set(random.below(9), forKey: "\(id % 5)")
                            case 2: try await settings.removeValue(forKey: "\(id % 5)")
                            default:
                                try await tickets.save(
                                    IndexedTicket(id: id, points: random.below(12)))
                            }
                        }
                    }
                }
                try await writers.waitForAll()
            }
            for (read, last) in zip(reads, last) {
                let expected = try workspace.read(read)
                while last.value != expected { try await Task.sleep(for: .milliseconds(1)) }
            }
            try await workspace.close()
            try await group.waitForAll()
        }
    }
}

private final class Newest: Sendable {
    private let state = Mutex<[Int]?>(nil)
    var value: [Int]? { state.withLock { $0 } }
    func set(_ value: [Int]) { state.withLock { $0 = value } }
}

private struct IndexedTicket: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var points: Int
    static var indexes: [Index<IndexedTicket>] { [Index("points", \.points)] }
}

/// Runs on a thread of its own, which may wait; the closure waits for what it gave.
private func onThread<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
) -> @Sendable () async throws -> Value {
    let stream = AsyncStream<Result<Value, any Error>>.makeStream()
    Thread.detachNewThread {
        stream.continuation.yield(Result { try body() })
        stream.continuation.finish()
    }
    return {
        for await result in stream.stream { return try result.get() }
        throw CancellationError()
    }
}
