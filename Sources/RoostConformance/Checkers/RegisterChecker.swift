/// A call on one register.
public struct RegisterCall: Sendable {
    public enum Action: Sendable, Hashable {
        /// With `nil`, there was no value.
        case read(Int?)
        case write(Int?)
        /// Writes the second where the register has the first.
        case replace(Int?, Int)
    }

    public let id: Int
    public var action: Action
    public var invoked: ContinuousClock.Instant
    /// `nil` where it never said how it ended: then it may have been made at any time, or not.
    public var returned: ContinuousClock.Instant?

    public init(
        id: Int, action: Action, invoked: ContinuousClock.Instant,
        returned: ContinuousClock.Instant?
    ) {
        self.id = id
        self.action = action
        self.invoked = invoked
        self.returned = returned
    }
}

/// Whether the calls on one register can be put in one order, each at a moment between its begin and its end, in
/// which every read sees the last write.
///
/// Goes through the begins and ends in the order of time and keeps all states that are possible: the register's
/// value, and which of the calls under way have been made. Of the calls that were made without an end, only a
/// write is kept: it may be made at any time.
public enum RegisterChecker {
    private struct State: Hashable {
        var value: Int?
        var made: Set<Int>
    }

    /// `nil` where the calls are linearizable, else the call at which no order is left.
    public static func violation(in calls: [RegisterCall]) -> String? {
        enum Step {
            case begin(RegisterCall)
            case end(RegisterCall)
        }
        var steps: [(time: ContinuousClock.Instant, isBegin: Bool, step: Step)] = []
        for call in calls {
            if case .read = call.action, call.returned == nil { continue }
            steps.append((call.invoked, true, .begin(call)))
            if let returned = call.returned { steps.append((returned, false, .end(call))) }
        }
        // Of two at one moment, the begin comes first, so that the two calls count as overlapping.
        steps.sort { $0.time != $1.time ? $0.time < $1.time : $0.isBegin && !$1.isBegin }
        var open: [Int: RegisterCall] = [:]
        var states: Set<State> = [State(value: nil, made: [])]
        for (_, _, step) in steps {
            switch step {
            case .begin(let call): open[call.id] = call
            case .end(let call):
                states = made(call, from: states, open)
                open[call.id] = nil
                if states.isEmpty { return "no order explains call \(call.id), \(call.action)" }
            }
        }
        return nil
    }

    /// All states in which `call` has been made, with others of the open ones before it where need be.
    private static func made(
        _ call: RegisterCall, from states: Set<State>, _ open: [Int: RegisterCall]
    ) -> Set<State> {
        var seen = states
        var waiting = Array(states)
        var found: Set<State> = []
        while var state = waiting.popLast() {
            if state.made.contains(call.id) {
                state.made.remove(call.id)
                found.insert(state)
                continue
            }
            for other in open.values where !state.made.contains(other.id) {
                guard let next = after(other, state) else { continue }
                if seen.insert(next).inserted { waiting.append(next) }
            }
        }
        return found
    }

    private static func after(_ call: RegisterCall, _ state: State) -> State? {
        var next = state
        next.made.insert(call.id)
        switch call.action {
        case .read(let value): return value == state.value ? next : nil
        case .write(let value): next.value = value
        case .replace(let old, let new):
            guard old == state.value else { return nil }
            next.value = new
        }
        return next
    }
}
