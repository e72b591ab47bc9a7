#if Inspector
    import Foundation
    import Roost
    import RoostForms
    import Synchronization

    /// The last verification of every file and checksum, or the one that is under way; one at a time.
    actor HealthCheck {
        private enum State {
            case idle
            case running(since: ContinuousClock.Instant)
            case done(VerificationReport, Date, Duration)
            case failed(String)
        }

        private let workspace: Workspace
        private var state = State.idle
        /// Of the one under way: written on the workspace's thread.
        private let progress = Mutex(VerificationProgress())

        init(_ workspace: Workspace) { self.workspace = workspace }

        /// Begins one unless one is under way.
        func begin() {
            if case .running = state { return }
            let begin = ContinuousClock.now
            state = .running(since: begin)
            progress.withLock { $0 = VerificationProgress() }
            Task {
                do {
                    let report = try await workspace.verify { [weak self] progress in
                        self?.progress.withLock { $0 = progress }
                    }
                    state = .done(report, Date(), ContinuousClock.now - begin)
                } catch {
                    state = .failed("\(error)")
                }
            }
        }

        var json: JSONValue {
            switch state {
            case .idle: return .members(["state": .string("idle")])
            case .failed(let message):
                return .members(["state": .string("failed"), "message": .string(message)])
            case .running(let begin):
                let progress = progress.withLock { $0 }
                return .members([
                    "state": .string("running"),
                    "checkedSizeBytes": .integer(progress.checkedSizeBytes),
                    "totalSizeBytes": .integer(progress.totalSizeBytes),
                    "milliseconds": .integer(milliseconds(ContinuousClock.now - begin)),
                ])
            case .done(let report, let date, let duration): return json(report, date, duration)
            }
        }

        private func json(
            _ report: VerificationReport, _ date: Date, _ duration: Duration
        ) -> JSONValue {
            .members([
                "state": .string("done"), "isSound": .bool(report.isSound),
                "time": .integer(Int64(date.timeIntervalSince1970 * 1000)),
                "milliseconds": .integer(milliseconds(duration)),
                "fileCount": .integer(report.fileCount), "sizeBytes": .integer(report.sizeBytes),
                "recordCount": .integer(report.recordCount),
                "batchCount": .integer(report.batchCount),
                "damages": .array(
                    report.damages.map { damage in
                        .members([
                            "message": .string(damage.message),
                            "file": damage.file.map { .string($0) } ?? .null,
                            "offset": damage.offset.map { .integer($0) } ?? .null,
                        ])
                    }),
            ])
        }

        private func milliseconds(_ duration: Duration) -> Int64 {
            Int64(duration / .milliseconds(1))
        }
    }
#endif
