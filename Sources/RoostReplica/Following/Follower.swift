#if Replica
    import Foundation
    import Roost
    import Synchronization

    /// A workspace that is kept as a copy is: for reading, a little later than its writer, and ready to take its
    /// place.
    ///
    /// ```swift
    /// let follower = try await Follower.follow(storage, at: "/var/lib/shop/standby")
    /// let stock = try follower.workspace.dictionary("stock").value(forKey: "apples", as: Int.self)
    /// …
    /// let replica = try await follower.promote()      // the writer is gone: this one writes, and copies
    /// ```
    public final class Follower: Sendable {
        /// How old the state may be, and why it does not get newer.
        public struct Status: Sendable {
            /// The last batch that the workspace has.
            public var lastSequence: UInt64 = 0
            /// When the writer wrote the newest entry that the workspace has, by the writer's clock.
            public var moment: Date?
            /// How old the state may be: the time since then. It stays below the writer's interval for signs
            /// of life, as long as the writer lives, and the clocks agree.
            public var lag: Duration? { moment.map { .seconds(max(-$0.timeIntervalSinceNow, 0)) } }
            /// Why what came since is not there: the storage does not tell it, or the disk has no room for it
            /// (`.outOfSpace`). It is asked again.
            public var trouble: RoostError?
            /// Why nothing more is followed: the copy began a new history, or its retention removed what
            /// would have come next. A new directory has to be followed in. Any other error than `.io` and
            /// `.outOfSpace` ends following too; `.corrupt` of an entry once it was read again for ten seconds.
            public var failure: RoostError?
            /// Whether the workspace was promoted.
            public var isPromoted = false
        }

        /// For reading, until it is promoted: writes throw `.readOnly`.
        public let workspace: Workspace
        private let following: Following
        private let shared: FollowingShared
        private let task: Mutex<Task<Void, Never>>
        private let role = Mutex(Role.following)

        private enum Role {
            case following
            /// A call of `promote` is under way: a second one would apply the same entries in between.
            case promoting
            /// The workspace has batches that the journal may not have: what others copy since must never be
            /// applied to it, and the journal must not go on with it again.
            case promoted
        }

        private init(
            _ workspace: Workspace, _ following: Following, _ shared: FollowingShared
        ) {
            self.workspace = workspace
            self.following = following
            self.shared = shared
            task = Mutex(Task { await following.run() })
        }

        deinit { stopFollowing().cancel() }

        private func stopFollowing() -> Task<Void, Never> {
            let task = task.withLock { $0 }
            task.cancel()
            return task
        }

        /// Follows what is copied to `storage`, in the directory at `path`: one that is not there yet, which
        /// is restored to the newest state first, or one that followed the same history before.
        ///
        /// - Parameters:
        ///   - storage: what the writer copies to.
        ///   - encryption: the key that the copy was sealed with, if it was.
        ///   - path: the directory's path.
        ///   - configuration: as of `Workspace.open`; its `encryption` is that of this workspace's files, which may
        ///     be of another key than the copy.
        ///   - interval: how often the storage is asked for what is new.
        /// - Throws: As `Replica.restore` and `Workspace.open`; `.conflict` where the directory holds
        ///   something else than a state of this copy's history; `.readOnly` where `configuration` has that as its
        ///   `access`: what is copied is written to the directory.
        public static func follow(
            _ storage: any ObjectStorage, encryption: WorkspaceEncryption? = nil,
            at path: String, configuration: Workspace.Configuration = .init(),
            interval: Duration = .seconds(1)
        ) async throws -> Follower {
            let shared = FollowingShared()
            let (following, workspace) = try await Following.begin(
                CopyPlace(storage, encryption), path: path, configuration: configuration,
                interval: interval,
                shared: shared)
            return Follower(workspace, following, shared)
        }

        /// How the workspace stands. Does not suspend.
        public var status: Status {
            var status = shared.status.withLock { $0 }
            if status.trouble == nil, status.failure == nil { status.trouble = shared.silence }
            return status
        }

        /// Takes the writer's place: whoever copied before is overtaken, the workspace has all that was
        /// copied until then, and can be written to; it is copied to the same place from here on.
        ///
        /// What the old writer had committed and not copied is not in it. Where the call throws, the
        /// workspace goes on as it was, following, and for reading; the old writer may be overtaken by then.
        ///
        /// A follower is promoted once. Where its replica was overtaken since (`.fenced`), another writer is there:
        /// close this workspace, and follow that one in a new directory.
        ///
        /// - Throws: `.io` where the storage cannot be had within `limit`; `.conflict` where the copy is of
        ///   another history by now, or its retention removed what would have come next: then nobody is overtaken;
        ///   `.conflict` too, before anything is done, where the follower was promoted already, or another call
        ///   promotes it; `.outOfSpace` where the disk has no room for what was copied, `.poisoned` where it
        ///   fails: then nobody is overtaken either.
        public func promote(
            options: ReplicaOptions = .init(), within limit: Duration = .seconds(60)
        ) async throws -> Replica {
            try beginPromotion()
            await stopFollowing().value
            let journal: Journal
            do {
                // What was followed is on disk then: from here on the writer that had it copied does not bring it back.
                journal = try await following.takeOver(within: limit)
                // Not before: a directory that is written to must not be followed in again.
                try await following.forgetMark()
                try workspace.endMirroring()
            } catch {
                // The first failure is the one to tell.
                do { try await following.putMark() } catch {}
                let following = following
                task.withLock { $0 = Task { await following.run() } }
                role.withLock { $0 = .following }
                throw error
            }
            role.withLock { $0 = .promoted }
            shared.status.withLock { $0.isPromoted = true }
            return Replica(
                of: workspace, to: following.place, options: options,
                takeover: (following.copy, journal))
        }

        private func beginPromotion() throws {
            try role.withLock { role in
                switch role {
                case .following: role = .promoting
                case .promoting:
                    throw RoostError(.conflict, "the follower is being promoted by another call")
                case .promoted:
                    throw RoostError(
                        .conflict,
                        "the follower was promoted already: follow what is copied now in a new directory"
                    )
                }
            }
        }

        /// Ends following and closes the workspace.
        ///
        /// - Throws: as `Workspace.close()`.
        public func close() async throws {
            await stopFollowing().value
            try await workspace.close()
        }
    }

    /// What a follower and its task share.
    final class FollowingShared: Sendable {
        let status = Mutex(Follower.Status())
        /// Since when the storage is asked, while it is.
        let askedAt = Mutex<ContinuousClock.Instant?>(nil)

        private static let silenceLimit = Duration.seconds(10)

        /// Where the storage takes long to answer: an attempt that fails in the end may take longer than that.
        var silence: RoostError? {
            guard let begin = askedAt.withLock({ $0 }) else { return nil }
            let silence = ContinuousClock.now - begin
            guard silence > Self.silenceLimit else { return nil }
            return RoostError(
                .io,
                "the storage has been asked for \(silence.components.seconds) seconds, and has not given what comes next"
            )
        }
    }
#endif
