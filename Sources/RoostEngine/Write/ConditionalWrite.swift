import RoostFormat
import RoostLog

extension Engine {
    /// Puts, or with no value removes, one key if its newest record is still the one that
    /// `version` names; returns the sequence number of the change once `durability` holds, or
    /// `nil`, with nothing changed, where the key has moved on.
    package nonisolated(nonsending) func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, if version: RecordVersion,
        durability: Durability?
    ) async throws -> UInt64? {
        if try condition.checkWritable() { try await waitForRoom() }
        if let error = checkSizes(key: key, value: value) { throw error }
        let hash = hash(of: key, in: name)
        let shard = shard(of: hash)
        let durability = durability ?? configuration.durability
        let token = durability == .synced ? BatchToken() : nil
        let appended: LogWriter.Appended?
        if token == nil,
            case .done(let atOnce) = try shard.writeAtOnce(
                value, key: key, name: name, hash: hash, if: version)
        {
            appended = atOnce
        } else {
            appended = try await shard.write(
                value, key: key, name: name, hash: hash, if: version, token: token)
        }
        guard let appended else { return nil }
        noteAppended(appended, token == nil ? durability : .process)
        if let token {
            let change = EncodedBatch.Change(hash: hash, frameOffset: Frame.headerSizeBytes)
            try await settle(
                token, on: [shard], appended: appended, changes: [change], isSynced: true)
        }
        return appended.sequence
    }
}

extension Shard {
    /// A put or removal on a condition; `nil` where the key has moved on. With a `token` the
    /// change is staged.
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?
    ) async throws -> LogWriter.Appended? {
        try await inTurns { turn in
            try write(
                value, key: key, name: name, hash: hash, if: version, token: token, in: &turn)
        }
    }

    /// As `write`, on the caller's thread. `nil` where something may come first.
    nonisolated func writeAtOnce(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion
    ) throws -> ShardTurn.Outcome<LogWriter.Appended?>? {
        if hasEnqueued.load(ordering: .relaxed) { return nil }
        return try turn.withLock { turn in
            if turn.hasStaged { return nil }
            return try write(
                value, key: key, name: name, hash: hash, if: version, token: nil, in: &turn)
        }
    }

    /// The check and the append, with nothing between them. What is staged on the key comes
    /// before this write in the log, so its outcome has to be known, a single put's included.
    @inline(never)
    private nonisolated func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?, in turn: inout ShardTurn
    ) throws -> ShardTurn.Outcome<LogWriter.Appended?> {
        bringUpToDate(&turn)
        let isTouched =
            turn.hasStaged
            && published.withLock { state in
                state.staged.contains { $0.touches(hash: hash, prefix: name.prefix) }
            }
        if isTouched || isBlocked(hash: hash, prefix: name.prefix, turn) {
            return turn.blocked()
        }
        let isCurrent = try name.withRecordKey(key) { recordKey in
            try self.isCurrent(version, recordKey, hash: hash)
        }
        guard isCurrent else { return .done(nil) }
        if let token {
            return .done(
                try stageWrite(value, key: key, name: name, hash: hash, token: token, in: &turn))
        }
        return .done(try write(value, key: key, name: name, hash: hash, in: &turn))
    }
}
