#if Replica
    import Foundation
    import Roost
    import RoostEngine
    import Synchronization

    /// Copies a workspace to a storage off the machine, as long as it lives.
    ///
    /// Batches are in the storage within the options' interval after they were committed, with what it takes
    /// to restore the workspace to any of the last days' moments. Writers never wait for it, unless they
    /// ask (``waitUntilCopied(through:)``). Of two writers that copy to one prefix the older stops, with
    /// `.fenced`: a history is never of both.
    ///
    /// ```swift
    /// let storage = try S3Storage("s3://backups/shop")
    /// let replica = try Replica(of: workspace, to: storage)
    /// …
    /// try await replica.stop()
    /// try await workspace.close()
    /// ```
    public final class Replica: Sendable {
        private let copier: Copier
        private let shared: CopyShared
        private let task: Task<Void, Never>

        /// Begins to copy `workspace`, which is open for writing, and takes the place of whoever copied to
        /// `storage` before. Does not suspend, and does not ask the storage yet: what fails is tried
        /// again, and told by ``status``.
        ///
        /// The first copy of a workspace, and of one whose log does not prove that it goes on where the
        /// storage stands, begins with all of its snapshots.
        ///
        /// With `encryption` the copy is *sealed*: all of its objects open with that key alone. It may be the key that
        /// opens the workspace, or one of the copy's own. A copy is sealed or plain from its begin: ``status`` tells
        /// of `.wrongKey` where it is the other, or of another key, and nothing is written.
        ///
        /// ```swift
        /// let replica = try Replica(of: workspace, to: storage, encryption: .key(key))
        /// ```
        ///
        /// - Throws: `.readOnly` where the workspace is open for reading alone, or follows a copy: then nobody is
        ///   overtaken; `.notPermitted` where the workspace is encrypted and there is no `encryption`: what goes to the
        ///   storage would be plain.
        public convenience init(
            of workspace: Workspace, to storage: any ObjectStorage,
            encryption: WorkspaceEncryption? = nil, options: ReplicaOptions = .init()
        ) throws {
            // Whoever copies to this place would be overtaken for nothing.
            guard workspace.engine.isWritable else {
                throw RoostError(
                    .readOnly,
                    "only what is open for writing can be copied; what follows a copy is, once it is promoted",
                    file: workspace.path)
            }
            guard !workspace.isEncrypted || encryption != nil else {
                throw RoostError(
                    .notPermitted,
                    "the copy of an encrypted workspace is not to be plain: give the key for it, as encryption"
                )
            }
            self.init(
                of: workspace, to: CopyPlace(storage, encryption), options: options, takeover: nil)
        }

        /// `takeover` is a journal that was taken over already, of a workspace that holds all of it.
        init(
            of workspace: Workspace, to place: CopyPlace, options: ReplicaOptions,
            takeover: (copy: OpenedCopy, journal: Journal)?
        ) {
            let shared = CopyShared()
            let copier = Copier(
                engine: workspace.engine, place: place, options: options, shared: shared,
                takeover: takeover)
            self.shared = shared
            self.copier = copier
            task = Task { await copier.run() }
        }

        deinit { task.cancel() }

        /// How the copy stands. Does not suspend.
        public var status: ReplicaStatus { shared.status.withLock { $0 } }

        /// Returns once all that was committed before the call can be restored from the storage. Asks for
        /// it at once, without waiting for the interval.
        ///
        /// - Throws: `.fenced` where another writer has taken over: whether what was committed last is
        ///   in the copy is told by ``status``; what else copying has ended with: `.corrupt`,
        ///   `.unsupportedVersion` or `.wrongKey` where the copy is none to go on with, `.io` where the storage keeps no
        ///   conditional puts or does not list what it took, `.poisoned`;
        ///   `.closed` where copying was stopped before; `.cancelled`.
        public func waitUntilCopied() async throws {
            try await waitUntilCopied(through: copier.engine.lastSequence)
        }

        /// As ``waitUntilCopied()``, for the batches up to `sequence`, as `set` and `write` count them:
        /// an ``Entry``'s version is one.
        public func waitUntilCopied(through sequence: UInt64) async throws {
            try await shared.wait(through: sequence)
        }

        /// Copies what is committed and not copied yet, and ends; gives up after `limit`, and returns a second later at
        /// the latest. To be called before the workspace is closed.
        ///
        /// - Throws: Why not all was copied: `.cancelled` where the storage did not take it in time; what
        ///   copying has ended with before, as ``waitUntilCopied()`` says.
        public func stop(within limit: Duration = .seconds(10)) async throws {
            shared.askToStop()
            let (waiting, end) = AsyncStream.makeStream(of: Never.self)
            let timer = Task { [task] in
                try await Task.sleep(for: limit.asSleep)
                task.cancel()
                // A storage whose call hears nothing of that, as one that waits for a share, is not waited for.
                try await Task.sleep(for: .seconds(1))
                end.finish()
            }
            Task { [task] in
                await task.value
                end.finish()
            }
            // In a task of its own: a stream ends where the caller's task is cancelled.
            await Task { for await _ in waiting {} }.value
            timer.cancel()
            try shared.outcome()
        }

        /// What is copied, for as long as this copies.
        package var copied: Engine { copier.engine }

        /// Returns once nothing more is copied, whether the task is cancelled or not.
        package func waitForEnd() async { await task.value }

        /// Ends without copying what is left, as a crash would.
        func abandon() async {
            task.cancel()
            await task.value
        }
    }
#endif
