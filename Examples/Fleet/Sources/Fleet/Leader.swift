import Hummingbird
import RoostShared
import Synchronization

/// One process at a time leads: who has the lease, an entry that expires unless its holder replaces it.
///
/// - Whoever finds the entry without a value tries to replace it; the guard of the replacement lets one succeed.
/// - The version with which it was taken is the *term*, a fencing token: it only grows. What a leader does it does in a
///   transaction that refuses an older term than it has seen, so that one that was paused, and does not know that its
///   lease is over, changes nothing.
/// - A leader believes that it leads until the lease may be over by its own clock, counted from before it asked.
final class Leader: Sendable {
    private struct Leading {
        var lease: Entry<String>
        let term: UInt64
        var end: ContinuousClock.Instant
    }

    /// One thing that a leader did, in the order in which it was committed.
    struct Tick: Codable, Sendable {
        var term: UInt64
        var leader: String
    }

    private let workspace: SharedWorkspace
    private let leases: SharedDictionary
    private let ledger: SharedDictionary
    private let name: String
    private let leaseDuration = Duration.seconds(2)
    private let state = Mutex<Leading?>(nil)

    init(_ workspace: SharedWorkspace, name: String) {
        // A leader that cannot renew in time has none to renew.
        self.workspace = workspace.withCallDeadline(.seconds(1))
        leases = self.workspace.dictionary("leases")
        ledger = self.workspace.dictionary("ledger")
        self.name = name
    }

    /// The term that this process leads in, if it does.
    var term: UInt64? {
        state.withLock { leading in
            guard let leading, ContinuousClock.now < leading.end else { return nil }
            return leading.term
        }
    }

    /// Tries to lead, and leads, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            do {
                try await takeOrRenew()
                if let term { try await work(in: term) }
            } catch {
                // Others are first, or nobody can be asked: then the lease runs out by itself.
            }
            do { try await Task.sleep(for: .milliseconds(200)) } catch { return }
        }
    }

    private func takeOrRenew() async throws {
        let before = ContinuousClock.now
        let held = state.withLock { $0 }
        if let held, before < held.end {
            let lease = try await leases.replace(held.lease, with: name, expiresIn: leaseDuration)
            return lead(lease, held.term, since: before)
        }
        let entry = try await leases.loadEntry("leader", as: String.self)
        guard entry.value == nil else { return }
        let lease = try await leases.replace(entry, with: name, expiresIn: leaseDuration)
        lead(lease, lease.version, since: before)
    }

    private func lead(
        _ lease: Entry<String>, _ term: UInt64, since before: ContinuousClock.Instant
    ) {
        let end = before + leaseDuration
        state.withLock { $0 = Leading(lease: lease, term: term, end: end) }
    }

    private func work(in term: UInt64) async throws {
        let name = name
        let ledger = ledger
        try await workspace.transaction { attempt in
            let newest = try await attempt.load("term", as: UInt64.self, in: ledger) ?? 0
            guard newest <= term else { return }
            let count = try await attempt.load("count", as: Int.self, in: ledger) ?? 0
            try attempt.set(term, forKey: "term", in: ledger)
            try attempt.set(count + 1, forKey: "count", in: ledger)
            try attempt.set(
                Tick(term: term, leader: name), forKey: "tick/\(100_000 + count)", in: ledger)
        }
    }

    func add(to router: Router<some RequestContext>) {
        router.get("leader") { _, _ in self.term.map { "\($0)" } ?? "" }
        router.get("ledger") { _, _ in
            var lines: [String] = []
            for try await entry in self.ledger.entries(prefix: "tick/", as: Tick.self) {
                lines.append("\(entry.value.term) \(entry.value.leader)")
            }
            return lines.joined(separator: "\n")
        }
    }
}
