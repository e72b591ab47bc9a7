#if Services
    public import Roost
    public import RoostShared
    public import ServiceLifecycle

    /// A workspace as a service: it is closed when the others are through.
    ///
    /// ```swift
    /// let group = ServiceGroup(
    ///     services: [workspace, jobs, server], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// try await group.run()
    /// ```
    ///
    /// A group shuts its services down in the order opposite to that in which they are listed, each once the one
    /// before has ended: list the workspace first, and it stays open until the last request is answered and
    /// the last job given back.
    ///
    /// Where the group is cancelled, as at the end of its grace or when a service throws, all services are cancelled at
    /// once. The workspace is closed then when each ``JobWorker`` of one of its queues has returned, so that a job
    /// that is done counts as done, and one that throws is given back. Other services have to reckon with
    /// `.closed`.
    extension Workspace: Service {
        /// Waits for the shutdown, graceful or not; then brings everything to disk and closes.
        ///
        /// - Throws: as ``Roost/Workspace/close()``.
        public func run() async throws {
            do { try await gracefulShutdown() } catch is CancellationError {
                // The rest of the group has failed, or its grace is over. What was written is to be kept all the
                // same, and `close` does not ask whether the task is cancelled. Workers end the jobs that they have:
                // a job that was done would be done again, and the attempt of one that was not would count.
                await WorkspaceUses.waitForEnd(of: self)
            }
            try await close()
        }
    }

    /// A shared workspace as a service, in the same place of a group as one in files: its connections are given back when
    /// the others are through.
    extension SharedWorkspace: Service {
        /// Waits for the shutdown, graceful or not; then closes. What was acknowledged stays.
        public func run() async throws {
            // Workers end the jobs that they have, as those of a workspace in files do.
            do { try await gracefulShutdown() } catch is CancellationError {
                await WorkspaceUses.waitForEnd(of: self)
            }
            await close()
        }
    }
#endif
