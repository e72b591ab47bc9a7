import RoostFormat
import RoostIO
import RoostLog

extension Engine {
    /// Commits a transaction: the batch, if all that was read is still as it was read. Returns its
    /// sequence number once `durability` holds, or `nil`, with nothing changed, where another
    /// writer was there first.
    ///
    /// In one shard the check and the append are made in one turn, and a small batch of several in the turns
    /// of all of them (`BatchParts`). Where it is not small, waits for a sync, or is blocked, each shard is
    /// made ready in ascending order: it waits for what comes first on the keys read and written,
    /// checks the reads, and from then on no other write of those keys comes between, until the
    /// batch is visible. docs/decisions/0010.
    ///
    /// With `places` that cover the attempt nothing is checked, as nobody could change it. What is not
    /// covered is not waited for: whoever holds places in some shards must not wait in others.
    package func commit(
        _ batch: EncodedBatch, reads: TransactionReads, durability: Durability?,
        places: TransactionTurn.Places? = nil
    ) async throws -> UInt64? {
        if let failure = batch.failure { throw failure }
        if batch.isEmpty {
            // All reads were of one moment; with nothing to write that is the transaction's moment. But
            // with its turn, it did not see enqueued writes of what the turn does not cover.
            guard places?.coverAll ?? true else { return nil }
            // What it found may be less durable than what is asked for.
            if let durability, log != nil {
                guard await isEnqueuedMade(in: reads.view) else { return nil }
                try await confirm(durability)
            }
            return lastSequence
        }
        // With its turn it has waited for room before: a flush, which makes room, may wait for a batch
        // that waits for this turn's end.
        if try condition.checkWritable(), places == nil { try await waitForRoom() }
        let durability = durability ?? configuration.durability
        var batch = batch
        if batch.guardGeneration != guards.generation {
            // What is added to it the places do not cover.
            if places != nil { return nil }
            guards.complete(&batch)
            if let failure = batch.failure { throw failure }
        }
        do {
            let sequence = try await commitCompleted(batch, reads, durability, places)
            if sequence != nil { noteCommitted(batch) }
            // Who has a place of its own goes on, as others wait for that.
            if places == nil { await giveTurn(behind: sequence) }
            return sequence
        } catch is GuardsChanged { return nil }
    }

    /// Returns once the enqueued writes that the view shows are in the log; `false` where any was given up since it began:
    /// what it shows may be one of these.
    private nonisolated(nonsending) func isEnqueuedMade(in view: EngineView) async -> Bool {
        guard view.hasEnqueued else { return true }
        for (shard, part) in zip(shards, view.parts) where part.enqueued != nil {
            await shard.waitForEnqueued()
        }
        return givenUpCount == view.givenUpCount
    }

    /// - Throws: `GuardsChanged`, with nothing changed.
    private func commitCompleted(
        _ batch: EncodedBatch, _ reads: TransactionReads, _ durability: Durability,
        _ places: TransactionTurn.Places?
    ) async throws -> UInt64? {
        let parts = parts(of: batch, reads)
        if places != nil, !clock.isLive(reads.earliestDeadline) { return nil }
        if configuration.pausesBetweenSteps { await Task.yield() }
        if parts.count == 1, batch.clears.isEmpty, durability != .synced {
            let appended = try await parts[0].shard.change(
                parts[0].claim, parts[0].reads, places?[parts[0].index]
            ) { [shard = parts[0].shard] turn in try shard.write(batch, in: &turn) }
            guard let appended else { return nil }
            noteAppended(appended, durability)
            return appended.sequence
        }
        if reads.earliestDeadline == .never || places != nil {
            let readCount = reads.keys.count + reads.ranges.count
            switch try commitAtOnce(
                batch, parts, readCount: readCount, durability, places)
            {
            case .committed(let sequence): return sequence
            case .overtaken: return nil
            case .blocked: break
            }
        }
        let token = BatchToken()
        let generation = batch.guardGeneration
        for (index, part) in parts.enumerated() {
            let isReady: Bool
            if configuration.pausesBetweenSteps { await Task.yield() }
            do {
                let shard = part.shard
                let staged = part.staged(token)
                isReady =
                    try await shard.change(
                        part.claim, part.reads, places?[part.index]
                    ) { turn -> Void in
                        try turn.checkGuards(generation)
                        shard.stage(staged, nil, &turn)
                    } != nil
            } catch {
                abort(token, on: parts[..<index])
                throw error
            }
            guard isReady else {
                abort(token, on: parts[..<index])
                return nil
            }
        }
        return try await appendAndSettle(batch, parts, token, durability)
    }

    private func parts(of batch: EncodedBatch, _ reads: TransactionReads) -> [Part] {
        let changes = changesByShard(of: batch)
        let reads = reads.byShard(changes)
        let keys = Claim.Keys.batch(batch)
        return shards.indices.compactMap { index in
            let reads = reads[index]
            if changes[index].isEmpty, batch.clears.isEmpty, reads == nil { return nil }
            return Part(
                shard: shards[index], index: index,
                claim: Claim(
                    keys, changes: changes[index], clears: batch.clears, reads: reads?.claim),
                reads: reads)
        }
    }
}

extension Shard {
    /// Makes a transaction's change once nothing comes before it, if what was read is as it was; `nil`,
    /// with nothing done, where it is not.
    ///
    /// - Parameter place: The transaction's own place, if it has its turn. Then it waits for nobody, and
    ///   `nil` is also where it would have to; and what its places cover is as it was for as long as
    ///   they were not taken from it.
    nonisolated(nonsending) func change<Result: Sendable>(
        _ claim: Claim, _ reads: ShardReads?, _ place: TransactionTurn.Place?,
        _ change: @escaping @Sendable (inout ShardTurn) throws -> Result
    ) async throws -> Result? {
        guard let place else {
            guard let reads else { return try await inTurn(claim, change) }
            let checked: @Sendable (inout ShardTurn) throws -> Result? = { [self] turn in
                try areCurrent(reads) ? try change(&turn) : nil
            }
            if reads.earliestDeadline == .never { return try await inTurn(claim, checked) }
            return try await inOwnPlace(claim, until: reads.earliestDeadline, checked) ?? nil
        }
        return try withTurn { turn in
            foldResolved(&turn)
            if !(place.covers && turn.holdsPlace(place.number)) {
                if isBlocked(claim, own: place.number, turn) { return nil }
                if let reads, try !areCurrent(reads) { return nil }
            }
            return try change(&turn)
        }
    }

    nonisolated func areCurrent(_ reads: ShardReads) throws -> Bool {
        try published.withLock { state in
            guard reads.areCurrent(in: state) else { return false }
            // A key that was changed and cannot be read now is in none of the ranges.
            if MappedRegion.faultCount != 0, !reads.claim.ranges.isEmpty {
                try state.active.regions.checkRead()
            }
            return true
        }
    }
}
