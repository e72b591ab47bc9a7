/// What one call did, as its caller saw it.
struct RecordedCall: Sendable {
    /// What a read saw of a key.
    enum Observed: Sendable, Hashable {
        case absent
        /// A value that says which call wrote it.
        case written(by: Int)
    }

    enum Outcome: Sendable {
        case committed
        /// It said that it changed nothing.
        case refused
        /// It never said: the machine stopped, or an error left it open.
        case unknown
    }

    /// Also the value that it writes to every key that it sets.
    let id: Int
    let name: String
    /// Moments on one clock that all callers share.
    var invoked: Int
    var returned = Int.max
    var outcome = Outcome.unknown
    var reads: [String: Observed] = [:]
    /// The keys that it writes, and whether with a value.
    var writes: [String: Bool] = [:]
    /// The sequence number of its batch, where it has one and said so.
    var sequence: UInt64?
    /// Something that no order of calls explains, found within the call itself.
    var contradiction: String?

    /// Notes what a read saw; the same key must be seen alike in all of a call.
    mutating func note(_ key: String, _ observed: Observed) {
        if let before = reads[key], before != observed {
            contradiction = "\(key) was \(before) and then \(observed)"
        }
        reads[key] = observed
    }

    func observed(_ key: String) -> Observed {
        writes[key] == true ? .written(by: id) : .absent
    }
}

extension RecordedCall: CustomStringConvertible {
    var description: String {
        let reads = reads.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        let writes = writes.sorted { $0.key < $1.key }.map {
            "\($0.key):\($0.value ? "set" : "removed")"
        }
        return "#\(id) \(name) [\(invoked)...\(returned == .max ? "" : "\(returned)")] \(outcome)"
            + " seq \(sequence.map { "\($0)" } ?? "?") read \(reads) wrote \(writes)"
    }
}
