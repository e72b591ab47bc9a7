import RoostLog

extension Engine {
    /// Returns once `durability` holds for everything that readers saw before the call: what a
    /// write waits for that finds nothing to write.
    package nonisolated(nonsending) func confirm(_ durability: Durability?) async throws {
        _ = try condition.checkWritable()
        guard let log, let syncer, log.durableSequence < log.lastSequence else { return }
        let durability = durability ?? configuration.durability
        switch durability {
        case .process: break
        case .interval(let duration):
            intervals.noteWrite(within: duration, isUsual: durability == configuration.durability)
        case .synced: try await syncer.sync(through: log.lastSequence)
        }
    }
}
