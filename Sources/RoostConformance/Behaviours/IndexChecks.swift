import Roost
import RoostIO
import RoostShared

private struct Ticket: Codable, Equatable, Identifiable, Sendable {
    var id: Int
    var owner: String
    var priority: Int
    var seat: String
}

extension Ticket: Indexed {
    static var indexes: [Index<Ticket>] {
        [
            Index("owner", \.owner, .descending(\.priority)),
            Index("priority", \.priority),
            Index("seat", \.seat, isUnique: true),
        ]
    }
}

extension ConformanceCheck where Workspace == SharedWorkspace {
    /// What the indexes of shared repositories promise over an engine.
    static var indexChecks: [ConformanceCheck] {
        [
            ConformanceCheck(
                "an index that is built beside two clients who write has what the objects have"
            ) { context in
                let name = "\(context.prefix)-tickets"
                let (one, two) = repositories(context, named: name)
                try await one.saveAll((0..<20).map { ticket($0, 0) })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, tickets) in [one, two].enumerated() {
                        group.addTask { try await tickets.buildIndexes() }
                        group.addTask {
                            try await write(tickets, number, rounds: 20 * context.effort)
                        }
                    }
                    try await group.waitForAll()
                }
                let all = try await two.loadAll()
                for priority in 0..<5 {
                    let found = try await one.where { $0.priority == priority }.fetch()
                    try requireEqual(
                        found, all.filter { $0.priority == priority }, "those of \(priority)")
                }
                let first = try await two.where { $0.owner == "ada" }
                    .order(by: \.priority, .descending).limit(3).fetch()
                let expected = all.filter { $0.owner == "ada" }
                    .sorted { ($1.priority, $0.id) < ($0.priority, $1.id) }.prefix(3)
                try requireEqual(first, Array(expected), "the first three of ada's")
                try requireEqual(
                    try await two.where { $0.seat.hasPrefix("s") }.count(), all.count,
                    "the count by seats")
                try requireEqual(
                    try await one.where { $0.id > 5 && $0.id <= 15 }.fetch(),
                    all.filter { $0.id > 5 && $0.id <= 15 }, "those of a range of identifiers")
                try requireEqual(
                    try await two.order(by: \.id, .descending).limit(4).fetch(),
                    Array(all.sorted { $0.id > $1.id }.prefix(4)), "the last four identifiers")
                try requireEqual(
                    try await one.where { $0.id.isIn([21, 3, 900, 3]) }.count(),
                    all.filter { [21, 3].contains($0.id) }.count, "those of some identifiers")
            },
            ConformanceCheck(
                "a query's result that is followed beside two clients who write ends as the objects do"
            ) { context in
                let name = "\(context.prefix)-followed"
                let (one, two) = repositories(context, named: name)
                try await one.buildIndexes()
                try await one.saveAll((0..<20).map { ticket($0, 0) })
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await follow(two, within: context.patience * 10) }
                    for (number, tickets) in [one, two].enumerated() {
                        group.addTask {
                            try await write(tickets, number, rounds: 20 * context.effort)
                            // The last of each writer, by which the follower knows the end.
                            try await tickets.save(
                                Ticket(
                                    id: 100 + number, owner: "ada", priority: 99, seat: "e\(number)"
                                ))
                        }
                    }
                    try await group.waitForAll()
                }
            },
            ConformanceCheck("what a transaction has found by a query is so when it commits") {
                context in
                let name = "\(context.prefix)-claimed"
                let (one, two) = repositories(context, named: name)
                try await one.buildIndexes()
                // Each of ada's is claimed by one of four, who read beside each other which is the first.
                let claims = try await withThrowingTaskGroup(of: [Int].self) { group in
                    for (number, tickets) in [one, two, one, two].enumerated() {
                        group.addTask {
                            let added = ((number * 5)..<(number * 5 + 5)).map { id in
                                Ticket(id: id, owner: "ada", priority: id, seat: "s\(id)")
                            }
                            for ticket in added { try await tickets.save(ticket) }
                            return try await claim(tickets, rounds: 5)
                        }
                    }
                    return try await group.reduce(into: []) { $0 += $1 }
                }
                try requireEqual(claims.sorted(), Array(0..<20), "what was claimed")
                // Whoever counts what there is before it adds one keeps to three, however many do so at once.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, tickets) in [one, two, one, two].enumerated() {
                        group.addTask { try await addUpToThree(tickets, number) }
                    }
                    try await group.waitForAll()
                }
                try requireEqual(
                    try await one.where { $0.owner == "eve" }.count(), 3, "how many of eve's")
                try requireEqual(
                    try await two.where { $0.owner == "eve" }.deleteAll(), 3, "those removed")
                try requireEqual(try await one.count, 20, "what is left")
            },
            ConformanceCheck("one of many has a value that is to be unique") { context in
                let name = "\(context.prefix)-seats"
                let won = try await withThrowingTaskGroup(of: Bool.self) { group in
                    let tickets = context.workspaces.map {
                        $0.repository(of: Ticket.self, named: name)
                    }
                    try await tickets[0].buildIndexes()
                    for id in 0..<8 {
                        group.addTask {
                            let wanted = Ticket(id: id, owner: "a", priority: 0, seat: "1A")
                            do {
                                try await tickets[id % tickets.count].insert(wanted)
                                return true
                            } catch let error as RoostError where error.code == .notUnique {
                                return false
                            }
                        }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                try requireEqual(won, 1, "how many have the seat")
            },
            ConformanceCheck("what is written by keys takes indexes away, whoever writes it") {
                context in
                let name = "\(context.prefix)-by-keys"
                let tickets = context.workspaces[0].repository(of: Ticket.self, named: name)
                let other = context.workspaces[context.workspaces.count - 1].dictionary(name)
                try await other.set(ticket(1, 1), forKey: 1.key)
                try await tickets.buildIndexes()
                try requireEqual(
                    try await tickets.where { $0.priority >= 0 }.count(), 1, "the count")
                try await other.set(ticket(2, 2), forKey: 2.key)
                try await requireError(.notIndexed, "a query of an index that was passed by") {
                    _ = try await tickets.where { $0.priority >= 0 }.count()
                }
                try await tickets.buildIndexes()
                try requireEqual(
                    try await tickets.where { $0.priority >= 0 }.count(), 2, "the count")
                // A device whose type declares the indexes keeps them.
                try await exchange(ticket(3, 3), with: other)
                try requireEqual(
                    try await tickets.where { $0.priority >= 0 }.count(), 3, "the count")
            },
        ]
    }

    /// The same repository through two connections, where there are so many.
    private static func repositories(
        _ context: ConformanceContext<SharedWorkspace>, named name: String
    ) -> (SharedRepository<Ticket>, SharedRepository<Ticket>) {
        let last = context.workspaces[context.workspaces.count - 1]
        return (
            context.workspaces[0].repository(of: Ticket.self, named: name),
            last.repository(of: Ticket.self, named: name)
        )
    }

    /// What one of two writers saves and deletes, each in an order of its own.
    private static func write(
        _ tickets: SharedRepository<Ticket>, _ number: Int, rounds: Int
    ) async throws {
        for round in 0..<rounds {
            let id = (round * (7 + 4 * number)) % 25
            if round % 4 == 3 {
                try await tickets.delete(id)
            } else {
                try await tickets.save(ticket(id, round))
            }
        }
    }

    /// Takes the first of ada's, so often; which they were.
    private static func claim(
        _ tickets: SharedRepository<Ticket>, rounds: Int
    ) async throws -> [Int] {
        let waiting = tickets.where { $0.owner == "ada" }.order(by: \.priority, .descending)
        var claims: [Int] = []
        for _ in 0..<rounds {
            let claimed = try await tickets.dictionary.workspace.transaction { attempt in
                guard var ticket = try await attempt.first(waiting) else { return Int?.none }
                ticket.owner = "claimed"
                try await attempt.save(ticket, in: tickets)
                return ticket.id
            }
            guard let claimed else { throw ConformanceFailure("there was none to claim") }
            claims.append(claimed)
        }
        return claims
    }

    private static func addUpToThree(
        _ tickets: SharedRepository<Ticket>, _ number: Int
    ) async throws {
        let eves = tickets.where { $0.owner == "eve" }
        for round in 0..<3 {
            let id = 1000 + number * 10 + round
            try await tickets.dictionary.workspace.transaction { attempt in
                guard try await attempt.count(of: eves) < 3 else { return }
                try await attempt.save(
                    Ticket(id: id, owner: "eve", priority: 0, seat: "e\(id)"), in: tickets)
            }
        }
    }

    /// Follows the first six of ada's until both writers have ended: those are then what a fetch gives.
    private static func follow(
        _ tickets: SharedRepository<Ticket>, within patience: Duration
    ) async throws {
        let query = tickets.where { $0.owner == "ada" }.order(by: \.priority, .descending).limit(6)
        try await withThrowingTaskGroup(of: [Ticket]?.self) { group in
            group.addTask {
                for try await result in query.updates()
                where result.prefix(2).map(\.id) == [100, 101] {
                    return result
                }
                return nil
            }
            group.addTask {
                try await Task.sleep(for: patience)
                throw ConformanceFailure("the end of the writers was not told")
            }
            let last = try await group.next() ?? nil
            group.cancelAll()
            try requireEqual(last, try await query.fetch(), "the result that was followed")
        }
    }

    /// A device that was offline sends what it has saved.
    private static func exchange(
        _ ticket: Ticket, with dictionary: SharedDictionary
    ) async throws {
        let local = try await Roost.Workspace.inMemory()
        let tickets = SyncedRepository(
            of: Ticket.self, named: dictionary.name, in: local, with: dictionary.workspace)
        try await tickets.save(ticket)
        _ = try await tickets.synchronize()
        try await local.close()
    }

    private static func ticket(_ id: Int, _ round: Int) -> Ticket {
        Ticket(
            id: id, owner: round % 3 == 0 ? "ada" : "bea", priority: (id + round) % 5,
            seat: "s\(id)")
    }
}
