#if Peers
    import CLMDB

    /// LMDB: one transaction for each put, a read transaction per client that is renewed for each
    /// get. `synced` is its default; `process` is `MDB_NOSYNC`.
    ///
    /// `@unchecked Sendable`: an environment may be used by all threads; nothing else is held.
    final class LMDBEngine: LMDBStore, KeyValueEngine, @unchecked Sendable {
        static let name = "lmdb"
        static let settings = "NOTLS, NORDAHEAD; NOSYNC where the row is not synced"
        static let abilities = EngineAbilities()

        static func open(at path: String, options: EngineOptions) throws -> LMDBEngine {
            try LMDBEngine(path: path, options: options, flags: 0)
        }
    }

    /// LMDB writing through its map (`MDB_WRITEMAP`).
    ///
    /// `@unchecked Sendable`: as `LMDBEngine`.
    final class LMDBWriteMapEngine: LMDBStore, KeyValueEngine, @unchecked Sendable {
        static let name = "lmdb-writemap"
        static let settings = "as lmdb, and WRITEMAP"
        static let abilities = EngineAbilities()

        static func open(at path: String, options: EngineOptions) throws -> LMDBWriteMapEngine {
            try LMDBWriteMapEngine(path: path, options: options, flags: UInt32(MDB_WRITEMAP))
        }
    }

    class LMDBStore {
        fileprivate let environment: OpaquePointer
        fileprivate let database: MDB_dbi

        init(path: String, options: EngineOptions, flags: UInt32) throws {
            var environment: OpaquePointer?
            try check(mdb_env_create(&environment))
            try check(mdb_env_set_mapsize(environment, max(4 << 30, options.expectedKeys * 2048)))
            try check(mdb_env_set_maxreaders(environment, 256))
            var flags = flags | UInt32(MDB_NOTLS | MDB_NORDAHEAD)
            if options.durability == .process { flags |= UInt32(MDB_NOSYNC) }
            try check(mdb_env_open(environment, path, flags, 0o600))
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(environment, nil, 0, &transaction))
            var database: MDB_dbi = 0
            try check(mdb_dbi_open(transaction, nil, 0, &database))
            try check(mdb_txn_commit(transaction))
            self.environment = environment!
            self.database = database
        }

        func makeClient() throws -> LMDBClient { try LMDBClient(store: self) }
        func compact() {}

        func close() {
            mdb_env_close(environment)
        }
    }

    final class LMDBClient: KeyValueClient {
        private let store: LMDBStore
        /// Reset between two gets, so that it holds no old pages.
        private let reading: OpaquePointer

        init(store: LMDBStore) throws {
            self.store = store
            var transaction: OpaquePointer?
            try check(
                mdb_txn_begin(store.environment, nil, UInt32(MDB_RDONLY), &transaction))
            reading = transaction!
            mdb_txn_reset(reading)
        }

        deinit { mdb_txn_abort(reading) }

        func set(_ value: [UInt8], forKey key: String) throws {
            try inTransaction { try put(value, key, $0) }
        }

        func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
            try inTransaction { transaction in
                for (key, value) in zip(keys, values) { try put(value, key, transaction) }
            }
        }

        func word(forKey key: String) throws -> UInt64? {
            try check(mdb_txn_renew(reading))
            defer { mdb_txn_reset(reading) }
            return try key.withKeyBytes { bytes, count in
                var key = MDB_val(mv_size: count, mv_data: .init(mutating: bytes))
                var value = MDB_val()
                let status = mdb_get(reading, store.database, &key, &value)
                if status == MDB_NOTFOUND { return nil }
                try check(status)
                return try valueWord(
                    UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            }
        }

        func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
            try check(mdb_txn_renew(reading))
            defer { mdb_txn_reset(reading) }
            var cursor: OpaquePointer?
            try check(mdb_cursor_open(reading, store.database, &cursor))
            defer { mdb_cursor_close(cursor) }
            var totals = ScanTotals()
            var found = MDB_val()
            var value = MDB_val()
            var status = try (key ?? "").withKeyBytes { bytes, count in
                found = MDB_val(mv_size: count, mv_data: .init(mutating: bytes))
                return mdb_cursor_get(
                    cursor, &found, &value, key == nil ? MDB_FIRST : MDB_SET_RANGE)
            }
            while status == 0, totals.entries < limit {
                try totals.add(
                    .init(start: value.mv_data, count: value.mv_size), makesEntry: makesEntries,
                    key: .init(start: found.mv_data, count: found.mv_size))
                status = mdb_cursor_get(cursor, &found, &value, MDB_NEXT)
            }
            if status != MDB_NOTFOUND { try check(status) }
            return totals
        }

        private func inTransaction(_ body: (OpaquePointer) throws -> Void) throws {
            var transaction: OpaquePointer?
            try check(mdb_txn_begin(store.environment, nil, 0, &transaction))
            do { try body(transaction!) } catch {
                mdb_txn_abort(transaction)
                throw error
            }
            try check(mdb_txn_commit(transaction))
        }

        private func put(_ value: [UInt8], _ key: String, _ transaction: OpaquePointer) throws {
            let status = try key.withKeyBytes { keyBytes, keyCount in
                value.withValueBytes { bytes, count in
                    var key = MDB_val(mv_size: keyCount, mv_data: .init(mutating: keyBytes))
                    var value = MDB_val(mv_size: count, mv_data: .init(mutating: bytes))
                    return mdb_put(transaction, store.database, &key, &value, 0)
                }
            }
            try check(status)
        }
    }

    @inline(__always)
    private func check(_ status: Int32) throws {
        guard status == 0 else {
            throw BenchError("LMDB: \(String(cString: mdb_strerror(status)))")
        }
    }
#endif
