#if Observability
    import Foundation
    import Metrics
    import Roost
    import Synchronization

    /// The metrics of a workspace, by the names of docs/OBSERVABILITY.md. All have the label `workspace`.
    ///
    /// - What happens often is not told one by one: the statistics count it, and `collect` adds what has
    ///   been added since the last time. Statistics begin anew with each opening.
    final class WorkspaceMetrics: Sendable {
        private let name: String
        private let factory: any MetricsFactory
        let syncDuration: Timer
        let flushDuration: Timer
        let mergeDuration: Timer
        let poisoned: Meter
        private let backupDuration: Timer
        private let backupCopiedBytes: Counter
        private let recoveryDuration: Meter
        private let recoveredBatches: Meter
        private let operations: [ObservedOperation.Kind: Timer]
        private let statistics: StatisticsMetrics
        private let lastBackup = Mutex<LastBackup?>(nil)

        private struct LastBackup {
            var instant: ContinuousClock.Instant
            /// Made with the first backup: who has none shows no age of one, as a meter of nothing says zero.
            let age: Meter
        }

        /// The steps whose failures are counted.
        enum Step: String, CaseIterable {
            case compaction, sync, write
        }

        init(_ name: String, _ factory: any MetricsFactory) {
            self.name = name
            self.factory = factory
            let labels = [("workspace", name)]
            func timer(_ label: String, _ more: [(String, String)] = []) -> Timer {
                Timer(label: label, dimensions: labels + more, factory: factory)
            }
            syncDuration = timer("roost_sync_duration_seconds")
            flushDuration = timer("roost_flush_duration_seconds")
            mergeDuration = timer("roost_merge_duration_seconds")
            backupDuration = timer("roost_backup_duration_seconds")
            backupCopiedBytes = Counter(
                label: "roost_backup_copied_bytes_total", dimensions: labels, factory: factory)
            poisoned = Meter(label: "roost_poisoned", dimensions: labels, factory: factory)
            recoveryDuration = Meter(
                label: "roost_recovery_duration_seconds", dimensions: labels, factory: factory)
            recoveredBatches = Meter(
                label: "roost_recovery_replayed_batches", dimensions: labels, factory: factory)
            operations = Dictionary(
                uniqueKeysWithValues: ObservedOperation.Kind.allCases.map { kind in
                    (
                        kind,
                        timer("roost_operation_duration_seconds", [("operation", kind.rawValue)])
                    )
                })
            statistics = StatisticsMetrics(labels, factory)
        }

        func opened(_ recovery: RecoveryReport, after duration: Duration) {
            statistics.restart(recovery)
            poisoned.set(0)
            recoveryDuration.set(duration.seconds)
            recoveredBatches.set(Double(recovery.replayedBatchCount))
            // A series that begins with its first failure has no increase by it, which the alert of a full disk asks for.
            for step in Step.allCases { failures(.outOfSpace, step).increment(by: 0) }
        }

        func measured(_ operation: ObservedOperation, isSlow: Bool) {
            operations[operation.kind]?.recordNanoseconds(operation.duration.nanoseconds)
            guard isSlow else { return }
            counter(
                "roost_slow_operations_total",
                [
                    ("operation", operation.kind.rawValue),
                    ("cause", operation.cause?.rawValue ?? "unknown"),
                ]
            ).increment()
        }

        func writersWaited(_ duration: Duration, _ cause: ObservedOperation.Cause) {
            Timer(
                label: "roost_write_wait_duration_seconds",
                dimensions: [("workspace", name), ("cause", cause.rawValue)], factory: factory
            ).recordNanoseconds(duration.nanoseconds)
        }

        func failed(_ error: RoostError, _ step: Step) { failures(error.code, step).increment() }

        private func failures(_ code: RoostError.Code, _ step: Step) -> Counter {
            counter(
                "roost_failures_total", [("step", step.rawValue), ("code", code.description)])
        }

        func backedUp(_ report: BackupReport, after duration: Duration) {
            noteBackup(at: .now)
            backupDuration.recordNanoseconds(duration.nanoseconds)
            backupCopiedBytes.increment(by: report.copiedBytes)
        }

        /// One of another process, or of before.
        func noteBackup(of date: Date) {
            noteBackup(at: ContinuousClock.now - .seconds(max(0, -date.timeIntervalSinceNow)))
        }

        private func noteBackup(at instant: ContinuousClock.Instant) {
            lastBackup.withLock { last in
                let age =
                    last?.age
                    ?? Meter(
                        label: "roost_backup_age_seconds", dimensions: [("workspace", name)],
                        factory: factory)
                last = LastBackup(instant: max(last?.instant ?? instant, instant), age: age)
            }
            collectBackup()
        }

        private func collectBackup() {
            lastBackup.withLock { last in
                if let last { last.age.set((ContinuousClock.now - last.instant).seconds) }
            }
        }

        func collect(_ figures: WorkspaceStatistics) {
            statistics.collect(figures)
            collectBackup()
        }

        /// Rare events: made at each, which backends find again by name and labels.
        private func counter(_ label: String, _ labels: [(String, String)]) -> Counter {
            Counter(label: label, dimensions: [("workspace", name)] + labels, factory: factory)
        }
    }
#endif
