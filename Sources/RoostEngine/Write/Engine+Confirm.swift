import RoostFormat
import RoostLog

extension Engine {
    /// Whether an enqueued write may stand under `key` that is not in the log yet: what readers see
    /// of it no durability holds for. To be asked after the read.
    package func mayBeEnqueued(_ key: String, in name: DictionaryName) -> Bool {
        shard(of: hash(of: key, in: name)).published.withLock { $0.enqueued != nil }
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
        case .synced: try await syncer.sync(through: log.lastSequence)
        }
    }
}
