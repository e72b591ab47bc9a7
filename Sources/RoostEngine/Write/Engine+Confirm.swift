import RoostFormat
import RoostLog

extension Engine {
    /// How many enqueued writes were given up, for `mayBeEnqueued`. To be asked before the read.
    package var givenUpCount: Int { behind.givenUpCount }

    /// Whether what a read showed of `key` may be an enqueued write that is not in the log yet, or was given up since
    /// `givenUpCount` was as it was before the read: no durability holds for that. To be asked after the read.
    package func mayBeEnqueued(
        _ key: String, in name: DictionaryName, since givenUpCount: Int
    ) -> Bool {
        shard(of: hash(of: key, in: name)).published.withLock { state in
            state.enqueued != nil || behind.givenUpCount != givenUpCount
        }
    }

    /// Returns once `durability` holds for everything that readers saw before the call: what a
    /// write waits for that finds nothing to write.
    package nonisolated(nonsending) func confirm(_ durability: Durability?) async throws {
        _ = try condition.checkWritable()
        guard let log, let syncer, log.durableSequence < log.lastSequence else { return }
        let durability = durability ?? configuration.durability
        switch durability {
        case .process: break
        case .interval(let duration):
            intervals.noteWrite(
                within: duration, isUsual: durability == configuration.durability, totalBytes: 0)
        case .synced: try await sync(syncer, through: log.lastSequence)
        }
    }
}
