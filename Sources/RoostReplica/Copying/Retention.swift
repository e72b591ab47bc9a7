#if Replica
    /// Decides which bases are kept, and what goes. No I/O.
    enum Retention {
        /// A base whose entry stands in the journal.
        struct KeptBase: Sendable {
            /// Of its entry.
            var index: UInt64
            /// Of its record.
            var name: String
            var record: BaseRecord
            /// Whether the journal has reached the batch that it takes to make one moment of it.
            var isComplete: Bool
        }

        /// What a new base may refer to, by digest: the snapshots of those of `bases` whose entries stand at
        /// `index` or after it. That is the newest base when the writer took over, and its own since. No
        /// removal has ever named what the newest base refers to; an older base may be one that an earlier
        /// writer has said to go, and whose objects are deleted some time.
        static func reusable(
            in bases: [KeptBase], from index: UInt64
        ) -> [[UInt8]: BaseRecord.Snapshot] {
            Dictionary(
                bases.lazy.filter { $0.index >= index }.flatMap(\.record.snapshots)
                    .map { ($0.digest, $0) },
                uniquingKeysWith: { first, _ in first })
        }

        /// How many of `bases`, which are ascending, go so that every moment from `time` on can be restored:
        /// all before the newest that is complete and no younger than that.
        static func removedCount(of bases: [KeptBase], keepingFrom time: UInt64) -> Int {
            bases.lastIndex { $0.isComplete && $0.record.time <= time } ?? 0
        }

        /// What goes with all but `kept`: the records of `removed`, of the stored snapshots those that no
        /// kept base has, the entries that none begins with; `nil` where nothing does.
        static func removal(
            of removed: some Collection<KeptBase>, keeping kept: some Collection<KeptBase>,
            storedSnapshots: [String], storedBases: [String]
        ) -> RemovalPayload? {
            guard let first = kept.map(\.record.firstEntry).min() else { return nil }
            let used = Set(kept.flatMap { $0.record.snapshots.map(\.name) })
            let keptNames = Set(kept.map(\.name))
            let names =
                storedSnapshots.filter { !used.contains($0) }
                + storedBases.filter { !keptNames.contains($0) }
            if removed.isEmpty && names.isEmpty { return nil }
            return RemovalPayload(names: names, entriesBefore: first)
        }
    }

    /// The time of the day by which retention removes: a clock that is set forward by mistake makes nothing old.
    ///
    /// - A jump is believed once it has lasted for as long as the retention, by a clock that only goes on: then all of
    ///   before is older than that whatever the time of the day is.
    struct RetentionClock: Sendable {
        /// The last that was believed.
        private var time: UInt64
        /// When it was seen, by a clock that never goes back.
        private var instant: UInt64
        /// When it was first seen that the time has jumped.
        private var jumpedAt: UInt64?

        /// Clocks that are set right go by so much.
        private static let toleranceMilliseconds: UInt64 = 600_000

        /// Everything in milliseconds.
        init(time: UInt64, instant: UInt64) {
            self.time = time
            self.instant = instant
        }

        /// Goes by the time of what was written last where that is earlier: the clock may have been wrong since the process
        /// began, and the time that nobody wrote counts once it is believed as a jump is. To be called before `now`.
        mutating func begin(behind last: UInt64) { time = min(time, last) }

        /// The time to go by, where the clock says `time`.
        mutating func now(
            time: UInt64, instant: UInt64, waiting retention: UInt64
        ) -> UInt64 {
            let expected = self.time + (instant - self.instant)
            let begin = jumpedAt ?? instant
            if time > expected + Self.toleranceMilliseconds, instant - begin < max(retention, 1) {
                jumpedAt = begin
                return expected
            }
            self = RetentionClock(time: time, instant: instant)
            return time
        }
    }
#endif
