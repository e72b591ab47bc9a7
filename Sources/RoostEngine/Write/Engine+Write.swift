import RoostFormat
import RoostIO
import RoostLog

extension Engine {
    /// Puts, or with no value removes, one key, on the caller's thread and without suspending;
    /// returns the sequence number of the change. `nil`, with nothing done, where the put has
    /// something to wait for: the caller calls `write`. `prefix` is the name's `prefixBytes`, and
    /// who calls holds the name: counting a reference to it has writers of one dictionary wait
    /// for each other's cores.
    ///
    /// Not inlined, as its callers are `async`: see `withRecordKey`.
    @inline(never)
    package func writeAtOnce(
        _ value: EncodedValue?, key: String, prefix: UnsafeRawBufferPointer,
        durability: Durability?
    ) throws -> UInt64? {
        if try condition.checkWritable() { return nil }
        if let error = checkSizes(key: key, value: value) { throw error }
        let durability = durability ?? configuration.durability
        if durability == .synced { return nil }
        defer { withExtendedLifetime(self) {} }
        let (hashSeed, shards) = (hashSeed, shardPlaces)
        let outcome = try withRecordKey(key, behind: prefix) { recordKey in
            let hash = hashSeed.hash(recordKey)
            return try shards.withShard(of: hash) {
                try $0.writeAtOnce(value, recordKey, hash: hash)
            }
        }
        guard let appended = outcome else { return nil }
        noteAppended(appended, durability)
        return appended.sequence
    }

    /// Puts, or with no value removes, one key; returns the sequence number of the change once
    /// `durability` holds.
    package nonisolated(nonsending) func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, durability: Durability?
    ) async throws -> UInt64 {
        if try condition.checkWritable() { try await waitForRoom() }
        if let error = checkSizes(key: key, value: value) { throw error }
        let hash = hash(of: key, in: name)
        let shard = shard(of: hash)
        let durability = durability ?? configuration.durability
        if durability == .synced {
            return try await writeSynced(value, key: key, name: name, hash: hash, shard: shard)
        }
        let appended = try await shard.write(value, key: key, name: name, hash: hash)
        noteAppended(appended, durability)
        return appended.sequence
    }

    private func writeSynced(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64, shard: Shard
    ) async throws -> UInt64 {
        let token = BatchToken()
        let appended = try await shard.stageWrite(
            value, key: key, name: name, hash: hash, token: token)
        noteAppended(appended, .process)
        let change = EncodedBatch.Change(hash: hash, frameOffset: Frame.headerSizeBytes)
        try await settle(
            token, on: [shard], appended: appended, changes: [change], isSynced: true)
        return appended.sequence
    }

    /// Commits a batch: its changes survive, and become visible, together.
    package func commit(_ batch: EncodedBatch, durability: Durability?) async throws -> UInt64 {
        if let failure = batch.failure { throw failure }
        if try condition.checkWritable() { try await waitForRoom() }
        guard !batch.isEmpty else { return log?.lastSequence ?? 0 }
        let durability = durability ?? configuration.durability
        let involved = involvedShards(batch)
        if involved.count == 1, batch.clears.isEmpty, durability != .synced {
            // Without reads there is nothing to conflict with.
            let appended = try await shards[involved[0].index].write(batch)!
            noteAppended(appended, durability)
            return appended.sequence
        }
        return try await commit(batch, involved, durability)!
    }

    /// What a batch changes in one shard, and what its outcome rests on there.
    struct Part {
        var index: Int
        var changes: [EncodedBatch.Change]
        var reads: ShardReads?
    }

    /// The shards that the batch touches, in ascending order: all batches make them ready in
    /// that order, so no two wait for each other.
    private func involvedShards(_ batch: EncodedBatch) -> [Part] {
        var parts = Array(repeating: [EncodedBatch.Change](), count: shards.count)
        for change in batch.changes {
            parts[shardIndex(of: change.hash, shardCount: shards.count)].append(change)
        }
        return parts.indices.compactMap { index in
            parts[index].isEmpty && batch.clears.isEmpty
                ? nil : Part(index: index, changes: parts[index])
        }
    }

    /// `nil`, with nothing changed, where something that was read has changed.
    func commit(
        _ batch: EncodedBatch, _ involved: [Part], _ durability: Durability
    ) async throws -> UInt64? {
        let token = BatchToken()
        let isSynced = durability == .synced
        let isSingle =
            batch.operationCount == 1 && batch.clears.isEmpty
            && involved.allSatisfy { $0.reads == nil }
        for (position, part) in involved.enumerated() {
            let isReady = await shards[part.index].prepare(
                StagedBatch(
                    token: token, changes: part.changes, dictionaries: batch.dictionaries,
                    clears: batch.clears, isSingle: isSingle, reads: part.reads))
            guard isReady else {
                token.abort()
                for part in involved[..<position] { await shards[part.index].foldResolved() }
                return nil
            }
        }
        let parts = involved.map { shards[$0.index] }
        let appended: LogWriter.Appended
        do {
            appended = try feed.stage {
                try storage.append(batch, isAwaited: isSynced)
            }
            token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        } catch {
            token.abort()
            for shard in parts { await shard.foldResolved() }
            throw error
        }
        noteAppended(appended, isSynced ? .process : durability)
        for shard in parts { await shard.hold(appended) }
        try await settle(
            token, on: parts, appended: appended, changes: batch.changes, clears: batch.clears,
            isSynced: isSynced)
        return appended.sequence
    }

    /// Makes a staged batch visible on all its shards at one moment, after its sync where it
    /// waits for one; a failed sync leaves it invisible.
    func settle(
        _ token: BatchToken, on shards: [Shard], appended: LogWriter.Appended,
        changes: [EncodedBatch.Change], clears: [[UInt8]] = [], isSynced: Bool
    ) async throws {
        do {
            if isSynced { try await syncer?.sync(through: appended.sequence) }
        } catch {
            token.abort()
            feed.abort(appended.sequence)
            for shard in shards { await shard.foldResolved() }
            throw error
        }
        feed.publishStaged(appended.sequence) { isWatched in
            let isTold = isWatched && !(clears.isEmpty && isOvertaken(appended, changes))
            publication.withLock { _ in token.commit() }
            return isTold ? Commit(appended, changes: changes, clears: clears) : nil
        }
        for shard in shards { await shard.foldResolved() }
    }

    /// Whether a staged change of a single key will never be visible, as a later one is already.
    private func isOvertaken(
        _ appended: LogWriter.Appended, _ changes: [EncodedBatch.Change]
    ) -> Bool {
        guard changes.count == 1 else { return false }
        let operation = Operation(location: appended.location + UInt(changes[0].frameOffset))
        let hash = changes[0].hash
        return shard(of: hash).published.withLock { state in
            state.isNewer(than: appended.sequence, operation.key, hash: hash)
        }
    }

    /// Sets off what an append makes due: the interval's sync, the next flush, the writers' wait.
    @inline(__always)
    func noteAppended(_ appended: LogWriter.Appended, _ durability: Durability) {
        if case .interval(let duration) = durability {
            intervals.noteWrite(within: duration, isUsual: durability == configuration.durability)
        }
        if appended.totalBytes >= compactor.schedule.nextFlushBytes {
            compactor.noteGrowth(appended)
        }
    }

    func waitForRoom() async throws {
        await condition.waitWhileStalled()
        try condition.checkWritable()
        try checkBacklog()
    }

    func checkBacklog() throws {
        // The compaction fails again and again: better an error now than a log without bound.
        if compactor.schedule.hasFailed.load(ordering: .relaxed), let log,
            log.totalBytes >= compactor.schedule.flushedBytes + 2 * configuration.backlogLimitBytes,
            let failure = compactor.schedule.failure.withLock({ $0 })
        {
            throw failure
        }
    }

    private var storage: any Storage {
        // A writable engine has a log; `checkWritable` came before.
        log!
    }
}
