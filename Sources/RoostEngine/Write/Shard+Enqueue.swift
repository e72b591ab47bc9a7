import RoostFormat
import RoostIO
import RoostLog
import Synchronization

// Synchronous code can wait for nothing, and a staged batch may have to come first. So an enqueued
// write is left under the shard's mutex, where readers find it first; whoever has the shard's turn
// next commits it before any other change, which gives it its place among all changes.

extension Shard {
    /// Leaves a write for the next turn; readers see it when this returns. `true` where the caller
    /// has to see to it that `drainInBackground` is called.
    nonisolated func enqueue(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64
    ) throws -> Bool {
        try name.withRecordKey(key) { recordKey in
            let size = EnqueuedWrites.sizeBytes(
                keyCount: recordKey.count, valueCount: value?.count ?? 0)
            let own =
                size >= EnqueuedWrites.largeSizeBytes
                ? MappedRegion.anonymous(sizeBytes: size) : nil
            if let own { EnqueuedWrites.lay(value, recordKey, at: own.base) }
            return try published.withLock { state in
                guard !state.isEnqueueClosed else { throw EngineCondition.closed }
                let version = EnqueuedWrites.firstVersion + state.enqueuedCount
                state.enqueuedCount += 1
                var enqueued = state.enqueued ?? EnqueuedWrites()
                // Two references would mean a copy for each write.
                state.enqueued = nil
                if let own {
                    enqueued.add(at: own.base, in: own, hash: hash, version: version)
                } else {
                    enqueued.add(value, recordKey, hash: hash, version: version)
                }
                state.enqueued = enqueued
                state.residents.remove(hash)
                hasEnqueued.store(true, ordering: .relaxed)
                defer { state.isDrainDue = true }
                return !state.isDrainDue
            }
        }
    }

    /// Commits what is enqueued, in its order; returns whether some of it waits for a staged
    /// batch that changes the same keys, and so stays.
    @discardableResult
    nonisolated func drainEnqueued(_ turn: inout ShardTurn) -> Bool {
        guard hasEnqueued.load(ordering: .relaxed) else { return false }
        let writes = published.withLock { $0.enqueued?.writes ?? [] }
        guard let last = writes.last else { return false }
        var kept: [EnqueuedWrites.Write] = []
        var lost: [(write: EnqueuedWrites.Write, cause: any Error)] = []
        for write in writes {
            let prefix = dictionaryPrefix(of: write.operation.key)
            if isBlocked(hash: write.hash, prefix: prefix, turn) {
                kept.append(write)
                continue
            }
            do { try commit(write, &turn) } catch { lost.append((write, error)) }
            behind?.release(sizeBytes: write.sizeBytes)
        }
        published.withLock { state in
            state.enqueued = state.enqueued?.without(through: last.version, except: kept)
            for (write, _) in lost {
                state.residents.remove(write.hash)
                // What a transaction read of it does not hold.
                guard state.layers.isNoting else { continue }
                state.active.hold(write.region)
                state.layers.note(write.operation, hash: write.hash, in: state.active)
            }
            hasEnqueued.store(state.enqueued != nil, ordering: .relaxed)
        }
        for (write, cause) in lost { giveUp(write, cause) }
        return !kept.isEmpty
    }

    private nonisolated func commit(
        _ write: EnqueuedWrites.Write, _ turn: inout ShardTurn
    ) throws {
        if let poison = behind?.condition.poison { throw poison }
        let operation = write.operation
        let appended = try commit(
            operation.key, hash: write.hash, enqueuedVersion: write.version, in: &turn
        ) {
            try appendLaidOut(operation)
        }
        behind?.noteAppended(appended)
    }

    /// Readers see what was there before, so watchers have to be told it.
    private nonisolated func giveUp(_ write: EnqueuedWrites.Write, _ cause: any Error) {
        behind?.noteLost(write, cause)
        let key = Array(write.operation.key)
        feed.tellAgain(key, hash: write.hash) {
            published.withLock { $0.initialRecord(of: key, hash: write.hash) }
        }
    }

    /// Commits what is enqueued, and what comes meanwhile, until there is nothing.
    func drainInBackground() async {
        while true {
            // Writers that wait for the compaction have it wait too.
            if let behind { await behind.condition.waitWhileStalled() }
            if case .blocked(let count) = drainOnce() {
                await waitForResolution(since: count)
                continue
            }
            let isDone = published.withLock { state in
                if state.enqueued == nil { state.isDrainDue = false }
                return state.enqueued == nil
            }
            if isDone { return }
        }
    }

    /// Returns once all that was enqueued before the call is in the log or given up.
    func drainAll() async {
        let last = published.withLock { $0.enqueued?.writes.last?.version }
        guard let last else { return }
        while true {
            let outcome = drainOnce()
            let isDone = published.withLock { state in
                state.enqueued.map { $0.writes[0].version > last } ?? true
            }
            if isDone { return }
            if case .blocked(let count) = outcome { await waitForResolution(since: count) }
        }
    }

    private func drainOnce() -> ShardTurn.Outcome<Void> {
        turn.withLock { turn in
            foldResolved(&turn)
            return drainEnqueued(&turn) ? turn.blocked() : .done(())
        }
    }

    /// As `drainAll`; from here on nothing is enqueued.
    func drainForGood() async {
        published.withLock { $0.isEnqueueClosed = true }
        await drainAll()
    }
}

private func dictionaryPrefix(of recordKey: UnsafeRawBufferPointer) -> [UInt8] {
    // A record key begins with the length of its dictionary's name.
    Array(recordKey.prefix(1 + Int(recordKey[0])))
}
