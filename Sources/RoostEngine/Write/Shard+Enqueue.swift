import RoostFormat
import RoostIO
import RoostLog
import Synchronization

// Synchronous code can wait for nothing, and something may have to come first. So an enqueued write is
// made at once where nothing does, and else takes a place in the shard's queue and is left under the
// shard's mutex, where readers find it first.

extension Shard {
    /// Makes a write at once, or has it made once nothing comes before it; readers see it when this
    /// returns. `nil` where it is not made yet.
    ///
    /// - Throws: `GuardsChanged`, with nothing done, where the dictionary is guarded in a later generation
    ///   than the one of which its marks were taken away before.
    nonisolated func enqueue(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        guardGeneration: UInt64 = .max
    ) throws -> LogWriter.Appended? {
        try name.withRecordKey(key) { recordKey in
            try withTurn { turn in
                if turn.isContended {
                    if turn.guardGeneration > guardGeneration, turn.isGuarded(recordKey) {
                        throw GuardsChanged()
                    }
                    foldResolved(&turn)
                    if isBlocked(recordKey, hash: hash, turn) {
                        try leave(value, recordKey, hash: hash, &turn)
                        return nil
                    }
                }
                return try write(value, recordKey, hash: hash, in: &turn)
            }
        }
    }

    /// Has a write take its place in the queue, and readers find it.
    private nonisolated func leave(
        _ value: EncodedValue?, _ recordKey: UnsafeRawBufferPointer, hash: UInt64,
        _ turn: inout ShardTurn
    ) throws {
        guard !turn.isEnqueueClosed else { throw EngineCondition.closed }
        let size = EnqueuedWrites.sizeBytes(
            keyCount: recordKey.count, valueCount: value?.count ?? 0)
        try behind?.reserve(sizeBytes: size)
        let own =
            size >= EnqueuedWrites.largeSizeBytes ? MappedRegion.anonymous(sizeBytes: size) : nil
        if let own { EnqueuedWrites.lay(value, recordKey, at: own.base) }
        let write = published.withLock { state in
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
            state.residents.remove(hash)
            defer { state.enqueued = enqueued }
            return enqueued.writes[enqueued.writes.count - 1]
        }
        turn.addEnqueued(write, Claim(recordKey, hash: hash))
    }

    nonisolated var hasEnqueued: Bool { published.withLock { $0.enqueued != nil } }

    /// Commits writes whose time has come, in their order. From here on readers find them in the log, or not at all.
    nonisolated func commitEnqueued(_ writes: [EnqueuedWrites.Write], _ turn: inout ShardTurn) {
        var lost: [EnqueuedWrites.Write] = []
        for write in writes {
            do { try commit(write, &turn) } catch {
                lost.append(write)
                noteLost(write, error, &turn)
            }
            behind?.release(sizeBytes: write.sizeBytes)
        }
        forgetEnqueued(writes, lost: lost)
    }

    /// Takes the writes from readers. Up to here they find those too that are `lost`: so what they have made of these goes
    /// in the same moment. Who found one a moment later would take it for what is there.
    private nonisolated func forgetEnqueued(
        _ writes: [EnqueuedWrites.Write], lost: [EnqueuedWrites.Write]
    ) {
        let versions = Set(writes.lazy.map(\.version))
        published.withLock { state in
            for write in lost {
                state.residents.remove(write.hash)
                // What a transaction read of it does not hold.
                guard state.layers.isNoting else { continue }
                state.active.hold(write.region)
                state.layers.note(write.operation, hash: write.hash, in: state.active)
            }
            if !lost.isEmpty { behind?.noteGivenUp(lost.count) }
            state.enqueued = state.enqueued?.without(versions)
        }
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

    private nonisolated func noteLost(
        _ write: EnqueuedWrites.Write, _ cause: any Error, _ turn: inout ShardTurn
    ) {
        guard let failure = behind?.noteLost(write, cause) else { return }
        turn.afterwards.lost.append(
            .init(key: Array(write.operation.key), hash: write.hash, failure: failure))
    }

    /// Readers see what was there before, so watchers have to be told it.
    nonisolated func tellLost(_ lost: ShardTurn.LostWrite) {
        behind?.failures.tellLostWrite(lost.failure)
        feed.tellAgain(lost.key, hash: lost.hash) {
            published.withLock { $0.initialRecord(of: lost.key, hash: lost.hash) }
        }
    }

    /// Returns once all that was enqueued before the call is in the log or given up; where
    /// `closes`, nothing is left for later from here on.
    nonisolated func waitForEnqueued(closes: Bool = false) async {
        var last: UInt64?
        while true {
            let resolutionCount = withTurn { turn -> Int? in
                if closes { turn.isEnqueueClosed = true }
                foldResolved(&turn)
                last = last ?? turn.lastPlace
                return turn.hasEnqueued(through: last!) ? turn.resolutionCount : nil
            }
            guard let resolutionCount else { return }
            await waitForResolution(since: resolutionCount)
        }
    }
}

extension ShardTurn {
    /// At the queue's end, so with the writes that are there already: all come after all before them.
    mutating func addEnqueued(_ write: EnqueuedWrites.Write, _ claim: Claim) {
        guard let last = queue.indices.last, case .enqueued(var writes) = queue[last].kind else {
            return add(claim, .enqueued([write]))
        }
        // Two references would mean a copy for each write.
        queue[last].kind = .held
        writes.append(write)
        queue[last].kind = .enqueued(writes)
        queue[last].claim.add(claim)
    }

    func hasEnqueued(through number: UInt64) -> Bool {
        queue.contains { place in
            if case .enqueued = place.kind { place.number <= number } else { false }
        }
    }
}
