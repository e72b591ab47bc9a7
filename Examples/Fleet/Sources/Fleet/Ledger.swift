import Hummingbird
import Logging
import RoostServices
import RoostShared

/// What only the process that leads does: it adds to a ledger.
///
/// - An entry is added in a transaction that confirms the leader's term, so that a process that was paused, and does not
///   know that its lead is over, adds none behind a newer leader's.
struct Ledger {
    /// One thing that a leader did, in the order in which it was committed.
    private struct Tick: Codable, Sendable {
        var term: UInt64
        var leader: String
    }

    private let ledger: SharedDictionary
    let leadership: Leadership

    init(_ shared: SharedWorkspace, name: String, logger: Logger) {
        // A leader that cannot renew in time has none to renew.
        let workspace = shared.withCallDeadline(.seconds(1))
        let ledger = workspace.dictionary("ledger")
        self.ledger = shared.dictionary("ledger")
        leadership = Leadership(
            workspace, of: "ledger", as: name, leaseDuration: .seconds(2), logger: logger
        ) { term in
            while true {
                try await workspace.transaction { attempt in
                    try await term.confirm(in: attempt)
                    let count = try await attempt.load("count", as: Int.self, in: ledger) ?? 0
                    try attempt.set(count + 1, forKey: "count", in: ledger)
                    try attempt.set(
                        Tick(term: term.number, leader: name), forKey: "tick/\(100_000 + count)",
                        in: ledger)
                }
                try await Task.sleep(for: .milliseconds(200))
            }
        }
    }

    func add(to router: Router<some RequestContext>) {
        router.get("leader") { _, _ in leadership.term.map { "\($0.number)" } ?? "" }
        router.get("ledger") { _, _ in
            var lines: [String] = []
            for try await entry in ledger.entries(prefix: "tick/", as: Tick.self) {
                lines.append("\(entry.value.term) \(entry.value.leader)")
            }
            return lines.joined(separator: "\n")
        }
    }
}
