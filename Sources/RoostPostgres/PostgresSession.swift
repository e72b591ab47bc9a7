#if Postgres
    import CPostgreSQL
    import Foundation
    import RoostIO
    import RoostShared

    /// One connection to the server, on a thread of its own: libpq's calls block.
    ///
    /// - `connection` is `nil` where there is none, or it has failed; the next call connects anew.
    /// - `prepared` has the statements that this connection knows by name.
    /// - `server` is the one of `servers` that is connected to, or will be next.
    /// - Calls come one after another, in the order in which they were made.
    actor PostgresSession {
        private let address: String
        private let servers: [[String: String]]
        private var server = 0
        private let isSerializable: Bool
        private let thread: WorkerThread
        private var connection: OpaquePointer?
        private var prepared: Set<String> = []
        private var isListening = false
        /// Set while a call may be under way, which then ends.
        private nonisolated let closing = CancellationFlag()

        nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

        init(_ address: String, name: String, isSerializable: Bool) {
            self.address = address
            servers = PostgresAddress.servers(of: address)
            self.isSerializable = isSerializable
            thread = WorkerThread(name: "roost-postgres-\(name)")
        }

        isolated deinit { disconnect() }

        nonisolated func close() async {
            closing.set()
            await disconnect()
        }

        private func checkOpen() throws {
            if closing.isSet { throw RoostError(.closed, "the workspace was closed") }
        }

        /// What `run` does once it is the call's turn.
        func runNow(
            _ statement: PostgresStatement, _ parameters: [PostgresParameter],
            before deadline: ContinuousClock.Instant, mayRepeat: Bool, _ flag: CancellationFlag
        ) throws -> PostgresRows {
            var backoff = Backoff(first: .milliseconds(2), limit: .milliseconds(500))
            // Of each server the last, as another's may say more of why.
            var messages: [Int: String] = [:]
            while true {
                try checkOpen()
                try flag.check()
                guard ContinuousClock.now < deadline else {
                    let reasons = messages.sorted { $0.key < $1.key }.map(\.value)
                    throw RoostError(
                        .unavailable,
                        "PostgreSQL could not be asked in time: \(reasons.isEmpty ? "calls before it took all the time" : reasons.joined(separator: "; "))"
                    )
                }
                let failure: PostgresFailure
                let asked = server
                do {
                    // One attempt is not to take all the time: another server may have taken over.
                    try connect(before: min(deadline, .now + Self.attemptLimit), flag)
                    return try execute(
                        statement, parameters, before: min(deadline, .now + Self.attemptLimit), flag
                    )
                } catch let error as PostgresFailure { failure = error }
                if flag.isSet || closing.isSet {
                    disconnect()
                    if failure.isUnknown && !mayRepeat { throw unknown(failure) }
                    try checkOpen()
                    try flag.check()
                }
                if failure.isMissingTable { try createTables(before: deadline, flag) }
                if let refusal = failure.refusal { throw refusal }
                if !failure.isConflict, !failure.isMissingTable {
                    disconnect()
                    server = (server + 1) % servers.count
                }
                if failure.isUnknown && !mayRepeat { throw unknown(failure) }
                if let state = failure.state, !failure.isConflict, !failure.isElsewhere,
                    !failure.isUnknown, !failure.isMissingTable
                {
                    throw RoostError(
                        .io, "PostgreSQL refused a statement (\(state)): \(failure.message)")
                }
                messages[asked] = failure.message
                let pause = max(.zero, min(backoff.next(), deadline - .now))
                usleep(UInt32(clamping: pause.components.attoseconds / 1_000_000_000_000))
            }
        }

        private static var attemptLimit: Duration { .seconds(3) }

        private func unknown(_ failure: PostgresFailure) -> RoostError {
            RoostError(.unknownOutcome, "the answer was lost: \(failure.message)")
        }

        // MARK: The connection

        private func connect(before deadline: ContinuousClock.Instant, _ flag: CancellationFlag)
            throws
        {
            if let connection, PQstatus(connection) == CONNECTION_OK { return }
            disconnect()
            guard let started = PostgresConnecting.start(address, servers[server]) else {
                throw PostgresFailure(
                    state: nil, message: "no memory for a connection", wasSent: false)
            }
            connection = started
            do { try prepare(started, before: deadline, flag) } catch {
                // Nobody is to find a connection that was not made ready.
                disconnect()
                guard let failure = error as? PostgresFailure else { throw error }
                // What the connection is for was not sent.
                throw PostgresFailure(
                    state: failure.state, message: failure.message, wasSent: false)
            }
        }

        private func prepare(
            _ started: OpaquePointer, before deadline: ContinuousClock.Instant,
            _ flag: CancellationFlag
        ) throws {
            var polling = PGRES_POLLING_WRITING
            while polling != PGRES_POLLING_OK {
                guard PQstatus(started) != CONNECTION_BAD, polling != PGRES_POLLING_FAILED else {
                    throw PostgresConnecting.failure(text(PQerrorMessage(started)))
                }
                try wait(
                    started, forWriting: polling == PGRES_POLLING_WRITING, before: deadline, flag,
                    wasSent: false)
                polling = PQconnectPoll(started)
            }
            guard PQserverVersion(started) >= 120_000 else {
                let version = text(PQparameterStatus(started, "server_version"))
                throw RoostError(
                    .unsupportedVersion,
                    "the server at \(PostgresConnecting.place(started)) says version \"\(version)\"; PostgreSQL 12 is needed"
                )
            }
            PQsetnonblocking(started, 1)
            PQsetErrorVerbosity(started, PQERRORS_DEFAULT)
            try replaceSettings(before: deadline, flag)
            // Before the isolation, which a standby does not take.
            try refuseStandby(before: deadline, flag)
            let isolation = isSerializable ? "serializable" : "read committed"
            _ = try simple(
                "SET default_transaction_isolation = '\(isolation)'; SET client_min_messages = error",
                before: deadline, flag)
            if hasNotices { try confirmStandby(before: deadline, flag) }
        }

        /// Takes the place of what a role, a database or the server's configuration sets. A commit that is not on the disk,
        /// or not on the standby, when it is acknowledged could be lost; `remote_apply` promises more than `on`, and stays.
        /// A call has its own deadline, and a statement that the server ends earlier would be an error that nobody
        /// can do anything about. A setting that this server does not know has no value. Decision 219.
        private func replaceSettings(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws {
            _ = try simple(
                """
                SELECT set_config(name, '0', false) FROM unnest(ARRAY['statement_timeout', 'lock_timeout',
                    'idle_in_transaction_session_timeout', 'transaction_timeout']) AS setting(name)
                WHERE current_setting(name, true) <> '0';
                SELECT set_config('synchronous_commit', 'on', false)
                WHERE current_setting('synchronous_commit', true) IN ('off', 'local', 'remote_write')
                """, before: deadline, flag)
        }

        /// Waits until the standby that acknowledges commits has all that can be read here. After a crash, or where
        /// connections were ended that waited for it, commits can be read that it does not have; and once it is
        /// promoted, they are no more. Decision 214.
        private func confirmStandby(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws {
            let answer = try simple(
                """
                SELECT CASE WHEN current_setting('synchronous_standby_names') = '' THEN 'none'
                    WHEN EXISTS (SELECT 1 FROM pg_stat_replication) THEN 'connected' ELSE 'away' END
                """, before: deadline, flag)
            let state = answer.rows.first?.first.flatMap { $0 } ?? []
            switch String(decoding: state, as: UTF8.self) {
            case "none": return
            case "connected":
                // A commit of its own, which waits for all before it.
                _ = try simple(
                    "SELECT pg_logical_emit_message(true, 'roost', '')", before: deadline, flag)
            default:
                // To wait here would leave a process of the server waiting for each attempt.
                throw PostgresFailure(
                    state: nil, message: "the standby that acknowledges commits is not connected",
                    wasSent: false)
            }
        }

        /// What a standby has is older than what was acknowledged.
        private func refuseStandby(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws {
            let answer: PostgresRows
            do {
                answer = try simple("SELECT pg_is_in_recovery()", before: deadline, flag)
            } catch let failure as PostgresFailure where failure.isMissingFunction {
                // Another server, which has no standbys of this kind.
                return
            }
            guard answer.rows.first?.first == [UInt8(ascii: "f")] else {
                throw PostgresFailure(
                    state: nil, message: "the server is a standby", wasSent: false)
            }
        }

        /// PostgreSQL alone wakes those who listen; others are asked again after a while.
        private var hasNotices: Bool {
            guard let connection, PQparameterStatus(connection, "crdb_version") == nil else {
                return false
            }
            return !text(PQparameterStatus(connection, "server_version")).contains("-YB-")
        }

        private func disconnect() {
            if let connection { PQfinish(connection) }
            connection = nil
            prepared = []
            isListening = false
        }

        private func createTables(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        )
            throws
        {
            for statement in PostgresSchema.creation {
                do { _ = try simple(statement, before: deadline, flag) } catch let failure
                    as PostgresFailure
                {
                    if let refusal = failure.refusal { throw refusal }
                    // Somebody else makes the same table, or a moment's conflict: what is missing is found next.
                    return
                }
            }
        }

        // MARK: Statements

        private func simple(
            _ text: String, before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws -> PostgresRows {
            guard let connection, PQsendQuery(connection, text) == 1 else {
                throw lost(wasSent: false)
            }
            return try answer(before: deadline, flag)
        }

        private func execute(
            _ statement: PostgresStatement, _ parameters: [PostgresParameter],
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws -> PostgresRows {
            guard let connection else { throw lost(wasSent: false) }
            // What is sent without time to wait for its answer has an outcome that nobody knows.
            guard ContinuousClock.now < deadline else {
                throw PostgresFailure(
                    state: nil, message: "no time was left to send it", wasSent: false)
            }
            if !prepared.contains(statement.name) {
                guard
                    PQsendPrepare(
                        connection, statement.name, statement.text(forNotices: hasNotices), 0, nil)
                        == 1
                else {
                    throw lost(wasSent: false)
                }
                do { _ = try answer(before: deadline, flag) } catch let failure as PostgresFailure {
                    // Nothing of the statement was run.
                    throw PostgresFailure(
                        state: failure.state, message: failure.message, wasSent: false)
                }
                prepared.insert(statement.name)
                guard ContinuousClock.now < deadline else {
                    throw PostgresFailure(
                        state: nil, message: "no time was left to send it", wasSent: false)
                }
            }
            var bytes: [UInt8] = []
            for parameter in parameters { bytes += parameter.bytes }
            // No parameter is without a place, an empty one included.
            bytes.append(0)
            let sent = bytes.withUnsafeBufferPointer { buffer -> Int32 in
                var place = 0
                var values: [UnsafePointer<CChar>?] = []
                for parameter in parameters {
                    values.append(
                        UnsafeRawPointer(buffer.baseAddress! + place).assumingMemoryBound(
                            to: CChar.self))
                    place += parameter.bytes.count
                }
                return PQsendQueryPrepared(
                    connection, statement.name, Int32(parameters.count), values,
                    parameters.map { Int32($0.bytes.count) },
                    [Int32](repeating: 1, count: parameters.count), 1)
            }
            guard sent == 1 else { throw lost(wasSent: false) }
            return try answer(before: deadline, flag)
        }

        /// Waits for the answer to what was sent.
        private func answer(before deadline: ContinuousClock.Instant, _ flag: CancellationFlag)
            throws
            -> PostgresRows
        {
            guard let connection else { throw lost(wasSent: true) }
            while true {
                let flushed = PQflush(connection)
                guard flushed >= 0 else { throw lost(wasSent: true) }
                if flushed == 0 { break }
                try wait(connection, forWriting: true, before: deadline, flag, wasSent: true)
            }
            var rows = PostgresRows()
            var failure: PostgresFailure?
            while true {
                while PQisBusy(connection) == 1 {
                    try wait(connection, forWriting: false, before: deadline, flag, wasSent: true)
                    guard PQconsumeInput(connection) == 1 else { throw lost(wasSent: true) }
                }
                guard let result = PQgetResult(connection) else { break }
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_TUPLES_OK: rows = PostgresRows(result)
                case PGRES_COMMAND_OK: break
                default:
                    let state = PQresultErrorField(result, 67).map { String(cString: $0) }
                    failure =
                        failure
                        ?? PostgresFailure(
                            state: state, message: text(PQresultErrorMessage(result)), wasSent: true
                        )
                    if PQstatus(connection) == CONNECTION_BAD {
                        throw failure ?? lost(wasSent: true)
                    }
                }
            }
            if let failure { throw failure }
            return rows
        }

        private func lost(wasSent: Bool) -> PostgresFailure {
            PostgresFailure(
                state: nil, message: connection.map { text(PQerrorMessage($0)) } ?? "not connected",
                wasSent: wasSent)
        }

        /// Waits until the socket is ready, the deadline, or a cancellation or the closing, which are looked for now and then.
        private func wait(
            _ connection: OpaquePointer, forWriting: Bool, before deadline: ContinuousClock.Instant,
            _ flag: CancellationFlag, wasSent: Bool
        ) throws {
            var descriptor = pollfd(
                fd: PQsocket(connection),
                events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0)
            while true {
                let remaining = deadline - .now
                if flag.isSet || closing.isSet || remaining <= .zero {
                    throw PostgresFailure(
                        state: nil,
                        message: "no answer in time from \(PostgresConnecting.place(connection))",
                        wasSent: wasSent)
                }
                let milliseconds = Int32(clamping: remaining.components.seconds * 1000 + 1)
                if poll(&descriptor, 1, min(milliseconds, 20)) > 0 { return }
            }
        }

        // MARK: Notices

        /// Waits until somebody tells of a change, but for `duration` at most.
        func waitForNotice(_ duration: Duration, _ flag: CancellationFlag) throws {
            let deadline = ContinuousClock.now + duration
            try checkOpen()
            do {
                try connect(before: .now + Self.attemptLimit, flag)
                if !isListening, hasNotices {
                    _ = try simple("LISTEN roost_changes", before: .now + Self.attemptLimit, flag)
                    isListening = true
                    // What came before it was told to nobody.
                    return
                }
                guard let connection else { return }
                while true {
                    guard PQconsumeInput(connection) == 1 else { throw lost(wasSent: false) }
                    var hasNotice = false
                    while let notice = PQnotifies(connection) {
                        PQfreemem(notice)
                        hasNotice = true
                    }
                    if hasNotice || deadline <= .now || flag.isSet { return }
                    do {
                        try wait(
                            connection, forWriting: false, before: deadline, flag, wasSent: false)
                    } catch is PostgresFailure { return }
                }
            } catch let failure as PostgresFailure {
                disconnect()
                server = (server + 1) % servers.count
                throw RoostError(.unavailable, failure.message)
            }
        }
    }
#endif
