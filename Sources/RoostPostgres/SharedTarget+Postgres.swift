#if Postgres
    import RoostShared

    extension SharedTarget {
        /// PostgreSQL 12 or later, or what speaks its protocol.
        ///
        /// ```swift
        /// let workspace = try await SharedWorkspace.connect(
        ///     to: .postgres("postgres://app@db1,db2/app?target_session_attrs=read-write&sslmode=verify-full"),
        ///     namespace: "shop")
        /// ```
        ///
        /// The tables `roost_revision`, `roost_keys` and `roost_changes` are made in the user's schema where they are
        /// not there; once they are, the user needs to select, insert, update and delete in them, and no more.
        ///
        /// - Parameter address: as libpq takes it: hosts, database, user, certificates. It is in no error.
        public static func postgres(_ address: String) -> SharedTarget {
            SharedTarget { deadline in try await PostgresEngine(address, before: deadline) }
        }
    }
#endif
