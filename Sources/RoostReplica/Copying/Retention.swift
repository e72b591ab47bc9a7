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
#endif
