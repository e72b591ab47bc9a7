import RoostTestSupport
import Synchronization

@testable import Roost

struct Ticket: Codable, Identifiable, Sendable, Equatable {
    var id: Int
    var title = ""
    var points = 0
    var note: String?
}

/// Runs `body` on a repository of tickets 0 to `count`, with as many points each.
func withTickets(
    _ count: Int, _ body: (Repository<Ticket>) async throws -> Void
) async throws {
    let workspace = try await Workspace.inMemory()
    let tickets = workspace.repository(of: Ticket.self)
    try await tickets.saveAll((0..<count).map { Ticket(id: $0, points: $0) })
    try await body(tickets)
    try await workspace.close()
}

/// What was to be told was not.
struct Untold: Error {}

/// What closures were told.
final class Events<Event: Sendable>: Sendable {
    private let events = Mutex<[Event]>([])
    var all: [Event] { events.withLock { $0 } }
    func add(_ event: Event) { events.withLock { $0.append(event) } }
}

final class Counter: Sendable {
    let value = Atomic<Int>(0)
}
