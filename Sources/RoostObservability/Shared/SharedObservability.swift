#if Observability
    public import Logging
    public import Metrics
    import Roost
    public import RoostShared
    public import Tracing

    /// Tells swift-log, swift-metrics and swift-distributed-tracing what a shared workspace asks its engine, and what
    /// becomes of that.
    ///
    /// ```swift
    /// let observability = SharedObservability(name: "shop")
    /// let workspace = try await SharedWorkspace.connect(
    ///     to: .etcd(endpoints: […]).observed(by: observability), namespace: "shop")
    /// // At each scrape, or every few seconds:
    /// observability.collect(settings)
    /// ```
    ///
    /// docs/OBSERVABILITY.md has the metrics, the logs' keys and the spans; docs/observability a dashboard
    /// and alert rules for them. A workspace that connects without this pays nothing for it.
    ///
    /// Several connections of one process may have one object.
    public final class SharedObservability: Sendable {
        let logs: SharedLogs?
        let metrics: SharedMetrics
        private let traces: WorkspaceTraces
        private let slowThreshold: Duration

        /// - Parameters:
        ///   - name: What the workspace is called in logs, as the label `workspace` of metrics, and in spans.
        ///   - logger: Where logs go; `nil` for nowhere.
        ///   - metricsFactory: Where metrics go; the one that `MetricsSystem` was bootstrapped with where
        ///     it is `nil`.
        ///   - tracer: Where spans go; the one of the caller's task where it is `nil`.
        ///   - slowThreshold: Requests that take longer are logged and counted as slow.
        public init(
            name: String, logger: Logger? = Logger(label: "roost"),
            metricsFactory: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil,
            slowThreshold: Duration = .milliseconds(500)
        ) {
            logs = logger.map { SharedLogs($0, name: name) }
            metrics = SharedMetrics(name, metricsFactory ?? MetricsSystem.factory)
            traces = WorkspaceTraces(name: name, tracer: tracer)
            self.slowThreshold = slowThreshold
        }

        /// Brings the metrics of a followed dictionary up to date: its revision, and how far it may be behind. Asks nobody.
        public func collect(_ followed: FollowedDictionary) {
            metrics.followed(
                followed.name, revision: followed.revision, lagSeconds: followed.lag.seconds)
        }

        /// One request, with its span, its time, and what it ended with.
        func observe<Result: Sendable>(
            _ request: SharedRequest, _ body: () async throws -> Result
        ) async throws -> Result {
            let span = traces.beginSpan("roost.shared.\(request.rawValue)")
            let begin = ContinuousClock.now
            do {
                let result = try await body()
                ended(request, after: .now - begin, nil)
                span?.end()
                return result
            } catch {
                ended(request, after: .now - begin, error)
                span?.recordError(error)
                span?.setStatus(.init(code: .error))
                span?.end()
                throw error
            }
        }

        private func ended(
            _ request: SharedRequest, after duration: Duration, _ error: (any Error)?
        ) {
            let isSlow = duration >= slowThreshold
            metrics.ended(request, after: duration, isSlow: isSlow, error)
            logs?.ended(request, error)
            // One that has failed says so itself.
            if isSlow, error == nil { logs?.slow(request, duration) }
        }
    }

    /// What an engine is asked.
    enum SharedRequest: String, CaseIterable {
        case connect, read, commit
    }

    extension SharedTarget {
        /// The same engine, whose requests are observed.
        public func observed(by observability: SharedObservability) -> SharedTarget {
            SharedTarget { deadline in
                try await observability.observe(.connect) {
                    ObservedEngine(try await connect(deadline), observability)
                }
            }
        }
    }

    /// An engine that tells what it is asked.
    private final class ObservedEngine: SharedEngine {
        private let engine: any SharedEngine
        private let observability: SharedObservability

        init(_ engine: any SharedEngine, _ observability: SharedObservability) {
            self.engine = engine
            self.observability = observability
        }

        var limits: SharedLimits { engine.limits }

        func read(
            _ read: SharedRead, before deadline: ContinuousClock.Instant
        ) async throws -> SharedPage {
            let page = try await observability.observe(.read) {
                try await engine.read(read, before: deadline)
            }
            observability.metrics.recordsRead.increment(by: page.records.count)
            return page
        }

        func commit(
            _ commit: SharedCommit, before deadline: ContinuousClock.Instant
        ) async throws -> SharedOutcome {
            let outcome = try await observability.observe(.commit) {
                try await engine.commit(commit, before: deadline)
            }
            if outcome == .conflict {
                observability.metrics.conflicts.increment()
            } else {
                observability.metrics.keysWritten.increment(by: commit.operations.count)
            }
            return outcome
        }

        func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
            let events = engine.watch(range, after: revision)
            let observability = observability
            observability.metrics.watchBegan()
            events.onEnd { error in
                observability.metrics.watchEnded(error)
                if let error { observability.logs?.watchBroke(error) }
            }
            return events
        }

        func clockMilliseconds(
            before deadline: ContinuousClock.Instant
        ) async throws -> UInt64? { try await engine.clockMilliseconds(before: deadline) }

        func close() async { await engine.close() }
    }
#endif
