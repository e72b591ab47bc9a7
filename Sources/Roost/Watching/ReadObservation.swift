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
/// - Each dictionary that the read looked at is watched (`ReadWatches`) from before the moment that it read: what is in
///   that moment is not told, and all that comes later is. What is told while a read goes on waits in `pending` until it
///   is known what that read looks at.
/// - `seen` is what the read with the highest number looked at, of those that have ended.
/// - `state` is the inner one of the mutexes of `ReadWatches` and this.
/// - Once a read is due, nothing that comes later is looked at before the next begins.
/// - Who shows what is read on the main actor asks more: whether it is what the main actor has written (`onOwnWrite`).
final class ReadObservation: Sendable {
    private struct State {
        var watched: Set<[UInt8]> = []
        var seen: SeenReads?
        var lastRead: UInt64 = 0
        /// The read that `seen` is of.
        var seenBy: UInt64 = 0
        /// What came during reads that have not ended.
        var pending: [UInt64: PendingEvents] = [:]
        var isDue = false
        /// Whether what `seen` says has changed since the read that it is of.
        var isOutdated = false
        /// The newest read that is shown on the main actor.
        var shownBy: UInt64 = 0
        /// Made with the first value that expires.
        var expiry: ExpiryWaiter?
    }

    private let workspace: Workspace
    /// Called with no lock held, on a writer's thread, once for each time that a read becomes due, and at the end.
    let onDue: @Sendable () -> Void
    /// Called in place of `onDue`, on the main actor, where that has written and what it shows is not the newest.
    let onOwnWrite: (@Sendable () -> Void)?
    private let state = Mutex(State())

    init(
        _ workspace: Workspace, onOwnWrite: (@Sendable () -> Void)? = nil,
        onDue: @escaping @Sendable () -> Void
    ) {
        self.workspace = workspace
        self.onOwnWrite = onOwnWrite
        self.onDue = onDue
    }

    deinit {
        workspace.readWatches.unwatch(
            state.withLock { $0.watched }, for: ObjectIdentifier(self))
    }

    /// Whether nothing will be due any more: the workspace is closed.
    var isEnded: Bool { workspace.isClosed }
    /// Whether what the last read looked at has changed.
    var isDue: Bool { state.withLock { $0.isDue } }

    // MARK: Reading

    /// What `body` gives of a moment. Where it throws, what it looked at before stays watched.
    func read<Value>(_ body: (ReadView) throws -> Value) -> ReadOutcome<Value> {
        while true {
            let begun: Begun
            do { begun = try begin() } catch {
                return ReadOutcome(number: .max, result: .failure(error))
            }
            let notes = ReadNotes(begun.view)
            let view = ReadView(workspace, begun.view, notes)
            defer { view.close() }
            let result = Result { try body(view) }
            let seen = notes.seen
            let unwatched = Self.watched(for: seen).subtracting(begun.watched)
            for dictionary in unwatched {
                workspace.readWatches.watch(dictionary, for: self, workspace.engine)
            }
            // Of these nothing was told before they were watched.
            if !unwatched.isEmpty, !workspace.engine.areCurrent(notes) {
                state.withLock { $0.pending[begun.number] = nil }
                continue
            }
            end(begun.number, seen)
            return ReadOutcome(number: begun.number, result: result)
        }
    }

    private struct Begun {
        let number: UInt64
        let view: EngineView
        /// The dictionaries of which all is told that comes after the view.
        let watched: Set<[UInt8]>
    }

    private func begin() throws -> Begun {
        var number: UInt64 = 0
        var watched: Set<[UInt8]> = []
        let moment = try workspace.readWatches.moment(for: self, workspace.engine) {
            state.withLock { state in
                state.lastRead += 1
                state.pending[state.lastRead] = PendingEvents()
                state.isDue = false
                number = state.lastRead
                watched = state.watched
            }
            return watched
        }
        moment.afterwards()
        return Begun(number: number, view: moment.view, watched: watched)
    }

    private func end(_ number: UInt64, _ seen: SeenReads) {
        let isDue = state.withLock { state in
            let pending = state.pending.removeValue(forKey: number) ?? PendingEvents()
            // A later read has ended first: what has come since then is about what that looked at.
            guard number > state.seenBy else { return note(pending, &state) }
            state.seenBy = number
            state.seen = seen
            state.isOutdated = false
            // Of what came before this read began, it has all.
            for earlier in state.pending.keys where earlier < number {
                state.pending[earlier] = pending
            }
            awaitExpiry(&state)
            return note(pending, &state)
        }
        workspace.readWatches.unwatchUnneeded(by: self)
        if isDue { onDue() }
    }

    /// That the main actor shows what the read with this number gave.
    func noteShown(_ number: UInt64) { state.withLock { $0.shownBy = number } }

    /// Whether the main actor shows something else than what the newest read would give, as far as is known.
    var isShownOutdated: Bool { state.withLock { $0.isOutdated || $0.shownBy < $0.seenBy } }

    // MARK: Watching

    /// Where a read looks at no dictionary, one that nobody writes stands for it, by which the end is told.
    private static func watched(for seen: SeenReads) -> Set<[UInt8]> {
        seen.dictionaries.isEmpty ? [nobodys] : seen.dictionaries
    }

    private static let nobodys = DictionaryName(
        hidden: Array("nobody's".utf8), shownAs: "(nobody's)"
    ).prefix

    /// By `ReadWatches` alone, under its mutex, so that both say the same.
    func noteWatched(_ dictionary: [UInt8]) {
        state.withLock { _ = $0.watched.insert(dictionary) }
    }

    /// The dictionaries that are watched and that the last read did not look at, which are not from here on. As
    /// `noteWatched`.
    func takeUnneeded() -> Set<[UInt8]> {
        state.withLock { state in
            // Another read that goes on may need them.
            guard let seen = state.seen, state.pending.isEmpty else { return [] }
            let unneeded = state.watched.subtracting(Self.watched(for: seen))
            state.watched.subtract(unneeded)
            return unneeded
        }
    }

    // MARK: Changes

    /// Whether a read is due by events of a watched dictionary, and was not before.
    func note(_ events: [WatchEvent], of dictionary: [UInt8]) -> Bool {
        state.withLock { state in
            if state.pending.isEmpty {
                return note(PendingEvents(events, of: dictionary), &state)
            }
            noteOutdated(events, of: dictionary, &state)
            for number in state.pending.keys {
                state.pending[number]?.add(events, of: dictionary)
            }
            return false
        }
    }

    /// That nothing more is told. Where the workspace is not closed the next read throws what has ended it, as where its
    /// writer can be followed no more.
    func noteEnded() { state.withLock { $0.isDue = true } }

    /// Events of what the read that begins has in its view already, and the one before had not.
    func noteInView(_ events: [WatchEvent], of dictionary: [UInt8]) {
        if onOwnWrite == nil { return }
        state.withLock { noteOutdated(events, of: dictionary, &$0) }
    }

    private func noteOutdated(
        _ events: [WatchEvent], of dictionary: [UInt8], _ state: inout State
    ) {
        guard onOwnWrite != nil, !state.isOutdated, let seen = state.seen else { return }
        state.isOutdated = seen.isTouched(by: events, of: dictionary)
    }

    /// Whether a read is due by these and was not before.
    private func note(_ events: PendingEvents, _ state: inout State) -> Bool {
        let isAsked = !state.isDue || (onOwnWrite != nil && !state.isOutdated)
        guard isAsked, let seen = state.seen, events.touch(seen) else { return false }
        state.isOutdated = true
        defer { state.isDue = true }
        return !state.isDue
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
