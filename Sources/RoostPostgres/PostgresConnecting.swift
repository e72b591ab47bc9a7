#if Postgres
    import CPostgreSQL
    import Foundation
    import RoostIO

    /// What libpq is told, and tells, while it connects.
    enum PostgresConnecting {
        /// Begins a connection to a server that takes writes: unless the address itself says otherwise.
        static func start(_ address: String, _ server: [String: String]) -> OpaquePointer? {
            var keywords = ["target_session_attrs", "dbname"]
            var values = ["read-write", address]
            // What comes later counts.
            for (keyword, value) in server {
                keywords.append(keyword)
                values.append(value)
            }
            let connection = withStrings(keywords) { keywords in
                withStrings(values) { PQconnectStartParams(keywords, $0, 1) }
            }
            // libpq would write to the process's standard error why a connection that nobody waits for was ended.
            if let connection {
                PQsetNoticeReceiver(connection, { _, _ in }, nil)
                // Messages are then told with their codes, whatever the server's language is.
                PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
            }
            return connection
        }

        /// The strings as C takes them, with `nil` after the last.
        private static func withStrings<Result>(
            _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
        ) -> Result {
            let copies = strings.map { strdup($0) }
            defer { for copy in copies { free(copy) } }
            var pointers = copies.map { UnsafePointer<CChar>($0) }
            pointers.append(nil)
            return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
        }

        /// Where a server is, for messages.
        static func place(_ connection: OpaquePointer) -> String {
            "\"\(text(PQhost(connection)))\", port \(text(PQport(connection)))"
        }

        /// The code stands in the message of what the server says; what libpq says itself has none.
        static func failure(_ message: String) -> any Error {
            if let code = code(in: message),
                let refusal = PostgresFailure(state: code, message: message, wasSent: false)
                    .refusal,
                refusal.code == .notPermitted
            {
                return refusal
            }
            let unreadable = [
                "certificate file \"", "private key file \"", "certificate revocation list",
            ]
            if unreadable.contains(where: message.contains) {
                return RoostError(
                    .io, "a certificate or a key for PostgreSQL cannot be read: \(message)")
            }
            let refusals = [
                "authentication failed", "no password supplied", "certificate verify failed",
                "does not exist", "no pg_hba.conf entry", "pg_hba.conf rejects",
                "does not match host name", "certificate revoked", "certificate has expired",
                "requires a valid client certificate", "is not permitted to log in",
                "permission denied",
            ]
            if refusals.contains(where: message.contains) || isAlert(message) {
                return RoostError(.notPermitted, "PostgreSQL does not permit this: \(message)")
            }
            return PostgresFailure(state: nil, message: message, wasSent: false)
        }

        /// As in `FATAL:  28P01: …`.
        static func code(in message: String) -> String? {
            for start in message.ranges(of: ":  ") {
                let rest = message[start.upperBound...]
                let code = rest.prefix { ("0"..."9").contains($0) || ("A"..."Z").contains($0) }
                if code.utf8.count == 5, rest.dropFirst(5).hasPrefix(": ") { return String(code) }
            }
            return nil
        }

        /// Whether the server ended TLS with an alert. What stands before has the host, whose name may be anything.
        private static func isAlert(_ message: String) -> Bool {
            guard let begin = message.range(of: "SSL error: ") else { return false }
            return message[begin.upperBound...].contains(" alert ")
        }
    }

    /// What libpq says, on one line, without where in the server's program that is.
    func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "" }
        return String(cString: message).split(separator: "\n")
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("LOCATION: ") }
            .joined(separator: " ")
    }
#endif
