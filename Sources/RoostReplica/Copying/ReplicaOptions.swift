#if Replica
    import Roost

    /// How a workspace is copied.
    public struct ReplicaOptions: Sendable {
        /// How old what is not copied may become: a copy begins after half of it, and moments that can be
        /// restored are a tenth of it apart. A second by default.
        public var interval: Duration
        /// The moments of the last so long can be restored; seven days by default. What is older goes
        /// once a later base makes it unneeded, so the storage holds this much history, and what one
        /// more base and the log after it take.
        public var retention: Duration
        /// How often the writer gives a sign of life where it has nothing to copy; a minute by default.
        /// Followers know by it how old their state can be, and a writer that was overtaken learns so.
        public var signOfLifeInterval: Duration
        /// How many bytes of log are held on disk for a storage that cannot be reached, after the
        /// workspace needs them no more; a gibibyte by default. Of an encrypted workspace they are held in
        /// memory too, where its log is. Beyond it the copy goes on with a new
        /// history, and the moments between cannot be restored.
        public var maximumHeldLogBytes: Int
        /// Bytes of log between two bases, at least; 32 MiB by default.
        public var minimumBytesBetweenBases: Int

        /// Each argument is the property of its name.
        public init(
            interval: Duration = .seconds(1), retention: Duration = .seconds(7 * 86_400),
            signOfLifeInterval: Duration = .seconds(60), maximumHeldLogBytes: Int = 1 << 30,
            minimumBytesBetweenBases: Int = 32 << 20
        ) {
            self.interval = interval
            self.retention = retention
            self.signOfLifeInterval = signOfLifeInterval
            self.maximumHeldLogBytes = maximumHeldLogBytes
            self.minimumBytesBetweenBases = minimumBytesBetweenBases
        }
    }

    /// How a copy stands, at one moment.
    public struct ReplicaStatus: Sendable {
        /// What the copy does.
        public enum State: Sendable {
            /// Has not taken the place over yet.
            case starting
            /// Copies what is committed.
            case copying
            /// Was stopped, or the workspace closed.
            case stopped
            /// Copies nothing more: `.fenced` where another writer has taken over, `.poisoned` where the
            /// workspace is, `.wrongKey` where the key is not the copy's.
            case failed(RoostError)
        }

        /// Whose status it is: a replica's counts begin at zero.
        package let replica = ReplicaIdentity()
        /// What the copy does.
        public var state = State.starting
        /// Every batch up to this one can be restored from the storage; zero before the first.
        public var copiedSequence: UInt64 = 0
        /// The last batch in the log, when the copy last looked.
        public var lastSequence: UInt64 = 0
        /// When the copy last held all that had been committed; `nil` before it first did.
        public var lastCompleteAt: ContinuousClock.Instant?
        /// Why the storage does not take anything now; `nil` where it does.
        public var trouble: RoostError?
        /// Why no base can be written, or nothing be removed, though log may be copied all the same: until there is one,
        /// a first copy cannot be restored, later ones take longer, and what is stored grows. Also that a base in the
        /// storage is damaged or lost. `nil` once a base was written or what is not needed removed.
        public var baseTrouble: RoostError?
        /// Bytes of log that were copied.
        public var logBytesCopied: UInt64 = 0
        /// Bytes that were sent to the storage, attempts that failed included: the journal's, and those of
        /// snapshots and bases.
        public var journalBytesSent: UInt64 = 0
        /// Bytes of snapshots and bases that were sent.
        public var baseBytesSent: UInt64 = 0
        /// How many bases were completed.
        public var baseCount = 0
        /// How many histories this replica has begun: one with the first copy of a workspace, none where it went on
        /// with the storage's, and one more with each loss of log.
        public var historyCount = 0
        /// How often log was lost to the copy, as the storage took nothing for longer than
        /// ``ReplicaOptions/maximumHeldLogBytes`` lasted: the moments in it cannot be restored.
        public var lostLogCount = 0
        /// Whether a base is being written.
        public var isWritingBase = false

        /// How old the copy is at the most; `nil` before it was first complete.
        public var age: Duration? { lastCompleteAt.map { ContinuousClock.now - $0 } }
    }

    /// Tells the statuses of one replica from those of another, which may stand where the first one did in memory.
    package final class ReplicaIdentity: Sendable {}
#endif
