#if Observability
    public import Logging
    public import Metrics
    public import Roost
    public import Tracing

    /// Tells swift-log, swift-metrics and swift-distributed-tracing what happens in a workspace.
    ///
    /// ```swift
    /// let observability = WorkspaceObservability(name: "app")
    /// let workspace = try await Workspace.open(
    ///     at: "/var/lib/app/data", configuration: .init(observer: observability))
    /// // At each scrape, or every few seconds:
    /// observability.collect(workspace.statistics)
    /// ```
    ///
    /// docs/OBSERVABILITY.md has the metrics, the logs' keys and the spans; docs/observability a dashboard
    /// and alert rules for them.
    ///
    /// One object is for one workspace at a time; it may see it closed and opened again.
    public final class WorkspaceObservability: WorkspaceObserver {
        private let logs: WorkspaceLogs?
        private let metrics: WorkspaceMetrics
        private let traces: WorkspaceTraces
        private let slowThreshold: Duration
        #if Replica
            let copies: CopyObservation
        #endif

        /// - Parameters:
        ///   - name: What the workspace is called in logs, as the label `workspace` of metrics, and in spans.
        ///   - logger: Where logs go; `nil` for nowhere.
        ///   - metricsFactory: Where metrics go; the one that `MetricsSystem` was bootstrapped with where
        ///     it is `nil`.
        ///   - tracer: Where spans go; the one of the caller's task where it is `nil`.
        ///   - slowThreshold: Calls that take longer are logged and counted as slow.
        public init(
            name: String, logger: Logger? = Logger(label: "roost"),
            metricsFactory: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil,
            slowThreshold: Duration = .milliseconds(100)
        ) {
            logs = logger.map { WorkspaceLogs($0, name: name) }
            let factory = metricsFactory ?? MetricsSystem.factory
            metrics = WorkspaceMetrics(name, factory)
            #if Replica
                copies = CopyObservation(name, factory, logs)
            #endif
            traces = WorkspaceTraces(name: name, tracer: tracer)
            self.slowThreshold = slowThreshold
        }

        /// Brings the metrics up to date that are no events: sizes, counts, ages. Takes no lock of the
        /// workspace.
        public func collect(_ statistics: WorkspaceStatistics) { metrics.collect(statistics) }

        /// Notes the backups that there are, as `Workspace.backups(inSeries:)` lists them: so the age of the last
        /// backup is known from the opening on, and not from the first backup of this process. Where there is none, the
        /// metrics have no age of a backup.
        public func note(_ backups: [BackupGeneration]) {
            let dates = backups.lazy.filter { $0.problem == nil }.map(\.date)
            if let newest = dates.max() { metrics.noteBackup(of: newest) }
        }

        /// Collects from `workspace` every so often, until the task is cancelled or the workspace closed.
        public func run(_ workspace: Workspace, every interval: Duration = .seconds(10)) async {
            while !Task.isCancelled, !workspace.isClosed {
                collect(workspace.statistics)
                // Throws where the task is cancelled, which the loop sees.
                do { try await Task.sleep(for: interval) } catch { return }
            }
        }

        // MARK: WorkspaceObserver

        public func opened(_ path: String, _ recovery: RecoveryReport, after duration: Duration) {
            logs?.opened(path, recovery, after: duration)
            metrics.opened(recovery, after: duration)
        }

        public func closed(after duration: Duration, _ error: RoostError?) {
            logs?.closed(after: duration, error)
        }

        public func flushed(_ flush: ObservedCompaction) {
            logs?.compacted(flush, "flush", "the log was written to snapshots")
            metrics.flushDuration.recordNanoseconds(flush.duration.nanoseconds)
        }

        public func merged(_ merge: ObservedCompaction) {
            logs?.compacted(merge, "merge", "tiers of snapshots were merged")
            metrics.mergeDuration.recordNanoseconds(merge.duration.nanoseconds)
        }

        public func compactionFailed(_ error: RoostError) {
            logs?.failed(error, "a compaction failed and is tried again")
            metrics.failed(error, .compaction)
        }

        public func synced(batchCount: UInt64, after duration: Duration) {
            metrics.syncDuration.recordNanoseconds(duration.nanoseconds)
            if duration >= slowThreshold { logs?.slowSync(batchCount: batchCount, duration) }
        }

        public func writersBeganToWait(for cause: ObservedOperation.Cause) {
            logs?.writersBeganToWait(for: cause)
        }

        public func writersGoOn(after duration: Duration, _ cause: ObservedOperation.Cause) {
            logs?.writersGoOn(after: duration, cause)
            metrics.writersWaited(duration, cause)
        }

        public func poisoned(_ error: RoostError) {
            logs?.poisoned(error)
            metrics.poisoned.set(1)
            metrics.failed(error, .sync)
        }

        public func writeFailed(_ error: RoostError) {
            logs?.failed(error, "a write failed")
            metrics.failed(error, .write)
        }

        public func backedUp(_ report: BackupReport, after duration: Duration) {
            logs?.backedUp(report, after: duration)
            metrics.backedUp(report, after: duration)
        }

        public func measured(_ operation: ObservedOperation) {
            let isSlow = operation.duration >= slowThreshold
            metrics.measured(operation, isSlow: isSlow)
            if isSlow { logs?.slow(operation) }
        }

        public func began(_ kind: ObservedOperation.Kind) -> (any ObservedSpan)? {
            traces.begin(kind)
        }
    }

    extension Duration {
        var nanoseconds: Int64 {
            let (seconds, attoseconds) = components
            return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        }

        var seconds: Double { self / .seconds(1) }
    }
#endif
