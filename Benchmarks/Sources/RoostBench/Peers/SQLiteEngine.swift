#if Peers
    import Foundation
    import GRDB

    /// SQLite through GRDB: a pool in WAL mode, writes by autocommit through its writer, reads
    /// through a connection of the client's own, prepared statements throughout.
    final class SQLiteEngine: KeyValueEngine {
        static let name = "sqlite"
        static let settings =
            "GRDB 7, WAL, WITHOUT ROWID, prepared, 64 MiB cache; synchronous NORMAL, or FULL where"
            + " the row is synced"
        static let abilities = EngineAbilities()

        fileprivate let pool: DatabasePool
        fileprivate let configuration: Configuration

        private init(pool: DatabasePool, configuration: Configuration) {
            self.pool = pool
            self.configuration = configuration
        }

        static func open(at path: String, options: EngineOptions) throws -> SQLiteEngine {
            var configuration = Configuration()
            configuration.maximumReaderCount = 2
            configuration.busyMode = .timeout(60)
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -65536") }
            let pool = try DatabasePool(
                path: path + "/values.sqlite", configuration: configuration,
                durability: options.durability)
            try pool.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS entries
                        (key TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) WITHOUT ROWID
                        """)
            }
            return SQLiteEngine(pool: pool, configuration: configuration)
        }

        func makeClient() throws -> Client { try Client(engine: self) }

        func compact() throws {
            try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
            try pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        }

        func close() throws { try pool.close() }

        struct Client: KeyValueClient {
            private let pool: DatabasePool
            private let reading: DatabaseQueue

            fileprivate init(engine: SQLiteEngine) throws {
                pool = engine.pool
                var configuration = engine.configuration
                configuration.readonly = true
                reading = try DatabaseQueue(path: engine.pool.path, configuration: configuration)
            }

            func set(_ value: [UInt8], forKey key: String) throws {
                try pool.writeWithoutTransaction { try Self.put(Data(value), key, $0) }
            }

            func setAll(_ keys: ArraySlice<String>, _ values: ArraySlice<[UInt8]>) throws {
                try pool.write { database in
                    for (key, value) in zip(keys, values) {
                        try Self.put(Data(value), key, database)
                    }
                }
            }

            func word(forKey key: String) throws -> UInt64? {
                try reading.unsafeRead { database in
                    let statement = try database.cachedStatement(
                        sql: "SELECT value FROM entries WHERE key = ?")
                    let rows = try GRDB.Row.fetchCursor(statement, arguments: [key])
                    return try rows.next()?.withUnsafeData(atIndex: 0) { value in
                        try value?.withUnsafeBytes(valueWord)
                    }
                }
            }

            func scan(from key: String?, limit: Int, makesEntries: Bool) throws -> ScanTotals {
                try reading.unsafeRead { database in
                    let statement = try database.cachedStatement(
                        sql: "SELECT value, key FROM entries WHERE key >= ? ORDER BY key LIMIT ?")
                    var totals = ScanTotals()
                    let rows = try GRDB.Row.fetchCursor(statement, arguments: [key ?? "", limit])
                    while let row = try rows.next() {
                        try row.withUnsafeData(atIndex: 0) { value in
                            try value?.withUnsafeBytes { value in
                                guard makesEntries else { return try totals.add(value) }
                                try totals.add((row[1] as String, [UInt8](value)))
                            }
                        }
                    }
                    return totals
                }
            }

            private static func put(_ value: Data, _ key: String, _ database: Database) throws {
                try database.cachedStatement(
                    sql: "INSERT OR REPLACE INTO entries VALUES (?, ?)"
                ).execute(arguments: [key, value])
            }
        }
    }
#endif
