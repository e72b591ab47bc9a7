#if Postgres
    import CPostgreSQL
    import Foundation
    import RoostIO
    import RoostShared

    /// The connection is made, made ready and ended.
    extension PostgresSession {
        func connect(before deadline: ContinuousClock.Instant, _ flag: CancellationFlag)
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
            try endAbandonedStatements(before: deadline, flag)
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

        /// Has the server look each second whether the client of a statement is there yet. A call is given up with its
        /// connection, and what it waits for in the server, as for a table that an operator has locked, it would wait for on:
        /// one process more for each attempt, until nobody is let in. A commit that waits for the standby does not end by
        /// that. Decision 219.
        private func endAbandonedStatements(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws {
            guard let connection, hasNotices, PQserverVersion(connection) >= 140_000 else { return }
            do {
                _ = try simple(
                    """
                    SELECT set_config('client_connection_check_interval', '1000', false)
                    WHERE current_setting('client_connection_check_interval', true) = '0'
                    """, before: deadline, flag)
            } catch let failure as PostgresFailure
                where failure.state == "22023" || failure.state == "42501"
            {
                // A server whose system cannot tell it, or that keeps its settings to itself, as one that is rented may.
            }
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
            let word = String(decoding: state, as: UTF8.self)
            if word == "none" { return }
            // To wait here would leave a process of the server waiting for each attempt: also where another that waits
            // already has no answer, which would come first.
            guard word == "connected" else { throw Self.noStandby("is not connected") }
            if try isStandbySilent(before: deadline, flag) {
                throw Self.noStandby("does not answer")
            }
            // A commit of its own, which waits for all before it.
            _ = try simple(
                "SELECT pg_logical_emit_message(true, 'roost', '')", before: deadline, flag)
        }

        private static func noStandby(_ what: String) -> PostgresFailure {
            PostgresFailure(
                state: nil, message: "the standby that acknowledges commits \(what)", wasSent: false
            )
        }

        /// Whether somebody of the same role has waited for the standby for a while. Some keep the sessions of others from
        /// everybody (`REVOKE SELECT ON pg_stat_activity`): who may not look there does not know of any.
        private func isStandbySilent(
            before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws -> Bool {
            let answer: PostgresRows
            do {
                answer = try simple(
                    """
                    SELECT EXISTS (
                        SELECT 1 FROM pg_stat_activity WHERE usename = current_user AND wait_event = 'SyncRep'
                            AND clock_timestamp() - query_start > interval '2 seconds')
                    """, before: deadline, flag)
            } catch let failure as PostgresFailure where failure.state == "42501" {
                return false
            }
            return answer.rows.first?.first == [UInt8(ascii: "t")]
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
        var hasNotices: Bool {
            guard let connection, PQparameterStatus(connection, "crdb_version") == nil else {
                return false
            }
            return !text(PQparameterStatus(connection, "server_version")).contains("-YB-")
        }

        func disconnect() {
            if let connection { PQfinish(connection) }
            connection = nil
            prepared = []
            isListening = false
        }

        func createTables(
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
    }
#endif
