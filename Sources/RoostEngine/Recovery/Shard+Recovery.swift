import RoostFormat
import RoostIO
import RoostSnapshot

// What an earlier opening left. Called by the opening before anybody else knows the shard, so that
// it need not switch to the actor and back for each of them.
extension Shard {
    nonisolated func restore(_ cold: ColdStorage, clears: [ManifestRecord.Clear]) {
        published.withLock { state in
            state.cold = ColdHold(cold)
            for clear in clears { state.noteClear(clear.prefix, sequence: clear.sequence) }
        }
    }

    /// Takes over the table of replayed operations.
    nonisolated func replay(_ table: LogTable) {
        published.withLock { $0.active = table }
    }

    nonisolated func replayClear(_ prefix: [UInt8], sequence: UInt64) {
        published.withLock { $0.noteClear(prefix, sequence: sequence) }
    }
}
