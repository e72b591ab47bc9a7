import RoostFormat

/// Keeps a watcher that is told of each batch before its write returns; the last reference ends it,
/// and must not go while a lock is held that a write takes.
///
/// - It gets batches in the order in which they become visible, which is what views show. That of the
///   sequence numbers would have a write wait for another's sync.
/// - `onCommit` is called by the thread that made the batch visible, once that holds neither a lock
///   nor a shard's turn: it may read, and take its time.
package final class LiveWatch: Sendable {
    fileprivate let watcher: Watcher
    private let feed: ChangeFeed
    private let shards: [Shard]

    fileprivate init(watcher: Watcher, feed: ChangeFeed, shards: [Shard]) {
        self.watcher = watcher
        self.feed = feed
        self.shards = shards
    }

    deinit {
        feed.remove(watcher) {
            for shard in shards { shard.published.withLock { $0.unwatch(watcher.target) } }
        }
        for shard in shards { shard.turn.withLock { $0.liveWatcherCount -= 1 } }
    }

    /// The events that are there, those of one batch with one version and one after the other, and
    /// whether the workspace has ended.
    package func takeReady() -> (events: [WatchEvent], isEnded: Bool) { watcher.takeAll() }

    /// As the other, into an array that is empty: whoever gives the same one again spares the watcher a new one.
    /// Returns whether the workspace has ended.
    package func takeReady(into events: inout [WatchEvent]) -> Bool {
        watcher.takeAll(into: &events)
    }
}

/// A view, and what a live watcher was told before it and had not read.
package struct LiveMoment: Sendable {
    package let view: EngineView
    package let events: [WatchEvent]
    /// What the caller owes to others, whose writes were made on the way. It may call `onCommit`.
    package let afterwards: @Sendable () -> Void
}

extension Engine {
    private static var liveCapacity: Int { 1 << 16 }

    /// Begins to watch, before it returns.
    package func watchLive(
        _ target: WatchTarget, onCommit: @escaping @Sendable () -> Void
    ) -> LiveWatch {
        // Before the watcher begins: a write whose turn nobody tells afterwards is over by then.
        for shard in shards { shard.turn.withLock { $0.liveWatcherCount += 1 } }
        let watcher = feed.add { id in
            Watcher(
                id: id, target: target, isOrdered: false, buffering: .bounded(Self.liveCapacity),
                history: nil, onReady: onCommit, calling: .eachBatch)
        } register: { id, observedCount in
            for shard in shards {
                shard.published.withLock { state in
                    if state.watch(target, by: id) { observedCount += 1 }
                }
            }
            return nil
        }
        // Appends that were under way hand on what they change before they give the turn back; from here
        // on all is told in the order in which it becomes visible.
        for shard in shards { shard.turn.withLock { _ in } }
        return LiveWatch(watcher: watcher, feed: feed, shards: shards)
    }

    /// A view without enqueued writes that have no place among the changes yet, and the events of all
    /// batches that are in it and were not read. What comes later is in neither.
    package func moment(of watch: LiveWatch) throws -> LiveMoment {
        let moment = try moment(of: [watch])
        return LiveMoment(
            view: moment.view, events: moment.events[0], afterwards: moment.afterwards)
    }
}
