import Roost

/// What batch `n` does, whoever asks, and what that makes of a dictionary: so that the state after any
/// batch is known without having been recorded.
struct Model {
    enum Change {
        case set(String, String)
        case remove(String)
        case removeAll
    }

    private static let keyCount: UInt64 = 400

    private(set) var sequence: UInt64 = 0
    private(set) var state: [String: String] = [:]

    static func changes(of sequence: UInt64) -> [Change] {
        var word = sequence &* 0x9e37_79b9_7f4a_7c15
        func next() -> UInt64 {
            word ^= word >> 30
            word = word &* 0xbf58_476d_1ce4_e5b9
            word ^= word >> 27
            return word
        }
        func set() -> Change {
            let key = "k\(next() % keyCount)"
            let length = Int(next() % 300)
            return .set(key, "\(sequence):" + String(repeating: "v", count: length))
        }
        switch next() % 1_000 {
        case 0: return [.removeAll, set()]
        case 1..<150: return [.remove("k\(next() % keyCount)")]
        case 150..<250: return (0..<5).map { _ in set() }
        default: return [set()]
        }
    }

    static func write(_ sequence: UInt64, to workspace: Workspace) async throws {
        let dictionary = workspace.dictionary("d")
        let changes = changes(of: sequence)
        try await workspace.write { batch in
            for change in changes {
                switch change {
                case .set(let key, let value): batch.set(value, forKey: key, in: dictionary)
                case .remove(let key): batch.removeValue(forKey: key, in: dictionary)
                case .removeAll: batch.removeAll(in: dictionary)
                }
            }
        }
    }

    /// Goes on to the state after batch `sequence`.
    mutating func advance(to end: UInt64) {
        while sequence < end {
            sequence += 1
            let changes = Self.changes(of: sequence)
            // A clear counts before the puts of its batch.
            if changes.contains(where: { if case .removeAll = $0 { true } else { false } }) {
                state = [:]
            }
            for change in changes {
                switch change {
                case .set(let key, let value): state[key] = value
                case .remove(let key): state[key] = nil
                case .removeAll: break
                }
            }
        }
    }
}
