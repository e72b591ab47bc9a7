#if Observability
    import Metrics
    import Roost
    import Synchronization

    /// The metrics that follow from `WorkspaceStatistics`.
    ///
    /// - `last` has the totals that the counters were told of, in this opening. They never go back, though
    ///   figures that were taken earlier may come later, from another that collects.
    final class StatisticsMetrics: Sendable {
        private typealias Total = WritableKeyPath<WorkspaceStatistics, UInt64> & Sendable
        private typealias Level = @Sendable (WorkspaceStatistics) -> Double

        private let totals: [(Counter, Total)]
        private let levels: [(Meter, Level)]
        private let last = Mutex(WorkspaceStatistics())

        init(_ labels: [(String, String)], _ factory: any MetricsFactory) {
            func reads(_ source: String) -> [(String, String)] { labels + [("source", source)] }
            totals = [
                ("roost_batches_written_total", labels, \.lastSequence),
                ("roost_log_appended_bytes_total", labels, \.logBytesAppended),
                ("roost_snapshot_written_bytes_total", labels, \.snapshotBytesWritten),
                ("roost_syncs_total", labels, \.syncCount),
                ("roost_flushes_total", labels, \.flushCount),
                ("roost_merges_total", labels, \.mergeCount),
                ("roost_reads_total", reads("resident"), \.residentReadCount),
                ("roost_reads_total", reads("log"), \.logReadCount),
                ("roost_reads_total", reads("cold"), \.coldReadCount),
            ].map { label, labels, total in
                (Counter(label: label, dimensions: labels, factory: factory), total)
            }
            let levels: [(String, Level)] = [
                ("roost_snapshot_bytes", { Double($0.snapshotSizeBytes) }),
                ("roost_snapshots", { Double($0.snapshotCount) }),
                ("roost_snapshot_tiers", { Double($0.snapshotTierCount) }),
                ("roost_snapshot_records", { Double($0.snapshotRecordCount) }),
                ("roost_log_backlog_bytes", { Double($0.logBacklogBytes) }),
                ("roost_log_backlog_limit_bytes", { Double($0.logBacklogLimitBytes) }),
                ("roost_log_keys", { Double($0.logKeyCount) }),
                ("roost_log_table_bytes", { Double($0.logTableSizeBytes) }),
                ("roost_write_amplification_ratio", { $0.writeAmplification }),
                ("roost_resident_values", { Double($0.residentCount) }),
                ("roost_resident_bytes", { Double($0.residentSizeBytes) }),
                ("roost_unsynced_batches", { Double(Self.unsyncedCount($0)) }),
                ("roost_unsynced_age_seconds", { $0.oldestUnsyncedWriteAge?.seconds ?? 0 }),
                ("roost_watchers", { Double($0.watcherCount) }),
                ("roost_watcher_lag_events", { Double($0.furthestWatcherEventCount) }),
                ("roost_live_queries", { Double($0.liveQueryCount) }),
                ("roost_read_views", { Double($0.liveReadViewCount) }),
                ("roost_read_view_age_seconds", { $0.oldestReadViewAge?.seconds ?? 0 }),
                ("roost_compaction_failing", { $0.compactionFailure == nil ? 0 : 1 }),
            ]
            self.levels = levels.map { label, level in
                (Meter(label: label, dimensions: labels, factory: factory), level)
            }
        }

        /// The statistics begin anew; batches go on from what was recovered.
        func restart(_ recovery: RecoveryReport) {
            last.withLock { last in
                last = WorkspaceStatistics()
                last.lastSequence = recovery.lastSequence
            }
        }

        func collect(_ figures: WorkspaceStatistics) {
            // What was added is taken under the lock, so that two that collect do not add it twice.
            let added = last.withLock { last in
                var added: [UInt64] = []
                for (_, total) in totals {
                    let told = last[keyPath: total]
                    last[keyPath: total] = max(told, figures[keyPath: total])
                    added.append(last[keyPath: total] - told)
                }
                return added
            }
            for ((counter, _), count) in zip(totals, added) where count > 0 {
                counter.increment(by: count)
            }
            for (meter, level) in levels { meter.set(level(figures)) }
        }

        /// The two are not read at one moment, and a reader hears what the writer has synced before it has read
        /// that itself: what is durable may be more than what there is.
        private static func unsyncedCount(_ figures: WorkspaceStatistics) -> UInt64 {
            figures.lastSequence - min(figures.lastSequence, figures.durableSequence)
        }
    }
#endif
