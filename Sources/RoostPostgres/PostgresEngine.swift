#if Postgres
    import RoostIO
    import RoostShared

    /// PostgreSQL, or what speaks its protocol, as the engine of a shared workspace.
    ///
    /// A commit is one statement, run `SERIALIZABLE` and again where another was first. All commits go over one
    /// session, so that those of one process do not conflict with each other; reads over some others.
    final class PostgresEngine: SharedEngine {
        /// A key has to fit into an index's page.
        let limits = SharedLimits(
            operationCount: 1000, commitSizeBytes: 8 << 20, keySizeBytes: 2000)
        private let writer: PostgresSession
        private let readers: [PostgresSession]
        private let watches: PostgresWatches
        private let care: Task<Void, Never>

        init(_ address: String, before deadline: ContinuousClock.Instant) async throws {
            try PostgresAddress.check(address)
            let writer = PostgresSession(address, name: "writer", isSerializable: true)
            self.writer = writer
            readers = (0..<4).map {
                PostgresSession(address, name: "reader-\($0)", isSerializable: false)
            }
            watches = PostgresWatches(
                PostgresSession(address, name: "watcher", isSerializable: false))
            // Says what is wrong with the address or the rights, and makes the tables.
            let read = PostgresSchema.read(isDescending: false)
            _ = try await CancellationFlag.with { flag in
                try await writer.run(
                    read, [.bytes([]), .bytes([]), .number(1), .truth(false)], before: deadline,
                    mayRepeat: true, flag)
            }
            let sweeper = PostgresSweeper(address)
            care = Task { await sweeper.run() }
        }

        func read(
            _ read: SharedRead, before deadline: ContinuousClock.Instant
        ) async throws -> SharedPage {
            var parameters: [PostgresParameter] = [
                .bytes(read.range.lower), .bytes(read.range.upper), .number(Int64(read.limit) + 1),
                .truth(!read.isKeysOnly),
            ]
            let statement: PostgresStatement
            if let revision = read.revision {
                parameters.append(.number(Int64(clamping: revision)))
                statement = PostgresSchema.readEarlier(isDescending: read.isDescending)
            } else {
                statement = PostgresSchema.read(isDescending: read.isDescending)
            }
            let reader = reader
            let rows = try await CancellationFlag.with { [parameters] flag in
                try await reader.run(
                    statement, parameters, before: deadline, mayRepeat: true, flag)
            }
            guard !rows.rows.isEmpty, let first = rows.number(0, 0) else {
                throw RoostError(.unsupportedVersion, "the table roost_revision has no row")
            }
            if let revision = read.revision, revision < first {
                throw RoostError(.compacted, "revision \(revision) is older than \(first)")
            }
            var records: [SharedRecord] = []
            for row in rows.rows.indices {
                guard let key = rows[row, 1], let revision = rows.number(row, 3) else { continue }
                records.append(
                    SharedRecord(
                        key: key, value: rows[row, 2] ?? [], revision: revision,
                        expires: rows.truth(row, 4)))
            }
            let hasMore = records.count > read.limit
            return SharedPage(
                records: Array(records.prefix(read.limit)), revision: read.revision ?? first,
                hasMore: hasMore)
        }

        /// The first that nobody waits for, whose thread and process were used last; else that with the fewest calls.
        private var reader: PostgresSession {
            var best = readers[0]
            var fewest = Int.max
            for reader in readers {
                let count = reader.callCount.load(ordering: .relaxed)
                if count == 0 { return reader }
                if count < fewest { (best, fewest) = (reader, count) }
            }
            return best
        }

        func commit(
            _ commit: SharedCommit, before deadline: ContinuousClock.Instant
        ) async throws -> SharedOutcome {
            try await CancellationFlag.with { flag in
                let rows = try await writer.run(
                    PostgresSchema.commit, commit.parameters, before: deadline, mayRepeat: false,
                    flag)
                guard !rows.rows.isEmpty, let revision = rows.number(0, 0) else { return .conflict }
                return .committed(revision: revision)
            }
        }

        func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
            let (events, source) = SharedEvents.make()
            let watches = watches
            Task { await watches.add(range, after: revision, source) }
            return events
        }

        func clockMilliseconds(
            before deadline: ContinuousClock.Instant
        ) async throws -> UInt64? {
            let reader = readers[0]
            let rows = try await CancellationFlag.with { flag in
                try await reader.run(
                    PostgresSchema.clock, [], before: deadline, mayRepeat: true, flag)
            }
            return rows.rows.isEmpty ? nil : rows.number(0, 0)
        }

        func close() async {
            care.cancel()
            await watches.close()
            await writer.close()
            for reader in readers { await reader.close() }
        }

        deinit { care.cancel() }
    }

    extension SharedCommit {
        /// As `PostgresSchema.commit` takes them.
        var parameters: [PostgresParameter] {
            var keyGuards: [(key: [UInt8], revision: UInt64)] = []
            var rangeGuards: [(range: SharedKeyRange, revision: UInt64)] = []
            for condition in guards {
                switch condition {
                case .key(let key, let revision): keyGuards.append((key, revision))
                case .nothingNewer(let range, let revision): rangeGuards.append((range, revision))
                }
            }
            var puts: [(key: [UInt8], value: [UInt8]?, lifetime: Int64?, isTold: Bool)] = []
            var removed: [SharedKeyRange] = []
            for operation in operations {
                switch operation {
                case .put(let key, let value, let duration):
                    puts.append((key, value, duration.map(lifetime), true))
                case .remove(let key): puts.append((key, nil, nil, true))
                case .removeRange(let range): removed.append(range)
                }
            }
            if let mark {
                keyGuards.append((mark.key, mark.revision))
                puts.append((mark.key, mark.value, lifetime(SharedMark.lifetime), false))
            }
            return [
                .bytesArray(keyGuards.map(\.key)),
                .numberArray(keyGuards.map { Int64(clamping: $0.revision) }),
                .bytesArray(rangeGuards.map(\.range.lower)),
                .bytesArray(rangeGuards.map(\.range.upper)),
                .numberArray(rangeGuards.map { Int64(clamping: $0.revision) }),
                .bytesArray(puts.map(\.key)), .bytesArray(puts.map(\.value)),
                .numberArray(puts.map(\.lifetime)), .truthArray(puts.map(\.isTold)),
                .bytesArray(removed.map(\.lower)), .bytesArray(removed.map(\.upper)),
            ]
        }

        private func lifetime(_ duration: Duration) -> Int64 {
            let seconds = min(max(duration.components.seconds, 0), 1 << 40)
            return seconds * 1000 + max(duration.components.attoseconds, 0) / 1_000_000_000_000_000
                + 1
        }
    }
#endif
