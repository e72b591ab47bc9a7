#if Observability && Replica
    import Logging
    import Metrics
    import Roost
    public import RoostReplica
    import Synchronization

    /// The metrics of a copy, and the log lines of what has changed in it since the last look.
    ///
    /// - What was seen is that of one replica: with the first status of another, as after the workspace was opened
    ///   again, it begins anew. Only the meters stay, of which the counters go on.
    final class CopyObservation: Sendable {
        private struct Meters {
            let age: Meter
            let failing: Meter
            let basesFailing: Meter
            let fenced: Meter
            let histories: Meter
            let logLosses: Counter
            let sentBytes: Counter
        }

        private struct Seen {
            /// Kept, so that no other object can have its place in memory.
            let replica: ReplicaIdentity
            let meters: Meters
            /// When it was first looked, from which on a copy that is not complete yet has its age.
            var begin = ContinuousClock.now
            var isFailing = false
            var areBasesFailing = false
            var hasEnded = false
            var lostLogCount = 0
            var sentBytes: UInt64 = 0
        }

        private let name: String
        private let factory: any MetricsFactory
        private let logs: WorkspaceLogs?
        /// There is none before the first copy: who has no copy shows no meters of one.
        private let lastSeen = Mutex<Seen?>(nil)

        init(_ name: String, _ factory: any MetricsFactory, _ logs: WorkspaceLogs?) {
            self.name = name
            self.factory = factory
            self.logs = logs
        }

        private func makeMeters() -> Meters {
            func meter(_ label: String) -> Meter {
                Meter(label: label, dimensions: [("workspace", name)], factory: factory)
            }
            func counter(_ label: String) -> Counter {
                Counter(label: label, dimensions: [("workspace", name)], factory: factory)
            }
            return Meters(
                age: meter("roost_copy_age_seconds"), failing: meter("roost_copy_failing"),
                basesFailing: meter("roost_copy_bases_failing"), fenced: meter("roost_copy_fenced"),
                histories: meter("roost_copy_histories"),
                logLosses: counter("roost_copy_log_losses_total"),
                sentBytes: counter("roost_copy_sent_bytes_total"))
        }

        func collect(_ status: ReplicaStatus) {
            lastSeen.withLock { lastSeen in
                let meters = lastSeen?.meters ?? makeMeters()
                var seen =
                    if let lastSeen, lastSeen.replica === status.replica {
                        lastSeen
                    } else {
                        Seen(replica: status.replica, meters: meters)
                    }
                meters.age.set((status.age ?? ContinuousClock.now - seen.begin).seconds)
                meters.failing.set(status.trouble == nil ? 0 : 1)
                meters.basesFailing.set(status.baseTrouble == nil ? 0 : 1)
                meters.fenced.set(status.failure?.code == .fenced ? 1 : 0)
                meters.histories.set(Double(status.historyCount))
                // Of several collectors one may bring an older status than another did before.
                let sent = max(seen.sentBytes, status.journalBytesSent + status.baseBytesSent)
                meters.sentBytes.increment(by: sent - seen.sentBytes)
                seen.sentBytes = sent
                // Also none, so that the series is there before the first loss, which is an increase then.
                let lost = max(seen.lostLogCount, status.lostLogCount)
                meters.logLosses.increment(by: lost - seen.lostLogCount)
                log(status, &seen)
                lastSeen = seen
            }
        }

        private func log(_ status: ReplicaStatus, _ seen: inout Seen) {
            let isFailing = status.trouble != nil
            if isFailing != seen.isFailing { logs?.copyFails(status.trouble) }
            seen.isFailing = isFailing
            let areBasesFailing = status.baseTrouble != nil
            if areBasesFailing != seen.areBasesFailing { logs?.copyBasesFail(status.baseTrouble) }
            seen.areBasesFailing = areBasesFailing
            if status.lostLogCount > seen.lostLogCount {
                logs?.copyLostLog(
                    lossCount: status.lostLogCount, historyCount: status.historyCount)
                seen.lostLogCount = status.lostLogCount
            }
            if let failure = status.failure, !seen.hasEnded {
                logs?.copyEnded(failure)
                seen.hasEnded = true
            }
        }
    }

    extension ReplicaStatus {
        fileprivate var failure: RoostError? {
            if case .failed(let failure) = state { failure } else { nil }
        }
    }

    extension WorkspaceObservability {
        /// Brings the metrics of the workspace's copy up to date, and logs what has changed since the last call:
        /// that the storage takes nothing, or again, that log was lost to the copy, that another writer has
        /// taken over. To be called beside `collect` of the statistics, with ``RoostReplica/Replica/status``.
        public func collect(_ status: ReplicaStatus) { copies.collect(status) }
    }
#endif
