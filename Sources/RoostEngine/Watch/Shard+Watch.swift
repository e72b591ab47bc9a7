import RoostFormat
import RoostLog

/// A change is made, and watchers are to be called that nobody calls who does not look into `ShardTurn.afterwards`.
struct OwesCalls: Error {
    let appended: LogWriter.Appended
}

extension Shard {
    /// Appends a frame of one operation, by `append`, and makes it visible.
    @inline(__always)
    nonisolated func commit(
        _ key: UnsafeRawBufferPointer, hash: UInt64, enqueuedVersion: UInt64 = 0,
        in turn: inout ShardTurn, _ append: () throws -> LogWriter.Appended
    ) throws -> LogWriter.Appended {
        do {
            let unwatched = try commitUnlessWatched(
                key, hash: hash, enqueuedVersion: enqueuedVersion, in: &turn, append)
            if let unwatched { return unwatched }
        } catch let owed as OwesCalls {
            return owed.appended
        }
        return try publishWatched(&turn) { turn in
            let appended = try append()
            _ = enter(appended, hash: hash, enqueuedVersion, &turn)
            return (appended, Commit(appended, hash: hash, enqueuedVersion: enqueuedVersion))
        }
    }

    /// As `commit`; `nil`, with nothing done, where the key is watched. For a caller who has nobody to call once it has
    /// given the turn back, which costs a look.
    ///
    /// - Throws: `OwesCalls`, with the change made, where a watcher began meanwhile.
    @inline(__always)
    nonisolated func commitUnlessWatched(
        _ key: UnsafeRawBufferPointer, hash: UInt64, enqueuedVersion: UInt64 = 0,
        in turn: inout ShardTurn, _ append: () throws -> LogWriter.Appended
    ) throws -> LogWriter.Appended? {
        // The slot is on its way from memory while the frame is written.
        let isWatched = published.withLock { state in
            state.active.prefetchSlot(hash)
            return state.beginAppend(key, hash: hash)
        }
        if isWatched {
            // What begins to watch before the feed's mutex is taken knows of the change from the feed.
            endUnneededAppend(&turn)
            return nil
        }
        let appended = try appending(&turn, append)
        let observer = enter(appended, hash: hash, enqueuedVersion, &turn)
        if observer > 0 {
            feed.publishObserved(
                Commit(
                    appended, hash: hash, enqueuedVersion: enqueuedVersion, lastWatcher: observer),
                &turn.afterwards)
            throw OwesCalls(appended: appended)
        }
        return appended
    }

    /// Enters a frame of one operation; returns the last watcher that began during the append.
    @inline(__always)
    private nonisolated func enter(
        _ appended: LogWriter.Appended, hash: UInt64, _ enqueuedVersion: UInt64,
        _ turn: inout ShardTurn
    ) -> UInt64 {
        let operation = Operation(location: appended.location + UInt(Frame.headerSizeBytes))
        let region = regionIfNew(appended, &turn)
        return published.withLock { state in
            if let region { state.active.hold(region) }
            if state.layers.isNoting {
                state.layers.note(operation, hash: hash, in: state.active)
            }
            state.active.insert(operation, hash: hash, sequence: appended.sequence)
            state.residents.remove(hash)
            if enqueuedVersion > 0 {
                state.enqueued?.noteCommitted(enqueuedVersion)
                state.places.note(enqueuedVersion, appended.sequence)
            }
            return state.endAppend()
        }
    }

    /// Appends a batch all of whose changes are this shard's, by `append`, and makes it visible.
    nonisolated func commit(
        _ batch: EncodedBatch, in turn: inout ShardTurn, _ append: () throws -> LogWriter.Appended
    ) throws -> LogWriter.Appended {
        if published.withLock({ $0.beginAppend(batch) }) {
            // As above.
            endUnneededAppend(&turn)
            return try publishWatched(&turn) { turn in
                let appended = try append()
                _ = enter(appended, batch, &turn)
                return (appended, Commit(appended, changes: batch.changes))
            }
        }
        let appended = try appending(&turn, append)
        let observer = enter(appended, batch, &turn)
        if observer > 0 {
            feed.publishObserved(
                Commit(appended, changes: batch.changes, lastWatcher: observer), &turn.afterwards)
        }
        return appended
    }

    private nonisolated func enter(
        _ appended: LogWriter.Appended, _ batch: EncodedBatch, _ turn: inout ShardTurn
    ) -> UInt64 {
        let region = regionIfNew(appended, &turn)
        return published.withLock { state in
            if let region { state.active.hold(region) }
            state.apply(
                batch.changes, frameLocation: appended.location, sequence: appended.sequence)
            return state.endAppend()
        }
    }

    /// Appends a watched change and makes it visible, by `body`, as one step for all watchers. The mark that
    /// `beginAppend` left was taken back before.
    @inline(never)
    private nonisolated func publishWatched(
        _ turn: inout ShardTurn,
        _ body: (inout ShardTurn) throws -> (LogWriter.Appended, Commit)
    ) throws -> LogWriter.Appended {
        var afterwards = ShardTurn.Afterwards()
        defer { turn.afterwards.calls.append(contentsOf: afterwards.calls) }
        return try feed.publish(&afterwards) { try body(&turn) }
    }

    /// Runs `append`, whose mark must not stay where it fails.
    @inline(__always)
    private nonisolated func appending(
        _ turn: inout ShardTurn, _ append: () throws -> LogWriter.Appended
    ) throws -> LogWriter.Appended {
        do { return try append() } catch {
            endUnneededAppend(&turn)
            throw error
        }
    }

    @inline(never)
    private nonisolated func endUnneededAppend(_ turn: inout ShardTurn) {
        if published.withLock({ $0.endAppend() }) > 0 {
            feed.publishObserved(nil, &turn.afterwards)
        }
    }
}
