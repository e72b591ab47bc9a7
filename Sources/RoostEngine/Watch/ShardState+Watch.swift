import RoostFormat

// An append and the change's becoming visible are two steps, each under the shard's mutex; a
// watcher may begin between them. So each append is marked while it is under way, and a watcher
// that finds the mark leaves its number: the writer then hands the change on after all.

extension ShardState {
    /// Marks that an append begins; whether the key is watched, and the change therefore has to
    /// go through `ChangeFeed.publish`.
    @inline(__always)
    mutating func beginAppend(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        isAppending = true
        return watches.contains(key, hash: hash)
    }

    /// As the other, for a batch of this shard.
    mutating func beginAppend(_ batch: EncodedBatch) -> Bool {
        isAppending = true
        return watches.mayContain(batch.changes, dictionaries: batch.dictionaries)
    }

    /// Marks that it has ended; returns the last watcher that began meanwhile, or zero.
    @inline(__always)
    mutating func endAppend() -> UInt64 {
        isAppending = false
        if appendObserver == 0 { return 0 }
        defer { appendObserver = 0 }
        return appendObserver
    }

    /// Begins to watch; `true` where it is the first to see that an append is under way.
    mutating func watch(_ target: WatchTarget, by id: UInt64) -> Bool {
        watches.add(target)
        guard isAppending else { return false }
        defer { appendObserver = id }
        return appendObserver == 0
    }

    mutating func unwatch(_ target: WatchTarget) { watches.remove(target) }

    /// Whether a change of the key that is newer than `sequence` is visible, be it that its dictionary was
    /// emptied.
    func isNewer(than sequence: UInt64, _ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        if clearedSequence(of: key) > sequence { return true }
        if let found = active.find(key, hash: hash), found.sequence > sequence { return true }
        if let found = frozen?.find(key, hash: hash), found.sequence > sequence { return true }
        return staged.contains { batch in
            batch.token.isCommitted && batch.token.sequence > sequence
                && batch.find(key, hash: hash) != nil
        }
    }
}
