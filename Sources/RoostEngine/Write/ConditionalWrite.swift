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
        do {
            if token == nil,
                let atOnce = try shard.writeAtOnce(
                    value, key: key, name: name, hash: hash, if: version)
            {
                appended = atOnce
            } else {
                appended = try await shard.write(
                    value, key: key, name: name, hash: hash, if: version, token: token)
            }
        } catch is GuardedWrite {
            return try await writeGuarded(
                value, key: key, name: name, if: version, durability: durability)
        }
        guard let appended else { return nil }
        noteAppended(appended, token == nil ? durability : .process)
        if let token {
            let change = EncodedBatch.Change(hash: hash, frameOffset: Frame.headerSizeBytes)
            try await settle(
                token, on: [shard], appended: appended, changes: [change], isSynced: true)
        }
        await giveTurn(behind: appended.sequence)
        return appended.sequence
    }
}

extension Shard {
    /// A put or removal on a condition; `nil` where the key has moved on. With a `token` the
    /// change is staged. What comes first on the key comes before this write in the log, so its outcome
    /// has to be known, a single put's included.
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?
    ) async throws -> LogWriter.Appended? {
        let claim = claim(key, name, hash: hash, rests: true)
        let change: @Sendable (inout ShardTurn) throws -> LogWriter.Appended? = { [self] turn in
            try write(
                value, key: key, name: name, hash: hash, if: version, token: token, in: &turn)
        }
        if version.deadline == .never { return try await inTurn(claim, change) }
        return try await inOwnPlace(claim, until: version.deadline, change) ?? nil
    }

    /// As `write`, on the caller's thread. `nil` where something comes first.
    nonisolated func writeAtOnce(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion
    ) throws -> LogWriter.Appended?? {
        // What has expired since is gone. Asked without the turn, as the clock may be anybody's code.
        guard clock.isLive(version.deadline) else { return .some(nil) }
        return try withTurn { turn -> LogWriter.Appended?? in
            if turn.isContended {
                foldResolved(&turn)
                let isBlocked = name.withRecordKey(key) { recordKey -> Bool in
                    self.isBlocked(recordKey, hash: hash, rests: true, turn)
                }
                if isBlocked { return nil }
            }
            return .some(
                try write(
                    value, key: key, name: name, hash: hash, if: version, token: nil, in: &turn))
        }
    }

    /// The check and the append, with nothing between them.
    @inline(never)
    private nonisolated func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?, in turn: inout ShardTurn
    ) throws -> LogWriter.Appended? {
        let isCurrent = try name.withRecordKey(key) { recordKey in
            try self.isCurrent(version, recordKey, hash: hash)
        }
        guard isCurrent else { return nil }
        try name.withRecordKey(key) { try turn.checkUnguarded($0) }
        if let token {
            return try stageWrite(
                value, key: key, name: name, hash: hash, token: token, in: &turn)
        }
        return try write(value, key: key, name: name, hash: hash, in: &turn)
    }
}
