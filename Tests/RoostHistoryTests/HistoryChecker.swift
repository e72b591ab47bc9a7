/// Whether the calls of a history can be put in one order, each at a moment between its begin and
/// its end, in which every read sees the last write before it: strict serializability, and with it
/// each key's linearizability.
///
/// The order of a key's writes is known, by their sequence numbers. So it is enough that this graph
/// has no cycle: a write comes before the next write of its key and before those who read it, those
/// before the next write, and a call that returned before those that were begun later.
struct HistoryChecker {
    private let calls: [RecordedCall]
    /// What each key was before the history.
    private let initial: [String: RecordedCall.Observed]
    /// Keys that a call may have removed which never said so.
    private let perhapsRemoved: Set<String>
    private var edges: [[Int]]
    /// The places of the calls that count, by identifier.
    private var places: [Int: Int] = [:]

    /// `nil` where the history is sound, else what is wrong with it.
    static func violation(
        in calls: [RecordedCall], initial: [String: RecordedCall.Observed] = [:]
    ) -> String? {
        if let call = calls.first(where: { $0.contradiction != nil }) {
            return "\(call): \(call.contradiction ?? "")"
        }
        // A call that never said how it ended counts if somebody saw what it wrote.
        let seen = Set(calls.flatMap(\.reads.values))
        let counted = calls.filter { call in
            switch call.outcome {
            case .committed: true
            case .refused: false
            case .unknown: call.sequence != nil || seen.contains(.written(by: call.id))
            }
        }
        let perhapsRemoved = calls.filter { $0.outcome == .unknown && $0.sequence == nil }
            .flatMap { call in call.writes.filter { !$0.value }.map(\.key) }
        var checker = HistoryChecker(counted, initial, Set(perhapsRemoved))
        return checker.check()
    }

    private init(
        _ calls: [RecordedCall], _ initial: [String: RecordedCall.Observed],
        _ perhapsRemoved: Set<String>
    ) {
        self.calls = calls
        self.initial = initial
        self.perhapsRemoved = perhapsRemoved
        edges = Array(repeating: [], count: calls.count)
        for (place, call) in calls.enumerated() { places[call.id] = place }
    }

    private mutating func check() -> String? {
        let keys = Set(calls.flatMap { Array($0.reads.keys) + Array($0.writes.keys) })
        for key in keys.sorted() {
            if let problem = addEdges(of: key) { return problem }
        }
        let callCount = calls.count
        addTimeEdges()
        guard let cycle = findCycle() else { return nil }
        return "no order explains:\n"
            + cycle.filter { $0 < callCount }.map { "  \(calls[$0])" }.joined(separator: "\n")
    }

    /// The states that a key went through: of each the call that brought it, `nil` for the first.
    private func states(of key: String) -> [(writer: Int?, observed: RecordedCall.Observed)] {
        let writers = calls.indices
            .filter { calls[$0].writes[key] != nil && calls[$0].sequence != nil }
            .sorted { calls[$0].sequence! < calls[$1].sequence! }
        return [(nil, initial[key] ?? .absent)] + writers.map { ($0, calls[$0].observed(key)) }
    }

    private mutating func addEdges(of key: String) -> String? {
        let states = states(of: key)
        for (older, newer) in zip(states, states.dropFirst()) {
            if let writer = older.writer, let next = newer.writer { edges[writer].append(next) }
        }
        for reader in calls.indices {
            guard let observed = calls[reader].reads[key] else { continue }
            if observed == .absent, perhapsRemoved.contains(key) { continue }
            var candidates = states.indices.filter { states[$0].observed == observed }
            if case .written(let id) = observed, candidates.isEmpty {
                // By a call that counts and never learned its place.
                guard let writer = places[id], calls[writer].writes[key] == true else {
                    return "nobody wrote what was read of \(key): \(calls[reader])"
                }
                if writer != reader { edges[writer].append(reader) }
                continue
            }
            if candidates.count > 1 {
                candidates.removeAll { !isPossible(states, $0, for: reader) }
            }
            if candidates.isEmpty { return "\(key) was not \(observed): \(calls[reader])" }
            // Where a key was absent more than once, which time it was stays open.
            guard candidates.count == 1 else { continue }
            if let writer = states[candidates[0]].writer, writer != reader {
                edges[writer].append(reader)
            }
            if candidates[0] + 1 < states.count, let next = states[candidates[0] + 1].writer,
                next != reader
            {
                edges[reader].append(next)
            }
        }
        return nil
    }

    /// Whether the reader's time and its own write of the key allow that it saw this state.
    private func isPossible(
        _ states: [(writer: Int?, observed: RecordedCall.Observed)], _ index: Int, for reader: Int
    ) -> Bool {
        if let writer = states[index].writer {
            if writer == reader || calls[writer].invoked > calls[reader].returned { return false }
        }
        guard index + 1 < states.count, let next = states[index + 1].writer else { return true }
        return next == reader || calls[next].returned > calls[reader].invoked
    }

    /// One node for each end of a call, in the order of time: a call leads to its end, each end to
    /// the next, and an end to the calls that begin after it.
    private mutating func addTimeEdges() {
        let ends = calls.indices.filter { calls[$0].returned != .max }
            .sorted { calls[$0].returned < calls[$1].returned }
        let base = calls.count
        edges += Array(repeating: [], count: ends.count)
        for (index, call) in ends.enumerated() {
            edges[call].append(base + index)
            if index + 1 < ends.count { edges[base + index].append(base + index + 1) }
        }
        for call in calls.indices {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if calls[ends[middle]].returned < calls[call].invoked {
                    low = middle + 1
                } else {
                    high = middle
                }
            }
            if low > 0 { edges[base + low - 1].append(call) }
        }
    }

    private func findCycle() -> [Int]? {
        var state = Array(repeating: UInt8(0), count: edges.count)
        for start in edges.indices where state[start] == 0 {
            var path: [(node: Int, next: Int)] = [(start, 0)]
            state[start] = 1
            while let (node, next) = path.last {
                guard next < edges[node].count else {
                    state[node] = 2
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let target = edges[node][next]
                if state[target] == 1 {
                    let begin = path.firstIndex { $0.node == target }!
                    return path[begin...].map(\.node)
                }
                if state[target] == 0 {
                    state[target] = 1
                    path.append((target, 0))
                }
            }
        }
        return nil
    }
}
