import RoostFormat
import RoostIO
import RoostLog
import Synchronization

/// The shards of a reader that follows a writer, and what watches them. The thread that follows alone
/// changes them, a batch after the other, as a writer's own calls would.
struct FollowedShards: Sendable {
    let shards: [Shard]
    let feed: ChangeFeed
    let publication: Publication
    let hashSeed: HashSeed
    let log: FollowedLog

    // MARK: Batches

    /// Makes the batch of a frame visible, all of it at one moment.
    func apply(_ frame: Frame.View, _ segment: FollowedSegment) throws {
        let appended = LogWriter.Appended(followed: frame, in: segment.region)
        var parsed = FollowedBatch()
        let isWhole = frame.forEachOperation { operation in
            if operation.rawKind == Operation.Kind.clear.rawValue {
                parsed.clears.append(Array(operation.key))
            } else {
                parsed.changes.append(
                    .init(
                        hash: hashSeed.hash(operation.key),
                        frameOffset: Int(operation.location - appended.location)))
            }
        }
        let offset = frame.start - UnsafeRawPointer(segment.region.base)
        // Before anything of it is visible: zeros stand where a page could not be read.
        try segment.region.checkRead(from: offset, count: frame.sizeBytes)
        guard isWhole else {
            throw RoostError(
                .corrupt, "a batch's operations make no sense though its checksum holds",
                file: segment.file.path, offset: UInt64(offset))
        }
        if parsed.changes.count == 1, parsed.clears.isEmpty {
            try applySingle(appended, hash: parsed.changes[0].hash)
        } else {
            try applyStaged(appended, parsed)
        }
    }

    private func applySingle(_ appended: LogWriter.Appended, hash: UInt64) throws {
        let shard = shards[shardIndex(of: hash, shardCount: shards.count)]
        let key = Operation(location: appended.location + UInt(Frame.headerSizeBytes)).key
        _ = try shard.withTurn { turn in
            try shard.commit(key, hash: hash, in: &turn) {
                log.note(appended.sequence)
                return appended
            }
        }
    }

    /// Staged on each shard first; then one store makes it visible on all of them.
    private func applyStaged(_ appended: LogWriter.Appended, _ batch: FollowedBatch) throws {
        let token = BatchToken()
        token.noteAppended(sequence: appended.sequence, frameLocation: appended.location)
        _ = try feed.stage {
            log.note(appended.sequence)
            return appended
        }
        let parts = batch.parts(shardCount: shards.count)
        for (index, claim) in parts {
            shards[index].withTurn { turn in
                shards[index].stage(StagedBatch(token: token, claim: claim), appended, &turn)
            }
        }
        let wakes = publication.withLock {
            feed.publishStaged(appended.sequence) { isWatched in
                token.commit()
                return isWatched
                    ? Commit(appended, changes: batch.changes, clears: batch.clears) : nil
            }
        }
        wakes()
        for (index, _) in parts { shards[index].foldResolved() }
    }

    // MARK: Cold storage

    /// Gives readers another cold storage, and tables of what it does not hold; what both show together
    /// is what was shown before. Returns what they have replaced.
    ///
    /// Tables and clears go to all shards at one moment: a view takes its clears from the first of them, and those that go
    /// with the new tables may not have what the old ones are still to be read with.
    func install(_ cold: ColdStorage, _ tables: FollowedTables?) -> [Shard.FollowedDrop] {
        guard let tables else { return shards.map { $0.takeOver(cold) } }
        let order = KeyOrder()
        forgetHeldRegions()
        return publication.withLock {
            var dropped: [Shard.FollowedDrop] = []
            replace(from: 0, cold, tables, order, keepsResidents: true, &dropped)
            return dropped
        }
    }

    /// Nobody else changes the shards, and who takes a turn for a view holds `publication` before: so the tables can be
    /// replaced without the turns.
    private func forgetHeldRegions() {
        for shard in shards { shard.turn.withLock { $0.heldRegion = nil } }
    }

    /// Shows a later moment, of which the batches in between are not known.
    func skip(to sequence: UInt64, _ cold: ColdStorage, _ tables: FollowedTables)
        -> [Shard.FollowedDrop]
    {
        let missed = Int(clamping: sequence - min(sequence, log.lastSequence))
        let order = KeyOrder()
        forgetHeldRegions()
        let (dropped, wakes) = publication.withLock {
            feed.skip(missed) {
                var dropped: [Shard.FollowedDrop] = []
                replace(from: 0, cold, tables, order, keepsResidents: false, &dropped)
                log.note(sequence)
                return dropped
            } current: { key, hash in
                shards[shardIndex(of: hash, shardCount: shards.count)].published.withLock {
                    $0.initialRecord(of: key, hash: hash)
                }
            }
        }
        wakes()
        return dropped
    }

    /// Takes one mutex within the other, so that nobody sees some shards at one moment and some at
    /// another.
    private func replace(
        from index: Int, _ cold: ColdStorage, _ tables: FollowedTables, _ order: KeyOrder,
        keepsResidents: Bool, _ dropped: inout [Shard.FollowedDrop]
    ) {
        guard index < shards.count else { return }
        shards[index].published.withLock { state in
            replace(
                from: index + 1, cold, tables, order, keepsResidents: keepsResidents, &dropped)
            dropped.append(
                state.takeOver(cold, (tables.tables[index], tables.clears, order)))
            if !keepsResidents { state.residents.removeAll() }
        }
    }
}

/// The tables of all shards, and when dictionaries were emptied.
struct FollowedTables: Sendable {
    var tables: [LogTable]
    var clears: [[UInt8]: UInt64]
}

/// What a frame changes.
private struct FollowedBatch {
    var changes: [EncodedBatch.Change] = []
    var clears: [[UInt8]] = []

    /// By shard; a clear is for all of them.
    func parts(shardCount: Int) -> [(index: Int, claim: Claim)] {
        var byShard = Array(repeating: [EncodedBatch.Change](), count: shardCount)
        for change in changes {
            byShard[shardIndex(of: change.hash, shardCount: shardCount)].append(change)
        }
        return byShard.indices.compactMap { index in
            if byShard[index].isEmpty && clears.isEmpty { return nil }
            // Nobody writes beside: nothing is compared with the claim's keys.
            var claim = Claim(
                hashes: EmptyCollection(), keys: [], dictionaries: [], clears: clears, reads: nil,
                isEverything: false)
            claim.changes = byShard[index]
            return (index, claim)
        }
    }
}

extension Shard {
    /// As `Dropped`, of a reader that follows.
    struct FollowedDrop: Sendable {
        var cold: ColdHold
        var table: LogTable?
        var viewPart: ViewPart?
    }

    nonisolated func takeOver(_ cold: ColdStorage) -> FollowedDrop {
        turn.withLock { _ in published.withLock { $0.takeOver(cold, nil) } }
    }
}

extension ShardState {
    /// Another cold storage, and with `tables` another table above it.
    mutating func takeOver(
        _ cold: ColdStorage,
        _ tables: (table: LogTable, clears: [[UInt8]: UInt64], order: KeyOrder)?
    ) -> Shard.FollowedDrop {
        var dropped = Shard.FollowedDrop(cold: self.cold, viewPart: viewPart)
        viewPart = nil
        self.cold = ColdHold(cold)
        epoch += 1
        if let tables {
            layers.endTable(active)
            dropped.table = active
            active = tables.table
            active.takeOrder(tables.order)
            clears = [:]
            for (prefix, sequence) in tables.clears { noteClear(prefix, sequence: sequence) }
        }
        return dropped
    }
}
