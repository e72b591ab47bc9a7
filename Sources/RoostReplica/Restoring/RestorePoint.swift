#if Replica
    import Foundation
    import Roost

    /// What a copy is restored to.
    public enum RestorePoint: Sendable, Hashable {
        /// All that was copied. Where a history was begun that has no base yet, it is the last state of the one before, and
        /// ``RestoreReport/isBeyondCopy`` says so.
        case newest
        /// The state after the batch of this sequence number, of the newest history that has it.
        case sequence(UInt64)
        /// The state of this moment, by the writer's clock: with everything that had been committed a tenth
        /// of the copy's interval before, and nothing that was committed after. Of a moment after all that
        /// was copied it is the newest, and ``RestoreReport/isBeyondCopy`` says so.
        case moment(Date)

        var milliseconds: UInt64? {
            guard case .moment(let date) = self else { return nil }
            // A date is a count of seconds since 2001, of which most milliseconds are no exact one: the nearest is
            // meant, as the one before it would leave out what was committed in the moment that was asked for.
            let nearest = (date.timeIntervalSince1970 * 1000).rounded()
            return nearest > 0 ? UInt64(min(nearest, 0x1p53)) : 0
        }

        /// Whether a base may lead to it.
        func mayBegin(with record: BaseRecord) -> Bool {
            switch self {
            case .newest: true
            case .sequence(let sequence): record.completeSequence <= sequence
            case .moment: record.time <= milliseconds!
            }
        }

        /// Whether it may lie in the history that `start` began, or where that is not known.
        func mayBeIn(historyBegunBy start: JournalEntry?) -> Bool {
            guard let start else { return true }
            return switch self {
            case .newest: true
            case .sequence(let sequence): start.standing.lastSequence <= sequence
            case .moment: start.standing.time <= milliseconds!
            }
        }

        /// Up to which batch the entry's batches belong to it, and whether all later ones are beyond it.
        func limit(in payload: FramesPayload) -> (sequence: UInt64, isReached: Bool) {
            switch self {
            case .newest: return (.max, false)
            case .sequence(let sequence): return (sequence, false)
            case .moment:
                let time = milliseconds!
                let later = payload.marks.firstIndex { $0.time > time }
                guard let later else { return (.max, false) }
                return (later == 0 ? 0 : payload.marks[later - 1].sequence, true)
            }
        }
    }

    /// How the files of a restored workspace are written.
    public enum RestoredFiles: Sendable {
        /// Encrypted under the key of a sealed copy; plain where the copy is.
        case asCopy
        /// Readable without a key.
        case plain
        /// As a workspace that is opened with this.
        case encrypted(WorkspaceEncryption)
    }

    /// What a restore has brought.
    public struct RestoreReport: Sendable {
        /// The last batch that the restored workspace holds.
        public var lastSequence: UInt64 = 0
        /// By when that batch was committed, by the writer's clock; `nil` where the workspace holds no more
        /// than the base that it began with.
        public var moment: Date?
        /// Batches that were read from the journal.
        public var batchCount = 0
        /// Snapshots that were read.
        public var snapshotCount = 0
        /// Bytes of snapshots.
        public var snapshotSizeBytes: UInt64 = 0
        /// Whether the moment that was asked for lies after the last that the copy says anything of, or between that of
        /// one history and the begin of the next, which another writer copied: what was committed in between, if
        /// anything was, is not in the restored workspace. Of the newest state: whether the copy has begun a later history,
        /// which cannot be restored before it has a base.
        public var isBeyondCopy = false
        /// Of bases that are damaged or lost, the newest first: none of them was needed, as an older one and the log after
        /// it gave the same state, or a newer one had it. The next base takes the place of a damaged newest one; until
        /// then a restore reads more log.
        public var passedDamages: [RoostError] = []
        /// What checking every checksum of the restored workspace found: no damage.
        public var verification: VerificationReport
    }
#endif
