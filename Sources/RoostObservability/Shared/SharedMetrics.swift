#if Observability
    import Metrics
    import Roost
    import Synchronization

    /// The metrics of a shared workspace, by the names of docs/OBSERVABILITY.md. All have the label `workspace`.
    ///
    /// - `watchCount` is how many watches are open.
    final class SharedMetrics: Sendable {
        let recordsRead: Counter
        let keysWritten: Counter
        let conflicts: Counter
        private let name: String
        private let factory: any MetricsFactory
        private let requests: [SharedRequest: Timer]
        private let watches: Meter
        private let watchBreaks: Counter
        private let watchCount = Mutex(0)

        init(_ name: String, _ factory: any MetricsFactory) {
            self.name = name
            self.factory = factory
            let labels = [("workspace", name)]
            func counter(_ label: String) -> Counter {
                Counter(label: label, dimensions: labels, factory: factory)
            }
            recordsRead = counter("roost_shared_records_read_total")
            keysWritten = counter("roost_shared_keys_written_total")
            conflicts = counter("roost_shared_conflicts_total")
            watchBreaks = counter("roost_shared_watch_breaks_total")
            watches = Meter(label: "roost_shared_watches", dimensions: labels, factory: factory)
            requests = Dictionary(
                uniqueKeysWithValues: SharedRequest.allCases.map { request in
                    let labels = labels + [("request", request.rawValue)]
                    return (
                        request,
                        Timer(
                            label: "roost_shared_request_duration_seconds", dimensions: labels,
                            factory: factory)
                    )
                })
            // A series that begins with its first failure has no increase by it, which the alerts ask for.
            for code in [RoostError.Code.unavailable, .outOfSpace, .unknownOutcome] {
                failures(.commit, code).increment(by: 0)
            }
        }

        func ended(
            _ request: SharedRequest, after duration: Duration, isSlow: Bool, _ error: (any Error)?
        ) {
            requests[request]?.recordNanoseconds(duration.nanoseconds)
            if isSlow {
                counter("roost_shared_slow_requests_total", [("request", request.rawValue)])
                    .increment()
            }
            guard let error else { return }
            failures(request, (error as? RoostError)?.code ?? .io).increment()
        }

        func watchBegan() {
            changeWatchCount(by: 1)
        }

        func watchEnded(_ error: (any Error)?) {
            changeWatchCount(by: -1)
            if error != nil { watchBreaks.increment() }
        }

        /// Set under the mutex, so that the last value is the last count.
        private func changeWatchCount(by difference: Int) {
            watchCount.withLock { count in
                count += difference
                watches.set(Double(count))
            }
        }

        func followed(_ dictionary: String, revision: UInt64, lagSeconds: Double) {
            let labels = [("workspace", name), ("dictionary", dictionary)]
            Meter(label: "roost_shared_follow_lag_seconds", dimensions: labels, factory: factory)
                .set(lagSeconds)
            Meter(label: "roost_shared_follow_revision", dimensions: labels, factory: factory)
                .set(Double(revision))
        }

        private func failures(_ request: SharedRequest, _ code: RoostError.Code) -> Counter {
            counter(
                "roost_shared_failures_total",
                [("request", request.rawValue), ("code", code.description)])
        }

        /// Rare events: made at each, which backends find again by name and labels.
        private func counter(_ label: String, _ labels: [(String, String)]) -> Counter {
            Counter(label: label, dimensions: [("workspace", name)] + labels, factory: factory)
        }
    }
#endif
