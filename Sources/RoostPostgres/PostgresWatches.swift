#if Postgres
    import RoostIO
    import RoostShared

    /// All watchers of one client, over one session that reads the log of changes.
    ///
    /// - Each watcher was told everything up to its `revision`. One round reads from the least of them on.
    /// - One whose revision the server does not have ends: the server has lost commits.
    /// - `isRunning` while rounds are made: as long as there are watchers.
    actor PostgresWatches {
        private struct Watcher {
            let range: SharedKeyRange
            let source: SharedEvents.Source
            var revision: UInt64
            var lastTold = ContinuousClock.now
        }

        /// How many revisions one round reads at most.
        private static let longestRound: UInt64 = 500
        /// With so many bytes of keys and values a round ends, behind the commit with which it has them.
        static let roundBytes = 16 << 20
        /// After a round that took less, the next may read twice as many revisions.
        private static let quickRound = Duration.milliseconds(500)
        /// How often a watcher is told that nothing has changed.
        private static let progressInterval = Duration.seconds(1)

        private let session: PostgresSession
        private let flag = CancellationFlag()
        private var watchers: [Int: Watcher] = [:]
        private var nextID = 1
        private var isRunning = false
        /// How many revisions the next round reads: fewer where so many could not be read in time, as where their values
        /// are large.
        private var roundLimit = longestRound
        private var isClosed = false

        init(_ session: PostgresSession) { self.session = session }

        func add(
            _ range: SharedKeyRange, after revision: UInt64, _ source: SharedEvents.Source
        ) {
            guard !isClosed else {
                return source.end(RoostError(.closed, "the workspace was closed"))
            }
            let id = nextID
            nextID += 1
            source.onEnd { [weak self] in
                Task { await self?.remove(id) }
            }
            // No commit made the first revision, so that who begins before it misses nothing.
            watchers[id] = Watcher(
                range: range, source: source, revision: max(revision, PostgresSchema.firstRevision))
            guard !isRunning else { return }
            isRunning = true
            Task { await run() }
        }

        func close() async {
            isClosed = true
            flag.set()
            endAll(RoostError(.closed, "the workspace was closed"))
            await session.close()
        }

        private func remove(_ id: Int) { watchers[id] = nil }

        private func endAll(_ error: any Error) {
            let all = watchers
            watchers = [:]
            for watcher in all.values { watcher.source.end(error) }
        }

        private func run() async {
            while !watchers.isEmpty {
                do {
                    if try await !readRound() {
                        try await session.waitForNotice(.milliseconds(250), flag)
                    }
                } catch {
                    roundLimit = max(1, roundLimit / 8)
                    endAll(error)
                }
            }
            isRunning = false
        }

        /// Returns whether there may be more at once.
        private func readRound() async throws -> Bool {
            guard let from = watchers.values.map(\.revision).min() else { return false }
            let instant = ContinuousClock.now
            let asked = watchers
            let limit = roundLimit
            let rows = try await session.run(
                PostgresSchema.changes,
                [
                    .number(Int64(Self.roundBytes)), .number(Int64(clamping: from)),
                    .number(Int64(limit)),
                ],
                before: .now + .seconds(5), mayRepeat: true, flag)
            guard !rows.rows.isEmpty, let newest = rows.number(0, 0),
                let trimmed = rows.number(0, 1)
            else { throw RoostError(.unsupportedVersion, "the table roost_revision has no row") }
            var changes: [SharedChange] = []
            for row in rows.rows.indices {
                guard let revision = rows.number(row, 2), let key = rows[row, 3] else { continue }
                changes.append(SharedChange(key: key, value: rows[row, 4], revision: revision))
            }
            for (id, watcher) in asked where watcher.revision > newest {
                watchers.removeValue(forKey: id)?.source.end(
                    RoostError(.unavailable, "the server has lost commits that it told of"))
            }
            let through = Self.end(of: changes, upTo: min(newest, from + limit))
            if .now - instant < Self.quickRound { roundLimit = min(limit * 2, Self.longestRound) }
            // Where there is more, nobody knows how old this is.
            let heard = through < newest ? instant - .seconds(1 << 30) : instant
            for id in watchers.keys {
                tell(id, changes, from: from, through: through, trimmed, instant, heard)
            }
            return through < newest
        }

        /// How far a round has all changes that was to read up to `limit`.
        private static func end(of changes: [SharedChange], upTo limit: UInt64) -> UInt64 {
            let bytes = changes.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
            guard bytes >= roundBytes, let last = changes.last else { return limit }
            return min(limit, last.revision)
        }

        private func tell(
            _ id: Int, _ changes: [SharedChange], from: UInt64, through: UInt64, _ trimmed: UInt64,
            _ instant: ContinuousClock.Instant, _ heard: ContinuousClock.Instant
        ) {
            guard let watcher = watchers[id] else { return }
            if watcher.revision < trimmed {
                watcher.source.tell(.compacted(oldest: trimmed + 1))
                watcher.source.end(nil)
                watchers[id] = nil
                return
            }
            // One that began meanwhile, before or after what was read.
            guard watcher.revision >= from, watcher.revision <= through else { return }
            guard watcher.revision < through || instant - watcher.lastTold >= Self.progressInterval
            else { return }
            let concerned = changes.filter {
                $0.revision > watcher.revision && watcher.range.contains($0.key)
            }
            watchers[id]?.revision = through
            watchers[id]?.lastTold = instant
            watcher.source.tell(.changes(concerned, through: through), at: heard)
        }
    }
#endif
