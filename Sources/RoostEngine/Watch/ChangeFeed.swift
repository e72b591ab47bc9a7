import RoostFormat
import RoostIO
import RoostLog
import Synchronization

/// Puts the batches that become visible in order and hands them to the watchers.
///
/// - A change that is watched is appended, made visible and handed on while this mutex is held,
///   so the order is the same for all three. A staged batch is appended under it, and later made
///   visible and handed on under it. So is a watcher's begin: it knows of each batch from the
///   value that it begins with, or is told of it, and never both.
/// - `staged` holds the sequence numbers of the batches that are appended and not resolved,
///   ascending. `held` holds the visible batches above the lowest of them, ascending: watchers
///   that get batches in order are not told before. Without such watchers it is empty.
/// - A change that nobody watched when its append began does not take this mutex. Where a watcher
///   began meanwhile, the shard says so (`ShardState.appendObserver`), `observedCount` counts it,
///   and nothing is handed on in order before it is.
/// - Locks are taken in this order: `publication`, a shard's turn, this one, the shards', the log's, a
///   watcher's. Readers are resumed, and called, once none is held.
final class ChangeFeed: Sendable {
    /// Which watchers a batch is for.
    enum Delivery: Sendable {
        case unordered
        case ordered
        case all

        func includes(_ watcher: Watcher) -> Bool {
            switch self {
            case .unordered: !watcher.isOrdered
            case .ordered: watcher.isOrdered
            case .all: true
            }
        }
    }

    struct State {
        var watchers = WatcherTable()
        var lastWatcher: UInt64 = 0
        var staged: [UInt64] = []
        var held: [Commit] = []
        var observedCount = 0
        /// Batches in the log that never became visible: their sync failed.
        var aborted: Set<UInt64> = []
        /// Watchers whose readers wait for more of the log to be resolved.
        var historyWaiters: [Watcher] = []
        var isEnded = false
        var room = DeliveryRoom()
    }

    private let state = Mutex(State())

    // MARK: Commits

    /// Appends a watched change and makes it visible, by `body`. The caller has a shard's turn, and
    /// calls what is left in `afterwards` once it has given that back.
    func publish(
        _ afterwards: inout ShardTurn.Afterwards,
        _ body: () throws -> (LogWriter.Appended, Commit)
    ) throws -> LogWriter.Appended {
        var wakes = Wakes()
        let appended = try state.withLock { state in
            let (appended, commit) = try body()
            state.add(commit, &wakes)
            return appended
        }
        wakes(&afterwards)
        return appended
    }

    /// As `publish`, of a change that nobody has asked yet whether it is watched; `body` need not say what
    /// it is where nobody watches anything.
    func publishAtOnce(
        _ afterwards: inout ShardTurn.Afterwards,
        _ body: (_ isWatched: Bool) throws -> (LogWriter.Appended, Commit?)
    ) throws -> LogWriter.Appended {
        var wakes = Wakes()
        let appended = try state.withLock { state in
            let (appended, commit) = try body(!state.watchers.isEmpty)
            if let commit { state.add(commit, &wakes) }
            return appended
        }
        wakes(&afterwards)
        return appended
    }

    /// Hands on a change that is visible and whose append began before it was watched; `nil`
    /// where there was none in the end. As `publish`.
    func publishObserved(_ commit: Commit?, _ afterwards: inout ShardTurn.Afterwards) {
        var wakes = Wakes()
        state.withLock { state in
            state.observedCount -= 1
            if let commit { state.add(commit, &wakes) }
            state.release(&wakes)
        }
        wakes(&afterwards)
    }

    /// Appends a batch, by `append`, that is not visible yet.
    func stage(_ append: () throws -> LogWriter.Appended) throws -> LogWriter.Appended {
        try state.withLock { state in
            let appended = try append()
            state.staged.append(appended.sequence)
            return appended
        }
    }

    /// Makes a staged batch visible by `body`, which returns `nil` where none of it is to be
    /// told. Returns the readers that the caller is to resume once it holds no lock.
    func publishStaged(_ sequence: UInt64, _ body: (_ isWatched: Bool) -> Commit?) -> Wakes {
        var wakes = Wakes()
        state.withLock { state in
            let commit = body(!state.watchers.isEmpty)
            state.unstage(sequence)
            if let commit { state.add(commit, &wakes) }
            state.release(&wakes)
        }
        return wakes
    }

    /// A staged batch will not become visible.
    func abort(_ sequence: UInt64) {
        var wakes = Wakes()
        state.withLock { state in
            state.unstage(sequence)
            state.aborted.insert(sequence)
            state.release(&wakes)
        }
        wakes()
    }

    /// A key's newest value is given up: those who may have begun with it are told `current`.
    func tellAgain(_ key: [UInt8], hash: UInt64, current: () -> InitialRecord) {
        var wakes = Wakes()
        state.withLock { state in
            guard let watchers = state.watchers.keys[hash] else { return }
            for watcher in watchers where !watcher.isOrdered {
                guard key.withUnsafeBytes({ watcher.target.contains($0) }) else { continue }
                watcher.begin(with: current(), &wakes)
            }
        }
        wakes()
    }

    /// Makes a later moment visible, by `body`, of which `missedCount` batches before it are not known:
    /// watchers of changes are told how many, watchers of a value what it is then. Returns the readers that
    /// the caller is to resume once it holds no lock.
    func skip<Result>(
        _ missedCount: Int, _ body: () -> sending Result,
        current: (_ key: [UInt8], _ hash: UInt64) -> InitialRecord
    ) -> sending (result: Result, wakes: Wakes) {
        var wakes = Wakes()
        let result = state.withLock { state in
            let result = body()
            for watcher in state.watchers.all {
                if case .key(let key, let hash) = watcher.target, !watcher.isOrdered {
                    watcher.begin(with: current(key, hash), &wakes)
                } else {
                    watcher.push([WatchEvent(content: .missed(missedCount))], &wakes)
                }
            }
            return result
        }
        return (result, wakes)
    }

    // MARK: Watchers

    /// Lets a watcher begin. `register` enters its target in its shards; where one of them has
    /// an append under way, it notes the watcher's number there and counts it.
    func add(
        _ make: (_ id: UInt64) -> Watcher,
        register: (_ id: UInt64, _ observedCount: inout Int) -> InitialRecord?
    ) -> Watcher {
        var wakes = Wakes()
        let watcher = state.withLock { state in
            state.lastWatcher += 1
            let watcher = make(state.lastWatcher)
            if state.isEnded {
                watcher.end(&wakes)
                return watcher
            }
            let record = register(watcher.id, &state.observedCount)
            state.watchers.add(watcher)
            if let record { watcher.begin(with: record, &wakes) }
            return watcher
        }
        // Who begins to be told of batches has no moment yet to be told anything of.
        wakes.callOthersThanTelling()
        return watcher
    }

    func remove(_ watcher: Watcher, unregister: () -> Void) {
        var wakes = Wakes()
        state.withLock { state in
            state.watchers.remove(watcher)
            if state.watchers.orderedCount == 0 { state.held = [] }
            state.historyWaiters.removeAll { $0 === watcher }
            if !state.isEnded { unregister() }
            watcher.end(&wakes)
        }
        wakes()
    }

    /// Ends every watcher, now and from here on.
    func end() {
        var wakes = Wakes()
        state.withLock { state in
            state.isEnded = true
            for watcher in state.watchers.all { watcher.end(&wakes) }
            state.watchers = WatcherTable()
            state.historyWaiters = []
            state.held = []
        }
        wakes()
    }

    /// Calls `body` while no batch becomes visible that anybody watches.
    func atOneMoment<Result: Sendable>(_ body: () -> Result) -> Result {
        state.withLock { _ in body() }
    }

    /// How many batches wait for earlier ones.
    var heldCount: Int { state.withLock { $0.held.count } }

    /// How many watchers there are, and how many events wait in the fullest buffer.
    var figures: (count: Int, furthestEventCount: Int) {
        let watchers = state.withLock { $0.watchers.all }
        return (watchers.count, watchers.reduce(0) { max($0, $1.waitingEventCount) })
    }

    // MARK: History

    /// Reads a stretch of the log for a watcher that began at an earlier version. `false` where
    /// nothing can be read before the watcher is told to look again.
    func readOn(_ cursor: HistoryCursor, for watcher: Watcher) -> Bool {
        var wakes = Wakes()
        let work = state.withLock { state -> (boundary: UInt64, aborted: Set<UInt64>)? in
            let boundary = state.boundary(cursor.log?.lastSequence ?? cursor.beganAt)
            if cursor.next <= boundary { return (boundary, state.aborted) }
            // Told of all above the boundary from here on: what is visible of it is in `held`.
            let isDone = boundary >= cursor.beganAt || state.isEnded
            if !isDone { state.historyWaiters.append(watcher) }
            watcher.putBack(isDone ? nil : cursor, [], &wakes)
            return isDone ? (0, []) : nil
        }
        if let work, work.boundary > 0 {
            var cursor = cursor
            let events = cursor.read(
                through: work.boundary, target: watcher.target, aborted: work.aborted)
            watcher.putBack(cursor, events, &wakes)
        }
        wakes()
        return work != nil
    }
}

extension ChangeFeed.State {
    /// Takes a batch that just became visible.
    mutating func add(_ commit: Commit, _ wakes: inout Wakes) {
        if watchers.isEmpty { return }
        var commit = commit
        commit.lastWatcher = min(commit.lastWatcher, lastWatcher)
        // A watcher that comes later gets none of what is visible by now, be it in order: it reads it from the log.
        let isNext = observedCount == 0 && held.isEmpty && commit.sequence < staged.first ?? .max
        if isNext || watchers.orderedCount == 0 {
            return commit.deliver(to: watchers, .all, &room, &wakes)
        }
        commit.deliver(to: watchers, .unordered, &room, &wakes)
        let index = held.lastIndex { $0.sequence < commit.sequence }.map { $0 + 1 } ?? 0
        held.insert(commit, at: index)
    }

    /// Hands on what was held and is in order now.
    mutating func release(_ wakes: inout Wakes) {
        guard observedCount == 0 else { return }
        let lowest = staged.first ?? .max
        let count = held.prefix { $0.sequence < lowest }.count
        for commit in held.prefix(count) {
            commit.deliver(to: watchers, .ordered, &room, &wakes)
        }
        held.removeFirst(count)
        for watcher in historyWaiters { watcher.lookAgain(&wakes) }
        historyWaiters.removeAll()
    }

    mutating func unstage(_ sequence: UInt64) {
        // Mostly the first: syncs end in the order of their begin.
        if let index = staged.firstIndex(of: sequence) { staged.remove(at: index) }
    }

    /// Every batch up to here is visible or will never be, for all that watchers know.
    func boundary(_ lastSequence: UInt64) -> UInt64 {
        observedCount > 0 ? 0 : min(lastSequence, (staged.first ?? .max) - 1)
    }
}
