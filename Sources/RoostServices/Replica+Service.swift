#if Services && Replica
    public import RoostReplica
    public import ServiceLifecycle

    /// A copy off the machine as a service: what is committed until the others are through is copied before the workspace
    /// is closed.
    ///
    /// ```swift
    /// let replica = try Replica(of: workspace, to: storage)
    /// let group = ServiceGroup(
    ///     services: [workspace, replica, jobs, server], gracefulShutdownSignals: [.sigterm], logger: logger)
    /// ```
    ///
    /// List it behind the workspace: a group shuts down the last first. Where the group is cancelled, the workspace is closed
    /// once the rest is copied too.
    extension Replica: Service {
        /// Waits for the shutdown, graceful or not, and then copies the rest, for ten seconds at most.
        ///
        /// - Throws: What copying ends with, at once, so that a group whose copy another machine has taken over ends with
        ///   `.fenced`; why not all was copied, as ``RoostReplica/Replica/stop(within:)`` does.
        public func run() async throws {
            let (ended, end) = AsyncStream.makeStream(of: Never.self)
            let waiting = Task {
                await waitForEnd()
                end.finish()
            }
            try await WorkspaceUses.during(ObjectIdentifier(copied)) {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { for await _ in ended {} }
                    group.addTask {
                        // Thrown where the task is cancelled, which ends the wait as well.
                        do { try await gracefulShutdown() } catch {}
                    }
                    await group.next()
                    group.cancelAll()
                }
                try await stop()
            }
            await waiting.value
        }
    }
#endif
