/// A first-in, first-out queue of tickets, in pieces: one array would be copied as a whole when it
/// grows, while a shard's readers wait.
struct TicketQueue {
    struct Ticket {
        var hash: UInt64
        var number: UInt64
    }

    /// None is empty.
    private var pieces: [[Ticket]] = []
    /// How many of the first piece are gone.
    private var head = 0
    private(set) var count = 0

    private static let pieceCount = 1024

    var isEmpty: Bool { count == 0 }

    mutating func append(_ ticket: Ticket) {
        count += 1
        if let last = pieces.indices.last, pieces[last].count < Self.pieceCount {
            pieces[last].append(ticket)
        } else {
            pieces.append([ticket])
        }
    }

    mutating func popFirst() -> Ticket? {
        guard count > 0 else { return nil }
        count -= 1
        let ticket = pieces[0][head]
        head += 1
        if head == pieces[0].count {
            pieces.removeFirst()
            head = 0
        }
        return ticket
    }

    /// Calls `body` with the first tickets, `limit` of them at most and of one piece; returns how
    /// many those are.
    func forEachFirst(_ limit: Int, _ body: (Ticket) -> Void) -> Int {
        guard let piece = pieces.first else { return 0 }
        let end = min(head + limit, piece.count)
        for index in head..<end { body(piece[index]) }
        return end - head
    }
}
