#if Replica
    import RoostEngine
    import RoostIO
    import Synchronization

    /// Which batch was the last one when, noted beside whatever the copier waits for: the copier's own
    /// thread reads, hashes and encodes for as long as that takes, and a moment must not depend on it.
    ///
    /// - Commits ascend by sequence and by instant. Each was made before its time was read.
    final class ObservedCommits: Sendable {
        struct Commit: Sendable {
            var sequence: UInt64
            /// Of the day, in milliseconds since 1970.
            var time: UInt64
            /// In milliseconds of a clock that never goes back.
            var instant: UInt64
        }

        private struct Seen {
            var commits: [Commit] = []
            var lastSequence: UInt64 = 0
        }

        private let seen = Mutex(Seen())

        func look(at engine: Engine) {
            seen.withLock { seen in
                let sequence = engine.lastSequence
                guard sequence > seen.lastSequence else { return }
                seen.lastSequence = sequence
                seen.commits.append(
                    Commit(sequence: sequence, time: WallTime.milliseconds, instant: Copier.now))
                CopySchedule.thin(&seen.commits)
            }
        }

        /// Until its task is cancelled.
        func observe(_ engine: Engine, everyMilliseconds tick: UInt64) async {
            while !Task.isCancelled {
                look(at: engine)
                do { try await Task.sleep(for: .milliseconds(Int64(tick))) } catch { return }
            }
        }

        /// What was seen since the last call.
        func take() -> [Commit] {
            seen.withLock { seen in
                defer { seen.commits = [] }
                return seen.commits
            }
        }
    }
#endif
