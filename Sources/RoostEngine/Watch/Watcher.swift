import RoostFormat
import RoostIO
import Synchronization

/// What has to be done once no lock is held and no shard's turn: resume a reader that waits, or start one. What is let go
/// of with it may be anything, and write.
enum Wake: Sendable {
    case resume(CheckedContinuation<Void, Never>)
    case call(@Sendable () -> Void)
    /// Is told of each batch, and may read and wait for others.
    case tell(@Sendable () -> Void)

    func callAsFunction() {
        switch self {
        case .resume(let continuation): continuation.resume()
        case .call(let start), .tell(let start): start()
        }
    }

    var isTelling: Bool { if case .tell = self { true } else { false } }
}

/// What has to be done once no lock is held, in order.
///
/// - `tell` comes first: mostly it is all, and takes no memory of its own.
struct Wakes: Sendable {
    private var tell: (@Sendable () -> Void)?
    private var others: [Wake] = []

    mutating func append(_ wake: Wake) { others.append(wake) }

    mutating func append(telling start: @escaping @Sendable () -> Void) {
        if tell == nil, others.isEmpty { tell = start } else { others.append(.tell(start)) }
    }

    func callAsFunction() {
        tell?()
        for wake in others { wake() }
    }

    /// For a caller that has a shard's turn.
    func callAsFunction(_ afterwards: inout ShardTurn.Afterwards) {
        if let tell { afterwards.calls.append(tell) }
        for wake in others {
            switch wake {
            case .resume(let continuation): afterwards.calls.append { continuation.resume() }
            case .call(let start), .tell(let start): afterwards.calls.append(start)
            }
        }
    }

    /// For a caller who begins to be told, and has no moment yet to be told anything of.
    func callOthersThanTelling() { for wake in others where !wake.isTelling { wake() } }
}

/// One watcher's buffer: writers put events in under its mutex and never wait; its reader takes
/// them out, and waits where there are none.
///
/// - The events of one batch enter together, or are counted as missed together.
/// - A continuation is in `waiting` from its registration until whoever removes it, under the
///   mutex, and resumes it: a writer, the end, or the waiting task's cancellation.
/// - While `history` is not `nil` the watcher is told nothing: what is committed meanwhile is
///   read from the log.
final class Watcher: Sendable {
    /// What happens where events come faster than they are read.
    enum Buffering: Sendable {
        /// Only so many of the newest are kept.
        case newest(Int)
        /// What does not fit is counted; a batch fits while there is room at all.
        case bounded(Int)
    }

    private struct State {
        var events = EventQueue()
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var lastWait: UInt64 = 0
        var history: HistoryCursor?
        /// A reader is reading history.
        var isReadingHistory = false
        /// The log may be readable further than when a reader looked last.
        var isLookDue = false
        /// The initial value was an enqueued one with this version: what is committed before it
        /// is older than what the reader knows.
        var awaitedVersion: UInt64 = 0
        /// The version of the event that a reader took last, and when the value that it told expires, as far as the
        /// reader has said so.
        var takenVersion: UInt64 = 0
        var takenDeadline = Deadline.never
        /// `onReady` was called, and the reader has not found the buffer empty since.
        var isRunning = false
        var isEnded = false
    }

    /// When `onReady` is called.
    enum Calling: Sendable {
        /// Where a reader has to be started: nothing was there to read.
        case firstEvent
        /// After each batch, on the thread of its writer, before the write returns.
        case eachBatch
    }

    let target: WatchTarget
    /// Goes up with each watcher of the workspace.
    let id: UInt64
    /// Whether it gets batches in the order of their sequence numbers, whatever key they change;
    /// the others get each key's in that order, and at once.
    let isOrdered: Bool
    private let buffering: Buffering
    private let onReady: (@Sendable () -> Void)?
    private let calling: Calling
    private let state: Mutex<State>

    init(
        id: UInt64, target: WatchTarget, isOrdered: Bool, buffering: Buffering,
        history: HistoryCursor?, onReady: (@Sendable () -> Void)?, calling: Calling = .firstEvent
    ) {
        self.id = id
        self.target = target
        self.isOrdered = isOrdered
        self.buffering = buffering
        self.onReady = onReady
        self.calling = calling
        var state = State()
        state.history = history
        self.state = Mutex(state)
    }

    var waitingEventCount: Int { state.withLock { $0.events.count } }

    // MARK: Writing

    /// Takes the events of one batch. `enqueuedVersion` is that of an enqueued write.
    func push(_ events: [WatchEvent], enqueuedVersion: UInt64 = 0, _ wakes: inout Wakes) {
        if events.isEmpty { return }
        state.withLock { state in
            guard !state.isEnded, state.history == nil, !state.isReadingHistory else { return }
            if state.awaitedVersion > 0 {
                if enqueuedVersion >= state.awaitedVersion { state.awaitedVersion = 0 }
                return
            }
            state.events.add(events, buffering)
            wake(&state, &wakes)
        }
    }

    /// Gives the value to begin with, or to begin anew.
    func begin(with record: InitialRecord, _ wakes: inout Wakes) {
        state.withLock { state in
            if state.isEnded { return }
            state.awaitedVersion = record.awaitedVersion
            state.events.add([WatchEvent(content: .initial(record))], buffering)
            wake(&state, &wakes)
        }
    }

    func end(_ wakes: inout Wakes) {
        state.withLock { state in
            state.isEnded = true
            state.history = nil
            wake(&state, &wakes)
        }
    }

    private func wake(_ state: inout State, _ wakes: inout Wakes) {
        if !state.waiting.isEmpty {
            for waiter in state.waiting { wakes.append(.resume(waiter.continuation)) }
            state.waiting.removeAll()
        }
        guard let onReady else { return }
        if case .eachBatch = calling { return wakes.append(telling: onReady) }
        guard !state.isRunning else { return }
        state.isRunning = true
        wakes.append(.call(onReady))
    }

    // MARK: Reading

    enum Taken {
        case event(WatchEvent)
        /// The reader reads it on from here and gives it back.
        case history(HistoryCursor)
        case empty
        case ended
    }

    private func take() -> Taken {
        state.withLock { state in
            if let event = state.events.popFirst() {
                state.takenVersion = event.version
                state.takenDeadline = .never
                return .event(event)
            }
            if let cursor = state.history {
                state.isReadingHistory = true
                state.isLookDue = false
                state.history = nil
                return .history(cursor)
            }
            state.isRunning = false
            return state.isEnded ? .ended : .empty
        }
    }

    /// The next event that is there, without waiting; `nil` where there is none. Not for
    /// watchers with a history. An `onReady` is called again after that.
    func nextReady() -> WatchEvent? {
        if case .event(let event) = take() { event } else { nil }
    }

    /// The value that the event of `version` told expires then; `false` where a newer one was taken meanwhile.
    func noteDeadline(_ deadline: Deadline, ofTaken version: UInt64) -> Bool {
        state.withLock { state in
            guard state.takenVersion == version else { return false }
            state.takenDeadline = deadline
            return true
        }
    }

    /// Tells that the value which was taken last is gone, where it has expired by `time` and nothing newer waits.
    func expire(upTo time: UInt64) {
        var wakes = Wakes()
        state.withLock { state in
            guard !state.isEnded, state.events.isEmpty, state.takenDeadline != .never,
                state.takenDeadline.milliseconds <= time
            else { return }
            state.takenDeadline = .never
            state.events.add([WatchEvent(content: .cleared)], buffering)
            wake(&state, &wakes)
        }
        wakes()
    }

    /// All events that are there, and whether none follows them.
    func takeAll() -> (events: [WatchEvent], isEnded: Bool) {
        state.withLock { ($0.events.takeAll(), $0.isEnded) }
    }

    /// As the other, into an array that is empty: its room is the buffer's then. Returns whether none follows.
    func takeAll(into events: inout [WatchEvent]) -> Bool {
        state.withLock { state in
            state.events.takeAll(into: &events)
            return state.isEnded
        }
    }

    /// The next event; `nil` once the workspace has ended and all events are read, or where the
    /// task is cancelled.
    func next(
        _ feed: ChangeFeed, isolation: isolated (any Actor)? = #isolation
    ) async -> WatchEvent? {
        while !Task.isCancelled {
            switch take() {
            case .event(let event): return event
            case .ended: return nil
            case .empty: await wait(forHistory: false)
            case .history(let cursor):
                if feed.readOn(cursor, for: self) {
                    await Task.yield()
                } else {
                    await wait(forHistory: true)
                }
            }
        }
        return nil
    }

    /// Gives history back that a reader had taken, with the events that it found; `nil` once all
    /// is read and the watcher is told of what is committed from here on.
    func putBack(_ cursor: HistoryCursor?, _ events: [WatchEvent], _ wakes: inout Wakes) {
        state.withLock { state in
            state.isReadingHistory = false
            if !state.isEnded { state.history = cursor }
            // The buffer is empty, so it takes them all.
            if !events.isEmpty { state.events.add(events, .bounded(.max)) }
            // For a second reader, who found the history taken.
            wake(&state, &wakes)
        }
    }

    /// Lets a reader look again that waits for the log to be readable further.
    func lookAgain(_ wakes: inout Wakes) {
        state.withLock { state in
            state.isLookDue = true
            wake(&state, &wakes)
        }
    }

    private func wait(
        forHistory: Bool, isolation: isolated (any Actor)? = #isolation
    ) async {
        let id = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    // Cancelled before this: the handler has run and found nothing to resume.
                    if Task.isCancelled || state.isEnded || !state.events.isEmpty { return true }
                    if state.history != nil, !forHistory || state.isLookDue { return true }
                    state.waiting.append((id, continuation))
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
