import Foundation
import Roost

#if SQLite
    import CRoostSQLite

    /// The rows of one table of a SQLite file, at one moment.
    ///
    /// Each value keeps its type: whole numbers with every digit, text as text, so that a date is what the
    /// table has for it; bytes in base 64, as `JSONDecoder` reads `Data`. A column that is declared
    /// BOOL or BOOLEAN has true and false for 1 and 0; `--column` says more of any.
    ///
    /// The file is opened for reading alone.
    struct SQLiteTable {
        let path: String
        /// The table's name; `nil` where the file has but one.
        let table: String?
        let keys: ObjectKeys
        let columns: ColumnTypes

        func records(_ progress: (_ done: Int, _ total: Int) -> Void) throws -> [ForeignRecord] {
            let database = try SQLiteFile(path)
            try database.execute("BEGIN")
            let name = try chosenTable(database)
            let quoted = "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
            let counted = try database.prepare("SELECT count(*) FROM \(quoted)")
            _ = try counted.step()
            let total = Int(counted.integer(0))
            let rows = try database.prepare("SELECT * FROM \(quoted)")
            try check(rows.columnNames, of: name)
            var records: [ForeignRecord] = []
            while try rows.step() {
                let place = "row \(records.count + 1) of \"\(name)\""
                records.append(try record(rows, place))
                progress(records.count, total)
            }
            return records
        }

        private func chosenTable(_ database: SQLiteFile) throws -> String {
            let statement = try database.prepare(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            )
            var names: [String] = []
            while try statement.step() { names.append(try statement.text(0, "a table's name")) }
            if let table {
                guard names.contains(table) else {
                    throw Failure(.usage, "\(path): there is no table \"\(table)\"; \(list(names))")
                }
                return table
            }
            guard names.count == 1 else {
                throw Failure(.usage, "\(path): which table? say --table; \(list(names))")
            }
            return names[0]
        }

        private func list(_ names: [String]) -> String {
            names.isEmpty
                ? "it has none"
                : "it has " + names.map { "\"\($0)\"" }.joined(separator: ", ")
        }

        private func check(_ names: [String], of table: String) throws {
            for name in columns.kinds.keys where !names.contains(name) {
                throw Failure(.usage, "\"\(table)\" has no column \"\(name)\"")
            }
            guard Set(names).count == names.count else {
                throw Failure(.usage, "\"\(table)\" has two columns of one name")
            }
        }

        private func record(_ rows: SQLiteStatement, _ place: String) throws -> ForeignRecord {
            let members = try rows.columnNames.enumerated().map { column, name in
                JSONValue.Member(name: name, value: try value(rows, Int32(column), name, place))
            }
            // As of CSV: what is missing in a row is often written so.
            if members.contains(where: { $0.name == keys.field && $0.value == .string("") }) {
                throw Failure(
                    .usage, "\(place): \"\(keys.field)\", which is to be the key, is empty")
            }
            return try keys.record(of: .object(members), place: place)
        }

        private func value(
            _ rows: SQLiteStatement, _ column: Int32, _ name: String, _ place: String
        ) throws -> JSONValue {
            let whole = "\(place), column \"\(name)\""
            switch rows.type(column) {
            case SQLITE_INTEGER:
                let value = rows.integer(column)
                if columns.kinds[name] == nil, rows.isBoolean(column), (0...1).contains(value) {
                    return .bool(value == 1)
                }
                return try columns.json(number: value.description, column: name, place: place)
            case SQLITE_FLOAT:
                let value = rows.double(column)
                guard value.isFinite else {
                    throw Failure(.usage, "\(whole): an infinite number, which JSON has none for")
                }
                return try columns.json(number: value.description, column: name, place: place)
            case SQLITE_TEXT:
                return try columns.json(
                    try rows.text(column, whole), column: name, place: place)
            case SQLITE_BLOB:
                let bytes = rows.bytes(column)
                // As GRDB has a UUID.
                if name == keys.field, keys.kind == .uuid, bytes.count == 16 {
                    return .string(
                        bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString)
                }
                return try columns.json(bytes, column: name, place: place)
            default: return .null
            }
        }
    }

    /// A SQLite file that is open for reading.
    final class SQLiteFile {
        fileprivate let handle: OpaquePointer
        private let path: String

        init(_ path: String) throws {
            self.path = path
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw Failure(.usage, "cannot read \(path)")
            }
            var handle: OpaquePointer?
            let result = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READONLY, nil)
            guard result == SQLITE_OK, let handle else {
                sqlite3_close(handle)
                throw Failure(.usage, "\(path): \(String(cString: sqlite3_errstr(result)))")
            }
            self.handle = handle
            sqlite3_busy_timeout(handle, 10_000)
        }

        deinit { sqlite3_close_v2(handle) }

        func execute(_ text: String) throws {
            guard sqlite3_exec(handle, text, nil, nil, nil) == SQLITE_OK else { throw failure() }
        }

        func prepare(_ text: String) throws -> SQLiteStatement {
            var statement: OpaquePointer?
            guard sqlite3_prepare_v2(handle, text, -1, &statement, nil) == SQLITE_OK,
                let statement
            else { throw failure() }
            return SQLiteStatement(file: self, handle: statement)
        }

        fileprivate func failure() -> Failure {
            Failure(.usage, "\(path): \(String(cString: sqlite3_errmsg(handle)))")
        }
    }

    /// A query and the row where it stands. What a row has is valid until the next step.
    final class SQLiteStatement {
        private let file: SQLiteFile
        private let handle: OpaquePointer
        let columnNames: [String]

        fileprivate init(file: SQLiteFile, handle: OpaquePointer) {
            self.file = file
            self.handle = handle
            columnNames = (0..<sqlite3_column_count(handle)).map {
                sqlite3_column_name(handle, $0).map { String(cString: $0) } ?? ""
            }
        }

        deinit { sqlite3_finalize(handle) }

        /// Whether there is another row.
        func step() throws -> Bool {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default: throw file.failure()
            }
        }

        func type(_ column: Int32) -> Int32 { sqlite3_column_type(handle, column) }
        func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
        func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

        func isBoolean(_ column: Int32) -> Bool {
            guard let declared = sqlite3_column_decltype(handle, column) else { return false }
            return ["BOOL", "BOOLEAN"].contains(String(cString: declared).uppercased())
        }

        func bytes(_ column: Int32) -> [UInt8] {
            guard let start = sqlite3_column_blob(handle, column) else { return [] }
            let count = Int(sqlite3_column_bytes(handle, column))
            return Array(UnsafeRawBufferPointer(start: start, count: count))
        }

        /// With zero bytes within, where it has them.
        func text(_ column: Int32, _ place: String) throws -> String {
            // In this order: the first call makes UTF-8 of what a database may have in UTF-16.
            let start = sqlite3_column_text(handle, column)
            let count = Int(sqlite3_column_bytes(handle, column))
            let bytes = UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw Failure(.usage, "\(place): the text is not UTF-8")
            }
            return text
        }
    }
#endif
