import RoostIO
import Synchronization

/// The marks of one client, which its commits take in turn.
///
/// - A mark belongs to one commit at a time, and comes back only when that commit's outcome is known, and its record
///   is known to be what the slot says; so the record says of the last commit whether it was made. What others do
///   to records, such as an operator who removes them or a copy that is restored, ends the mark.
/// - One that was not used for longer than half of what the engine keeps it is not used again.
final class CommitMarks: Sendable {
    struct Slot: Sendable {
        let key: [UInt8]
        /// What set its record last; zero where it has none.
        var revision: UInt64 = 0
        var lastUse = ContinuousClock.now

        var isNew: Bool { revision == 0 }
    }

    private struct State {
        var free: [Slot] = []
        var count = 0
        var commitCount: UInt64 = 0
    }

    /// How long the engine keeps a record at least.
    let lifetime: Duration
    private let keys: SharedKeys
    /// Chosen anew by each client, so that no two have marks in common.
    private let client: String
    private let state = Mutex(State())

    init(_ keys: SharedKeys, lifetime: Duration = SharedMark.lifetime) {
        self.keys = keys
        self.lifetime = lifetime
        client = String(UInt128.random(in: 0 ... .max), radix: 36)
    }

    /// A mark, and a value that no commit has had.
    func take() -> (slot: Slot, value: [UInt8]) {
        state.withLock { state in
            state.commitCount += 1
            let value = Array("\(client)/\(state.commitCount)".utf8)
            while let slot = state.free.popLast() {
                if ContinuousClock.now - slot.lastUse < lifetime / 2 {
                    return (slot, value)
                }
            }
            state.count += 1
            return (Slot(key: keys.mark(client, state.count)), value)
        }
    }

    func giveBack(_ slot: Slot, setBy revision: UInt64? = nil) {
        var slot = slot
        if let revision {
            slot.revision = revision
            slot.lastUse = .now
        }
        state.withLock { $0.free.append(slot) }
    }
}
