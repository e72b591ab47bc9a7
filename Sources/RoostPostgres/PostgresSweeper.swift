#if Postgres
    import RoostIO
    import RoostShared

    /// Removes what has expired, and forgets old changes. Every process does; that they meet is no harm.
    actor PostgresSweeper {
        /// How long changes are kept for those who watch, and for scans that take long.
        private static let keptMilliseconds: Int64 = 600_000

        private let address: String
        private let session: PostgresSession
        private let flag = CancellationFlag()

        init(_ address: String) {
            self.address = address
            session = PostgresSession(address, name: "sweeper", isSerializable: true)
        }

        func run() async {
            var round = 0
            while !Task.isCancelled {
                do {
                    try await Task.sleep(for: .seconds(Double.random(in: 0.7...1.3)))
                    while try await removeExpired(), !Task.isCancelled {}
                    round += 1
                    if round % 60 == 0 { try await trim(keeping: Self.keptMilliseconds) }
                } catch {
                    // What could not be done now is done in a later round; who reads does not see what has expired.
                    continue
                }
            }
            await session.close()
        }

        func close() async { await session.close() }

        /// Returns whether there is more to remove at once.
        func removeExpired() async throws -> Bool {
            let rows = try await session.run(
                PostgresSchema.expired, [], before: .now + .seconds(10), mayRepeat: true, flag)
            var commit = SharedCommit()
            for row in rows.rows.indices {
                guard let key = rows[row, 0], let revision = rows.number(row, 1) else { continue }
                commit.guards.append(.key(key, revision: revision))
                commit.operations.append(.remove(key: key))
            }
            guard !commit.operations.isEmpty else { return false }
            let made = try await session.run(
                PostgresSchema.commit, commit.parameters, before: .now + .seconds(10),
                mayRepeat: true, flag)
            // Where another was first, that one goes on.
            return commit.operations.count >= PostgresSchema.expiredCount && !made.rows.isEmpty
        }

        /// Forgets the changes that are older.
        ///
        /// Over a session of its own, without `SERIALIZABLE`: there, what reads all old changes conflicts with every commit
        /// that adds one, and no commit can be made while its row of `roost_revision` waits for the end. Each statement is a
        /// transaction, and only the first, short one holds that row. Decision 220.
        func trim(keeping milliseconds: Int64) async throws {
            let session = PostgresSession(address, name: "trimmer", isSerializable: false)
            do {
                try await trim(keeping: milliseconds, session)
                try await forget(session)
            } catch {
                await session.close()
                throw error
            }
            await session.close()
        }

        private func trim(keeping milliseconds: Int64, _ session: PostgresSession) async throws {
            while try await !session.run(
                PostgresSchema.trim, [.number(milliseconds)], before: .now + .seconds(30),
                mayRepeat: true, flag
            ).rows.isEmpty {}
        }

        private func forget(_ session: PostgresSession) async throws {
            var count: Int64 = 1000
            while !Task.isCancelled {
                do {
                    let gone = try await session.run(
                        PostgresSchema.forget, [.number(count)], before: .now + .seconds(5),
                        mayRepeat: true, flag)
                    if gone.number(0, 0) ?? 0 == 0 { return }
                } catch let error as RoostError where error.code == .unavailable && count > 1 {
                    // So many take too long where their values are large.
                    count /= 10
                }
            }
        }
    }
#endif
