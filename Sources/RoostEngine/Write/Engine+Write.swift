import RoostFormat
import RoostIO
import RoostLog

/// The turns of others: what is written at once does not suspend, so tasks that write again and again would keep the threads
/// of the cooperative pool, as many as there are processors, for themselves. docs/decisions/0269.
extension Engine {
    /// Whether the task that made a change is to let others have its thread. Of all tasks that write beside each other one does so,
    /// once in a millisecond or so.
    @inline(__always)
    package static func isTurnOfOthers(behind sequence: UInt64) -> Bool { sequence & 2047 == 0 }

    /// Lets others have the thread where it is their turn.
    nonisolated(nonsending) func giveTurn(behind sequence: UInt64?) async {
        if let sequence, Self.isTurnOfOthers(behind: sequence) { await Task.yield() }
    }
}

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
        if try condition.checkWritableSampling() { return nil }
        return try writeAtOnceNow(value, key: key, prefix: prefix, durability)
    }

    /// As `writeAtOnce`, of a workspace that takes writes.
    @inline(__always)
    func writeAtOnceNow(
        _ value: EncodedValue?, key: String, prefix: UnsafeRawBufferPointer,
        _ durability: Durability?
    ) throws -> UInt64? {
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
        let sequence =
            if try condition.checkWritableObserving() {
                try await writeObserved(value, key: key, name: name, durability: durability)
            } else {
                try await writeInTurn(
                    value, key: key, name: name, durability ?? configuration.durability)
            }
        await giveTurn(behind: sequence)
        return sequence
    }

    /// As `write`, of a workspace that takes writes.
    @inline(__always)
    nonisolated(nonsending) func writeInTurn(
        _ value: EncodedValue?, key: String, name: DictionaryName, _ durability: Durability
    ) async throws -> UInt64 {
        if let error = checkSizes(key: key, value: value) { throw error }
        let hash = hash(of: key, in: name)
        let shard = shard(of: hash)
        do {
            if durability == .synced {
                return try await writeSynced(value, key: key, name: name, hash: hash, shard: shard)
            }
            let appended = try await shard.write(value, key: key, name: name, hash: hash)
            noteAppended(appended, durability)
            return appended.sequence
        } catch is GuardedWrite {
            return try await writeGuarded(value, key: key, name: name, durability: durability)
        }
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
    ///
    /// - Parameter isTransaction: Whether it is a part of a call that is measured itself.
    package func commit(
        _ batch: EncodedBatch, durability: Durability?, isTransaction: Bool = false
    ) async throws -> UInt64 {
        if let failure = batch.failure { throw failure }
        let isObserved = try condition.checkWritableObserving()
        guard !batch.isEmpty else { return lastSequence }
        let durability = durability ?? configuration.durability
        if isObserved {
            if !isTransaction { return try await commitObserved(batch, durability) }
            _ = try await makeRoom()
        }
        return try await commitInTurn(batch, durability)
    }

    /// As `commit`, of a workspace that takes writes.
    @inline(__always)
    func commitInTurn(_ batch: EncodedBatch, _ durability: Durability) async throws -> UInt64 {
        var batch = batch
        while true {
            guards.complete(&batch)
            if let failure = batch.failure { throw failure }
            do {
                let sequence = try await commitCompleted(batch, durability)
                noteCommitted(batch)
                await giveTurn(behind: sequence)
                return sequence
            } catch is GuardsChanged {
                // They are told to one shard after the other.
                await Task.yield()
            }
        }
    }

    /// - Throws: `GuardsChanged`, with nothing changed.
    func commitCompleted(
        _ batch: EncodedBatch, _ durability: Durability
    ) async throws -> UInt64 {
        let parts = parts(of: batch)
        if parts.count == 1, batch.clears.isEmpty, durability != .synced {
            let appended = try await parts[0].shard.write(batch, parts[0].claim)
            noteAppended(appended, durability)
            return appended.sequence
        }
        switch try commitAtOnce(batch, parts, durability) {
        case .committed(let sequence): return sequence
        case .overtaken: throw GuardsChanged()
        case .blocked: break
        }
        let token = BatchToken()
        let generation = batch.guardGeneration
        for (index, part) in parts.enumerated() {
            do { try await part.shard.prepare(part.staged(token), generation) } catch {
                abort(token, on: parts[..<index])
                throw error
            }
        }
        return try await appendAndSettle(batch, parts, token, durability)
    }

    /// What a batch changes in one shard, and what its outcome rests on there.
    struct Part {
        let shard: Shard
        let index: Int
        var claim: Claim
        var reads: ShardReads?

        func staged(_ token: BatchToken) -> StagedBatch { StagedBatch(token: token, claim: claim) }
    }

    /// The shards that the batch touches, in ascending order: all batches make them ready in
    /// that order, so no two wait for each other.
    private func parts(of batch: EncodedBatch) -> [Part] {
        let changes = changesByShard(of: batch)
        let isSingle = batch.operationCount == 1 && batch.clears.isEmpty
        let keys = Claim.Keys.batch(batch)
        return shards.indices.compactMap { index in
            if changes[index].isEmpty && batch.clears.isEmpty { return nil }
            var claim = Claim(keys, changes: changes[index], clears: batch.clears)
            claim.isSingle = isSingle
            return Part(shard: shards[index], index: index, claim: claim)
        }
    }

    func changesByShard(of batch: EncodedBatch) -> [[EncodedBatch.Change]] {
        var changes = Array(repeating: [EncodedBatch.Change](), count: shards.count)
        for change in batch.changes {
            changes[shardIndex(of: change.hash, shardCount: shards.count)].append(change)
        }
        return changes
    }

    /// A batch that is not in the log comes to nothing.
    func abort(_ token: BatchToken, on parts: ArraySlice<Part>) {
        token.abort()
        for part in parts { part.shard.foldResolved() }
    }

    /// Appends a batch for which every shard is ready, and makes it visible.
    func appendAndSettle(
        _ batch: EncodedBatch, _ parts: [Part], _ token: BatchToken, _ durability: Durability
    ) async throws -> UInt64 {
        let isSynced = durability == .synced
        let appended: LogWriter.Appended
        do {
            appended = try feed.stage {
                try storage.append(batch, isAwaited: isSynced)
            }
            token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        } catch {
            abort(token, on: parts[...])
            throw error
        }
        noteAppended(appended, isSynced ? .process : durability)
        for part in parts { part.shard.hold(appended) }
        try await settle(
            token, on: parts.map(\.shard), appended: appended, changes: batch.changes,
            clears: batch.clears, isSynced: isSynced)
        if !batch.clears.isEmpty { compactor.noteClear() }
        return appended.sequence
    }

    /// Makes a staged batch visible on all its shards at one moment, after its sync where it
    /// waits for one; a failed sync leaves it invisible.
    func settle(
        _ token: BatchToken, on shards: [Shard], appended: LogWriter.Appended,
        changes: [EncodedBatch.Change], clears: [[UInt8]] = [], isSynced: Bool
    ) async throws {
        do {
            if isSynced, let syncer { try await sync(syncer, through: appended.sequence) }
        } catch {
            token.abort()
            feed.abort(appended.sequence)
            for shard in shards { shard.foldResolved() }
            throw error
        }
        let wakes = publication.withLock {
            feed.publishStaged(appended.sequence) { isWatched in
                let isTold = isWatched && !(clears.isEmpty && isOvertaken(appended, changes))
                token.commit()
                return isTold ? Commit(appended, changes: changes, clears: clears) : nil
            }
        }
        wakes()
        for shard in shards { shard.foldResolved() }
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
            intervals.noteWrite(
                within: duration, isUsual: durability == configuration.durability,
                totalBytes: appended.totalBytes)
        }
        if appended.totalBytes >= compactor.schedule.noticeBytes {
            compactor.noteGrowth(appended)
        }
    }

    func waitForRoom() async throws {
        await condition.waitForRoom()
        try condition.checkWritable()
        try checkBacklog()
    }

    /// Throws why flushes fail where they do so again and again and the log is twice as long as it is when writers
    /// begin to wait: better an error now than a log without bound. Who is refused has the flush tried again.
    func checkBacklog() throws {
        guard compactor.schedule.hasFailed.load(ordering: .relaxed), let log,
            compactor.isOverdue(log.totalBytes),
            let failure = compactor.schedule.failure.withLock({ $0 })
        else { return }
        compactor.retry()
        throw failure
    }

    private var storage: any Storage {
        // A writable engine has a log; `checkWritable` came before.
        log!
    }
}
