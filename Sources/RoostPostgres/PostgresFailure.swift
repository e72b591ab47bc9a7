#if Postgres
    import RoostIO

    /// What servers of one address say that let the client not in. One may be set up otherwise than the others, as a standby
    /// that has other rules, and is no reason not to ask these.
    struct PostgresRefusals {
        let serverCount: Int
        private var servers: Set<Int> = []
        private var begin: ContinuousClock.Instant?

        init(serverCount: Int) { self.serverCount = serverCount }

        /// - Returns: that this server was not reached, where another is to be asked.
        /// - Throws: the refusal, where all have refused, or the others could not be asked for as long as an attempt may take.
        mutating func note(_ refusal: RoostError, by server: Int) throws -> PostgresFailure {
            let begin = self.begin ?? .now
            self.begin = begin
            let isKnown = !servers.insert(server).inserted
            let isLong = ContinuousClock.now - begin >= PostgresSession.attemptLimit
            if servers.count == serverCount || isKnown && isLong { throw refusal }
            return PostgresFailure(state: nil, message: refusal.message, wasSent: false)
        }
    }

    /// Why a statement did not do what it was to do.
    struct PostgresFailure: Error {
        /// The server's code; `nil` where it was the connection.
        let state: String?
        let message: String
        /// Whether the server may have had the statement.
        let wasSent: Bool

        /// Another was first; to be run again.
        var isConflict: Bool { state == "40001" || state == "40P01" }

        /// The server has said that it did nothing, but another, or the same one later, may.
        var isElsewhere: Bool {
            switch state {
            // In recovery, or read only; too many connections, starting up, or shutting down before it began; a
            // connection that was idle for too long.
            case "25006", "53300", "57P03", "57P05": true
            default: false
            }
        }

        /// Whether the statement may have taken effect.
        var isUnknown: Bool {
            guard wasSent else { return false }
            guard let state else { return true }
            // Connections, CockroachDB's lost answers, shutting down, a crash of the server, and what it says of
            // itself.
            return ["08", "40003", "57P01", "57P02", "58", "XX"].contains { state.hasPrefix($0) }
        }

        var isMissingTable: Bool { state == "42P01" }

        var isMissingFunction: Bool { state == "42883" }

        /// What no repetition would change.
        var refusal: RoostError? {
            guard let state else { return nil }
            switch state {
            case "3D000":
                return RoostError(.notPermitted, "there is no such database: \(message)")
            case _ where state.hasPrefix("28"), "42501":
                return RoostError(.notPermitted, "PostgreSQL does not permit this: \(message)")
            case "53100":
                return RoostError(.outOfSpace, "PostgreSQL's disk is full: \(message)")
            case "54000", "54001", "53200":
                return RoostError(.tooLarge, "more than PostgreSQL takes at once: \(message)")
            default: return nil
            }
        }
    }
#endif
