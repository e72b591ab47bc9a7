/// A transaction of a history: what it read of lists, and what it appended.
public struct ListCall: Sendable {
    public enum Outcome: Sendable {
        case committed
        /// It said that it changed nothing.
        case refused
        /// It never said.
        case unknown
    }

    public let id: Int
    /// Moments on one clock that all callers share.
    public var invoked: ContinuousClock.Instant
    public var returned: ContinuousClock.Instant?
    public var outcome = Outcome.unknown
    /// By key, the list that it saw before its own change.
    public var reads: [String: [Int]] = [:]
    /// By key, the element that it appended: one that no other call appends.
    public var appends: [String: Int] = [:]

    public init(id: Int, invoked: ContinuousClock.Instant) {
        self.id = id
        self.invoked = invoked
    }
}

/// Whether a history of lists that are only appended to is strictly serializable.
///
/// A list tells the order of its writers; each read is of a moment between two of them. So it is enough that the
/// graph of what comes before what has no cycle: a writer before the next one of its list and before those who
/// read its element, a reader before the writer of the next element, and a call that returned before those
/// that were begun later.
public enum ListChecker {
    /// `nil` where the history is sound, else what is wrong with it.
    ///
    /// - Parameter final: the lists as they were read after everything.
    public static func violation(in calls: [ListCall], final: [String: [Int]]) -> String? {
        var writers: [String: [Int: Int]] = [:]
        for (place, call) in calls.enumerated() {
            for (key, element) in call.appends { writers[key, default: [:]][element] = place }
        }
        if let problem = lost(calls, final, writers) { return problem }
        let counted = calls.indices.filter {
            calls[$0].outcome == .committed || isSeen(calls[$0], final)
        }
        var graph = Graph(calls.count)
        for place in counted {
            for (key, list) in calls[place].reads {
                let whole = final[key] ?? []
                guard whole.starts(with: list) else {
                    return
                        "call \(calls[place].id) read \(list.suffix(5)) of \(key), which the list never was"
                }
                if let last = list.last, let writer = writers[key]?[last] {
                    graph.add(writer, place)
                }
                if list.count < whole.count, let next = writers[key]?[whole[list.count]] {
                    graph.add(place, next)
                }
            }
        }
        for (key, list) in final {
            for (element, next) in zip(list, list.dropFirst()) {
                guard let first = writers[key]?[element], let second = writers[key]?[next] else {
                    continue
                }
                graph.add(first, second)
            }
        }
        graph.addTime(counted.map { ($0, calls[$0].invoked, calls[$0].returned) })
        guard let cycle = graph.cycle() else { return nil }
        return
            "no order explains the calls \(cycle.filter { $0 < calls.count }.map { calls[$0].id })"
    }

    private static func isSeen(_ call: ListCall, _ final: [String: [Int]]) -> Bool {
        call.outcome == .unknown
            && call.appends.contains { final[$0.key]?.contains($0.value) ?? false }
    }

    /// What was acknowledged and is gone, was refused and is there, is there twice or by half.
    private static func lost(
        _ calls: [ListCall], _ final: [String: [Int]], _ writers: [String: [Int: Int]]
    ) -> String? {
        var places: [String: Set<Int>] = [:]
        for (key, list) in final {
            places[key] = Set(list)
            if Set(list).count != list.count { return "\(key) has an element twice: \(list)" }
            if let strange = list.first(where: { writers[key]?[$0] == nil }) {
                return "nobody appended \(strange) to \(key)"
            }
        }
        for call in calls where !call.appends.isEmpty {
            let found = call.appends.filter { places[$0.key]?.contains($0.value) ?? false }.count
            switch call.outcome {
            case .committed where found != call.appends.count:
                return "call \(call.id) was acknowledged, and of \(call.appends) \(found) are there"
            case .refused where found != 0:
                return
                    "call \(call.id) said that it changed nothing, and of \(call.appends) \(found) are there"
            case .unknown where found != 0 && found != call.appends.count:
                return "call \(call.id) was made by half: of \(call.appends) \(found) are there"
            default: break
            }
        }
        return nil
    }
}

/// What comes before what.
struct Graph {
    private var edges: [[Int]]

    init(_ count: Int) { edges = Array(repeating: [], count: count) }

    mutating func add(_ first: Int, _ second: Int) {
        if first != second { edges[first].append(second) }
    }

    /// One node for each end of a call, in the order of time: a call leads to its end, each end to the next, and
    /// an end to the calls that begin after it.
    mutating func addTime(
        _ calls: [(
            place: Int, invoked: ContinuousClock.Instant, returned: ContinuousClock.Instant?
        )]
    ) {
        let ends = calls.compactMap { call in call.returned.map { (place: call.place, time: $0) } }
            .sorted { $0.time < $1.time }
        let base = edges.count
        edges += Array(repeating: [], count: ends.count)
        for (index, end) in ends.enumerated() {
            edges[end.place].append(base + index)
            if index + 1 < ends.count { edges[base + index].append(base + index + 1) }
        }
        for call in calls {
            var low = 0
            var high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if ends[middle].time < call.invoked { low = middle + 1 } else { high = middle }
            }
            if low > 0 { edges[base + low - 1].append(call.place) }
        }
    }

    func cycle() -> [Int]? {
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
                    let first = path.firstIndex { $0.node == target } ?? 0
                    return path[first...].map(\.node)
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
