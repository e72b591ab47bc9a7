#if Postgres
    import CPostgreSQL
    import Foundation
    import RoostIO
    import RoostShared

    /// A statement is sent, and its answer read.
    extension PostgresSession {
        func simple(
            _ text: String, before deadline: ContinuousClock.Instant, _ flag: CancellationFlag
        ) throws -> PostgresRows {
            guard let connection, PQsendQuery(connection, text) == 1 else {
                throw lost(wasSent: false)
            }
            return try answer(before: deadline, flag)
        }

        func execute(
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

        func lost(wasSent: Bool) -> PostgresFailure {
            PostgresFailure(
                state: nil, message: connection.map { text(PQerrorMessage($0)) } ?? "not connected",
                wasSent: wasSent)
        }

        /// Waits until the socket is ready, the deadline, or a cancellation or the closing, which are looked for now and then.
        func wait(
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
    }
#endif
