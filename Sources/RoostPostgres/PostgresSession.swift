#if Postgres
    import CPostgreSQL
    import Foundation
    import RoostIO
    import RoostShared
    import Synchronization

    /// One connection to the server, on a thread of its own: libpq's calls block.
    ///
    /// - `connection` is `nil` where there is none, or it has failed; the next call connects anew.
    /// - `prepared` has the statements that this connection knows by name.
    /// - `server` is the one of `servers` that is connected to, or will be next.
    /// - Calls come one after another, in the order in which they were made.
    actor PostgresSession {
        let address: String
        let servers: [[String: String]]
        var server = 0
        let isSerializable: Bool
        let thread: WorkerThread
        let deadlines = PostgresDeadlines()
        /// Of the calls that are not over.
        nonisolated let callCount = Atomic<Int>(0)
        var connection: OpaquePointer?
        var prepared: Set<String> = []
        var isListening = false
        /// Set while a call may be under way, which then ends.
        nonisolated let closing = CancellationFlag()

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
            var refusals = ServerRefusals<Int>(of: servers.count, patience: Self.attemptLimit)
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
                } catch let error as PostgresFailure {
                    failure = error
                } catch let error as RoostError {
                    if refusals.isFinal(by: asked) { throw error }
                    failure = PostgresFailure(state: nil, message: error.message, wasSent: false)
                }
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

        static var attemptLimit: Duration { .seconds(3) }

        private func unknown(_ failure: PostgresFailure) -> RoostError {
            RoostError(.unknownOutcome, "the answer was lost: \(failure.message)")
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
