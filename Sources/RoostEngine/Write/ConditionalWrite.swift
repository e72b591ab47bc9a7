import RoostFormat
import RoostLog

extension Engine {
    /// Puts, or with no value removes, one key if its newest record is still the one that
    /// `version` names; returns the sequence number of the change once `durability` holds, or
    /// `nil`, with nothing changed, where the key has moved on.
    package func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, if version: RecordVersion,
        durability: Durability?
    ) async throws -> UInt64? {
        if try condition.checkWritable() { try await waitForRoom() }
        if let error = checkSizes(key: key, value: value) { throw error }
        let hash = hash(of: key, in: name)
        let shard = shard(of: hash)
        let durability = durability ?? configuration.durability
        let token = durability == .synced ? BatchToken() : nil
        let appended = try await shard.write(
            value, key: key, name: name, hash: hash, if: version, token: token)
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
    private enum ConditionalWrite {
        case appended(LogWriter.Appended)
        case conflict
        /// The key must wait for a staged batch.
        case blocked
    }

    /// A put or removal on a condition; `nil` where the key has moved on. With a `token` the
    /// change is staged.
    func write(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?
    ) async throws -> LogWriter.Appended? {
        while true {
            let outcome = try writeNow(
                value, key: key, name: name, hash: hash, if: version, token: token)
            switch outcome {
            case .appended(let appended): return appended
            case .conflict: return nil
            case .blocked: await waitForResolution(since: resolutionCount)
            }
        }
    }

    /// The check and the append, with nothing between them. What is staged on the key comes
    /// before this write in the log, so its outcome has to be known, a single put's included.
    @inline(never)
    private func writeNow(
        _ value: EncodedValue?, key: String, name: DictionaryName, hash: UInt64,
        if version: RecordVersion, token: BatchToken?
    ) throws -> ConditionalWrite {
        if hasStaged || hasEnqueued.load(ordering: .relaxed) {
            bringUpToDate()
            let isTouched = published.withLock { state in
                state.staged.contains { $0.touches(hash: hash, prefix: name.prefix) }
            }
            if isTouched { return .blocked }
        }
        let isCurrent = try name.withRecordKey(key) { recordKey in
            try self.isCurrent(version, recordKey, hash: hash)
        }
        guard isCurrent else { return .conflict }
        if let token {
            if isBlocked(hash: hash, prefix: name.prefix) { return .blocked }
            return .appended(
                try stageNow(value, key: key, name: name, hash: hash, token: token))
        }
        if isBlocked(hash: hash, prefix: name.prefix) { return .blocked }
        return .appended(try writeUnblocked(value, key: key, name: name, hash: hash))
    }
}
