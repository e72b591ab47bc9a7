import RoostFormat
import RoostLog
import Synchronization

/// Keeps a watcher; the last reference ends it.
package final class WatchHandle: Sendable {
    private let watcher: Watcher
    private let feed: ChangeFeed
    /// Those that the watcher's target may be in.
    private let shards: [Shard]
    private let timer: ExpiryTimer
    /// Made with the first value that expires.
    private let expiry = Mutex<ExpiryWaiter?>(nil)

    fileprivate init(
        watcher: Watcher, feed: ChangeFeed, shards: [Shard], timer: ExpiryTimer
    ) {
        self.watcher = watcher
        self.feed = feed
        self.shards = shards
        self.timer = timer
    }

    deinit {
        feed.remove(watcher) {
            for shard in shards { shard.published.withLock { $0.unwatch(watcher.target) } }
        }
    }

    /// The next event; `nil` once the workspace has ended and all events are read, or where the
    /// task is cancelled.
    package func next(isolation: isolated (any Actor)? = #isolation) async -> WatchEvent? {
        await watcher.next(feed)
    }

    /// The next event that is there, without waiting.
    package func nextReady() -> WatchEvent? { watcher.nextReady() }

    /// The value that the event of `version` told expires then: where it is the last that was told, a watcher of one
    /// key's value is told that it is gone, by `.cleared`.
    package func awaitExpiry(at deadline: Deadline, of version: UInt64) {
        guard !watcher.isOrdered, watcher.target.isKey,
            watcher.noteDeadline(deadline, ofTaken: version)
        else { return }
        expiry.withLock { expiry in
            let waiter =
                expiry
                ?? timer.waiter { [weak watcher, clock = timer.clock] in
                    watcher?.expire(upTo: clock.milliseconds)
                }
            expiry = waiter
            waiter.wait(until: deadline)
        }
    }
}

extension Engine {
    /// How a watcher is told.
    package enum WatchMode: Sendable {
        /// Each change, batches in the order of their versions; from those after `since` on, or
        /// from the next on. What comes while `capacity` changes wait is counted, not kept.
        case changes(since: UInt64?, capacity: Int)
        /// The value at the begin, and then the newest `capacity` changes that were not read.
        case values(capacity: Int)
    }

    /// Begins to watch, before it returns. `onReady` is called, on a writer's thread and with no
    /// lock and no turn held, when there are events and `nextReady` has found none before.
    ///
    /// Takes the mutex of each shard that `target` may be in.
    package func watch(
        _ target: WatchTarget, _ mode: WatchMode, onReady: (@Sendable () -> Void)? = nil
    ) -> WatchHandle {
        watch(target, mode, onReady) {}
    }

    /// Begins to watch, with a view of the moment from which on the watcher is told.
    package func watchAndView(
        _ target: WatchTarget, _ mode: WatchMode
    ) throws -> (WatchHandle, EngineView) {
        try condition.checkOpen()
        var view: EngineView?
        let (handle, owed) = publication.withLock {
            // A turn is taken before the feed's mutex.
            let owed = foldCommitted()
            return (watch(target, mode, nil) { view = viewOfFolded() }, owed)
        }
        for (shard, afterwards) in owed { shard.tell(afterwards) }
        // A workspace that has ended begins no watcher.
        guard let view else { throw EngineCondition.closed }
        return (handle, view)
    }

    /// Calls `atBegin` at the moment from which on the watcher is told.
    private func watch(
        _ target: WatchTarget, _ mode: WatchMode, _ onReady: (@Sendable () -> Void)?,
        atBegin: () -> Void
    ) -> WatchHandle {
        let shards = shards(of: target)
        let watcher = feed.add { id in
            switch mode {
            case .values(let capacity):
                Watcher(
                    id: id, target: target, isOrdered: false, buffering: .newest(capacity),
                    history: nil, onReady: onReady)
            case .changes(let version, let capacity):
                Watcher(
                    id: id, target: target, isOrdered: true, buffering: .bounded(capacity),
                    history: version.map {
                        HistoryCursor(
                            since: $0, log: committedLog, lastSequence: lastSequence)
                    }, onReady: onReady)
            }
        } register: { id, observedCount in
            var record: InitialRecord?
            for shard in shards {
                shard.published.withLock { state in
                    if state.watch(target, by: id) { observedCount += 1 }
                    if case .values = mode, case .key(let key, let hash) = target {
                        record = state.initialRecord(of: key, hash: hash)
                    }
                }
            }
            atBegin()
            return record
        }
        return WatchHandle(watcher: watcher, feed: feed, shards: shards, timer: expiryTimer)
    }

    private func shards(of target: WatchTarget) -> [Shard] {
        switch target {
        case .key(_, let hash): [shard(of: hash)]
        case .range: shards
        }
    }
}
