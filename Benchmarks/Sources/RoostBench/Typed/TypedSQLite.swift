#if Peers
    import Foundation
    import GRDB

    /// SQLite through GRDB as its users have it: a pool, a transaction for each set, a read block
    /// for each read; integers in a column, records as JSON, which is what GRDB makes of them.
    final class TypedSQLite: TypedEngine {
        static let name = SQLiteEngine.name
        static let settings = "GRDB 7, a pool in WAL mode; synchronous NORMAL, or FULL where synced"
        static let kinds: Set<ValueKind> = [.int, .codable]
        static let isWholeFile = false
        static let durabilities: Set<RowDurability> = [.process, .synced]

        private let pool: DatabasePool

        private init(pool: DatabasePool) { self.pool = pool }

        static func open(at path: String, durability: RowDurability) throws -> TypedSQLite {
            let pool = try DatabasePool(
                path: path + "/values.sqlite", configuration: Configuration(),
                durability: durability)
            try pool.write { database in
                try database.execute(
                    sql: """
                        CREATE TABLE IF NOT EXISTS integers (key TEXT PRIMARY KEY, value INTEGER);
                        CREATE TABLE IF NOT EXISTS records (key TEXT PRIMARY KEY, value BLOB)
                        """)
            }
            return TypedSQLite(pool: pool)
        }

        func set<Value: TypedValue>(_ value: Value, forKey key: String) throws {
            try pool.write { try Self.put(value, key, $0) }
        }

        func setAll<Value: TypedValue>(_ values: [(String, Value)]) throws {
            try pool.write { database in
                for (key, value) in values { try Self.put(value, key, database) }
            }
        }

        func value<Value: TypedValue>(forKey key: String, as type: Value.Type) throws -> Value? {
            try pool.read { database in
                let statement = try database.cachedStatement(
                    sql: "SELECT value FROM \(Self.table(type)) WHERE key = ?")
                if type == Int.self {
                    return try Int.fetchOne(statement, arguments: [key]) as? Value
                }
                guard let data = try Data.fetchOne(statement, arguments: [key]) else { return nil }
                return try JSONDecoder().decode(type, from: data)
            }
        }

        func close() throws { try pool.close() }

        private static func table<Value: TypedValue>(_ type: Value.Type) -> String {
            type == Int.self ? "integers" : "records"
        }

        private static func put<Value: TypedValue>(
            _ value: Value, _ key: String, _ database: Database
        ) throws {
            let statement = try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO \(table(Value.self)) VALUES (?, ?)")
            if let integer = value as? Int {
                return try statement.execute(arguments: [key, integer])
            }
            try statement.execute(arguments: [key, JSONEncoder().encode(value)])
        }
    }
#endif
