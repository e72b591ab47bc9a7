#if Postgres
    import RoostIO

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
            // Of making the tables: a schema that the user has no right to use is passed over, and its tables are not found.
            case "3F000":
                return RoostError(
                    .notPermitted,
                    "PostgreSQL has no schema that the user may use, as USAGE was revoked or search_path names none that is there: \(message)"
                )
            case "53100":
                return RoostError(.outOfSpace, "PostgreSQL's disk is full: \(message)")
            // The word is one of SQL's, in every language.
            case "54000" where message.contains("NOTIFY"):
                return RoostError(
                    .outOfSpace,
                    "PostgreSQL's queue of notices is full, which a session keeps that listens and has a transaction open for long: \(message)"
                )
            case "54000", "54001", "53200":
                return RoostError(.tooLarge, "more than PostgreSQL takes at once: \(message)")
            // A text that is no value of its type: the commit itself has one, for where it would not be safe.
            case "22P02":
                return RoostError(
                    .unsupportedVersion,
                    "PostgreSQL has lost the settings of the session: a pooler between has to keep one connection for a session, and not for a transaction (\(message))"
                )
            default: return nil
            }
        }
    }
#endif
