import RoostEngine
import RoostFormat
import RoostIO
import Synchronization

/// What a read gave, or threw. Of two that overlap, the one with the higher number read the later moment.
struct ReadOutcome<Value> {
    /// `.max` where the workspace was closed before it.
    let number: UInt64
    let result: Result<Value, any Error>
}

extension ReadOutcome: Sendable where Value: Sendable {}

/// Knows what a read looked at, and when that has changed, so that the read is due again.
///
/// - Each dictionary that the read looked at is watched from before the moment that it read: what is in that moment is
///   not told, and all that comes later is. What is told while a read goes on waits in `pending` until it is known
///   what that read looks at.
/// - `seen` is what the read with the highest number looked at, of those that have ended.
/// - `state` is taken before the engine's mutexes: under it no call is made that may tell what others owe.
/// - Once a read is due, nothing that comes later is looked at before the next begins.
final class ReadObservation: Sendable {
    private typealias Events = [(dictionary: [UInt8], events: [WatchEvent])]

    private struct State {
        var watches: [[UInt8]: LiveWatch] = [:]
        var seen: SeenReads?
        var lastRead: UInt64 = 0
        /// The read that `seen` is of.
        var seenBy: UInt64 = 0
        /// What came during reads that have not ended.
        var pending: [UInt64: Events] = [:]
        var isDue = false
        var isEnded = false
        /// Made with the first value that expires.
        var expiry: ExpiryWaiter?
    }

    private let workspace: Workspace
    /// Called with no lock held, on a writer's thread, once for each time that a read becomes due, and at the end.
    private let onDue: @Sendable () -> Void
    private let state = Mutex(State())

    init(_ workspace: Workspace, onDue: @escaping @Sendable () -> Void) {
        self.workspace = workspace
        self.onDue = onDue
    }

    /// Whether nothing will be due any more: the workspace is closed.
    var isEnded: Bool { workspace.isClosed || state.withLock { $0.isEnded } }
    /// Whether what the last read looked at has changed.
    var isDue: Bool { state.withLock { $0.isDue } }

    // MARK: Reading

    /// What `body` gives of a moment. Where it throws, what it looked at before stays watched.
    func read<Value>(_ body: (ReadView) throws -> Value) -> ReadOutcome<Value> {
        while true {
            let number: UInt64
            let moment: ReadMoment
            do { (number, moment) = try begin() } catch {
                return ReadOutcome(number: .max, result: .failure(error))
            }
            let notes = ReadNotes(moment.view)
            let view = ReadView(workspace, moment.view, notes)
            defer { view.close() }
            let result = Result { try body(view) }
            let seen = notes.seen
            let unwatched = seen.dictionaries.subtracting(state.withLock { Set($0.watches.keys) })
            for dictionary in unwatched { watch(dictionary) }
            // Of these nothing was told before they were watched.
            if !unwatched.isEmpty, !workspace.engine.areCurrent(seen) {
                state.withLock { $0.pending[number] = nil }
                continue
            }
            end(number, seen)
            return ReadOutcome(number: number, result: result)
        }
    }

    private func begin() throws -> (number: UInt64, moment: ReadMoment) {
        let (number, moment) = try state.withLock { state in
            let moment = try workspace.engine.moment(of: state.watches.values)
            state.lastRead += 1
            state.pending[state.lastRead] = []
            state.isDue = false
            return (state.lastRead, moment)
        }
        moment.afterwards()
        return (number, moment)
    }

    private func end(_ number: UInt64, _ seen: SeenReads) {
        var unneeded: [LiveWatch] = []
        let isDue = state.withLock { state in
            let pending = state.pending.removeValue(forKey: number) ?? []
            // A later read has ended first: what has come since then is about what that looked at.
            guard number > state.seenBy else { return note(pending, &state) }
            state.seenBy = number
            state.seen = seen
            // Another read that goes on may need them.
            if state.pending.isEmpty {
                for dictionary in state.watches.keys where !seen.dictionaries.contains(dictionary) {
                    if let watch = state.watches.removeValue(forKey: dictionary) {
                        unneeded.append(watch)
                    }
                }
            }
            awaitExpiry(&state)
            return note(pending, &state)
        }
        withExtendedLifetime(unneeded) {}
        if isDue { onDue() }
    }

    private func watch(_ dictionary: [UInt8]) {
        let watch = workspace.engine.watchLive(.range(prefix: dictionary, dictionary: dictionary)) {
            [weak self] in self?.takeEvents()
        }
        let unneeded = state.withLock { state -> LiveWatch? in
            if state.watches[dictionary] != nil { return watch }
            state.watches[dictionary] = watch
            return nil
        }
        withExtendedLifetime(unneeded) {}
    }

    // MARK: Changes

    /// Called by the thread that made a batch visible.
    private func takeEvents() {
        let isDue = state.withLock { state in
            var taken: Events = []
            var isEnded = false
            for (dictionary, watch) in state.watches {
                let ready = watch.takeReady()
                if !ready.events.isEmpty { taken.append((dictionary, ready.events)) }
                isEnded = isEnded || ready.isEnded
            }
            if isEnded, !state.isEnded {
                state.isEnded = true
                return true
            }
            if taken.isEmpty { return false }
            if state.pending.isEmpty { return note(taken, &state) }
            for number in state.pending.keys { state.pending[number]?.append(contentsOf: taken) }
            return false
        }
        if isDue { onDue() }
    }

    /// Whether a read is due by these and was not before.
    private func note(_ events: Events, _ state: inout State) -> Bool {
        guard !state.isDue, let seen = state.seen else { return false }
        state.isDue = events.contains { seen.isTouched(by: $0.events, of: $0.dictionary) }
        return state.isDue
    }

    // MARK: Expiry

    /// Under the mutex, so that the last that is said is what holds.
    private func awaitExpiry(_ state: inout State) {
        let deadline = state.seen?.earliestDeadline ?? .never
        if state.expiry == nil, deadline == .never { return }
        let expiry =
            state.expiry
            ?? workspace.engine.expiryTimer.waiter { [weak self] in self?.noteExpired() }
        state.expiry = expiry
        expiry.wait(until: deadline)
    }

    private func noteExpired() {
        let isDue = state.withLock { state in
            defer { state.isDue = true }
            return !state.isDue
        }
        if isDue { onDue() }
    }
}
