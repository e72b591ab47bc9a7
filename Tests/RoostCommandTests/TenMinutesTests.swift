import Foundation
import Roost
import RoostTestSupport
import Testing

#if SQLite
    import CRoostSQLite
#endif

/// The first ten minutes of somebody who has an app: what it kept in a property list, a JSON file or a SQLite table
/// is in Roost afterwards, the same by the command and by code, value by value.
@Suite struct TenMinutesTests {
    struct Note: Codable, Identifiable, Equatable {
        var id: String
        var title: String
        var at: Date
        var count: Int
        var ratio: Double
        var isDone: Bool
        var photo: Data?
    }

    static let notes: [Note] = (0..<60).map { number in
        let hasPhoto = number % 3 > 0
        return Note(
            id: "n\(number + 10)", title: "Héron \(number), \"quoted\" \u{1F426}",
            at: Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
            count: Int.max - number, ratio: Double(number) / 4, isDone: number % 2 == 0,
            photo: hasPhoto ? Data([0, UInt8(number), 255]) : nil)
    }

    /// Opens what an import has written, once more as the app will.
    private func check(_ path: String, _ comment: String) async throws {
        let workspace = try await Workspace.open(at: path)
        let notes = workspace.repository(of: Note.self)
        #expect(try await notes.loadAll() == Self.notes, "\(comment)")
        for note in Self.notes {
            #expect(try await notes.find(by: note.id) == note, "\(comment)")
        }
        #expect(try await workspace.verify().isSound)
        try await workspace.close()
    }

    private func roost(_ arguments: String...) async throws {
        let outcome = try await Tool.run(arguments)
        #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
    }

    @Test func anAppWithAPropertyList() async throws {
        try await withTemporaryDirectory { path in
            let members = Dictionary(uniqueKeysWithValues: Self.notes.map { ($0.id, $0) })
            let encoder = PropertyListEncoder()
            for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
                encoder.outputFormat = format
                let file = "\(path)/notes-\(format.rawValue).plist"
                let data = try encoder.encode(members)
                try data.write(to: URL(fileURLWithPath: file))
                let command = "\(path)/command-\(format.rawValue)"
                try await roost("import", command, file, "--format", "plist", "--into", "Note")
                try await check(command, "the command, \(format)")
                let code = "\(path)/code-\(format.rawValue)"
                let workspace = try await Workspace.open(at: code)
                let url = URL(fileURLWithPath: file)
                #expect(
                    try await workspace.importing(propertyListAt: url, into: "Note")
                        == Self.notes.count)
                #expect(try await workspace.importing(propertyListAt: url, into: "Note") == nil)
                try await workspace.close()
                try await check(code, "code, \(format)")
                #expect(try Data(contentsOf: url) == data, "the app's file stays as it is")
            }
        }
    }

    /// Its settings, by the suite and by the file.
    @Test func anAppWithUserDefaults() async throws {
        let suite = "roost-test-\(UUID().uuidString)"
        let defaults = try #require(UserDefaults(suiteName: suite))
        defer { defaults.removePersistentDomain(forName: suite) }
        let settings: [String: Any] = [
            "launches": 12, "ratio": 2.0, "isDark": true, "name": "Ada", "token": Data([0, 255]),
            "seen": Date(timeIntervalSince1970: 1_700_000_000), "levels": [2.0, 0.5],
            "window": ["x": 1, "y": 2.0, "title": "t"] as [String: Any],
        ]
        for (key, value) in settings { defaults.set(value, forKey: key) }
        try await withTemporaryDirectory { path in
            let file = "\(path)/app.plist"
            try PropertyListSerialization.data(
                fromPropertyList: settings, format: .binary, options: 0
            )
            .write(to: URL(fileURLWithPath: file))
            try await roost(
                "import", "\(path)/command", file, "--format", "plist", "--into", "settings")
            let code = try await Workspace.open(at: "\(path)/code")
            #expect(try await code.importing(userDefaultsSuite: suite) == settings.count)
            try await code.close()
            let same = try await Tool.run(
                "diff", "\(path)/command", "\(path)/code", "--dictionary", "settings")
            #expect(same.status == 0, "\(same.output)")
            let workspace = try await Workspace.open(at: "\(path)/command")
            let ours = workspace.defaults("settings")
            #expect(ours.integer(forKey: "launches") == 12 && ours.double(forKey: "ratio") == 2)
            #expect(ours.bool(forKey: "isDark") && ours.string(forKey: "name") == "Ada")
            #expect(ours.data(forKey: "token") == Data([0, 255]))
            #expect(ours.object(forKey: "seen") as? Date == settings["seen"] as? Date)
            let levels = try #require(ours.array(forKey: "levels"))
            #expect(levels.map { "\(type(of: $0)) \($0)" } == ["Double 2.0", "Double 0.5"])
            let window = try #require(ours.dictionary(forKey: "window"))
            #expect(
                window.mapValues { "\(type(of: $0)) \($0)" } == [
                    "x": "Int 1", "y": "Double 2.0", "title": "String t",
                ])
            try await workspace.close()
        }
    }

    @Test func anAppWithAJSONFile() async throws {
        try await withTemporaryDirectory { path in
            let url = URL(fileURLWithPath: "\(path)/notes.json")
            try JSONEncoder().encode(Self.notes).write(to: url)
            try await roost(
                "import", "\(path)/command", url.path, "--format", "json", "--into", "Note")
            try await check("\(path)/command", "the command")
            let workspace = try await Workspace.open(at: "\(path)/code")
            let old = try JSONDecoder().decode([Note].self, from: Data(contentsOf: url))
            try await workspace.repository(of: Note.self).saveAll(old)
            try await workspace.close()
            try await check("\(path)/code", "code")
        }
    }

    #if SQLite
        private static let schema = """
            CREATE TABLE note (id TEXT PRIMARY KEY, title TEXT NOT NULL, at TEXT NOT NULL,
                count INTEGER NOT NULL, ratio REAL NOT NULL, isDone BOOLEAN NOT NULL, photo BLOB);
            """

        @Test func anAppWithASQLiteTable() async throws {
            try await withTemporaryDirectory { path in
                let file = "\(path)/app.sqlite"
                var database: OpaquePointer?
                try #require(sqlite3_open(file, &database) == SQLITE_OK)
                let rows = Self.notes.map { note in
                    let photo = note.photo.map { bytes in
                        "x'" + bytes.map { String(format: "%02x", $0) }.joined() + "'"
                    }
                    // As GRDB has a date.
                    return
                        "('\(note.id)', '\(note.title)', strftime('%Y-%m-%d %H:%M:%f', \(Int(note.at.timeIntervalSince1970)), 'unixepoch'), \(note.count), \(note.ratio), \(note.isDone ? 1 : 0), \(photo ?? "NULL"))"
                }
                let statements =
                    Self.schema + "INSERT INTO note VALUES " + rows.joined(separator: ",")
                try #require(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
                sqlite3_close(database)
                try await roost(
                    "import", "\(path)/command", file, "--format", "sqlite", "--table", "note",
                    "--into", "Note", "--column", "at=date")
                try await check("\(path)/command", "the command")
                let workspace = try await Workspace.open(at: "\(path)/code")
                try await workspace.repository(of: Note.self).saveAll(try Self.read(file))
                try await workspace.close()
                try await check("\(path)/code", "code")
            }
        }

        /// As an app without a library for it reads its table.
        private static func read(_ file: String) throws -> [Note] {
            var database: OpaquePointer?
            var statement: OpaquePointer?
            try #require(sqlite3_open_v2(file, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
            defer { sqlite3_close(database) }
            let query =
                "SELECT id, title, unixepoch(at), count, ratio, isDone, photo FROM note ORDER BY id"
            try #require(sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK)
            defer { sqlite3_finalize(statement) }
            var notes: [Note] = []
            while sqlite3_step(statement) == SQLITE_ROW {
                let photo = sqlite3_column_blob(statement, 6).map {
                    Data(bytes: $0, count: Int(sqlite3_column_bytes(statement, 6)))
                }
                notes.append(
                    Note(
                        id: String(cString: sqlite3_column_text(statement, 0)),
                        title: String(cString: sqlite3_column_text(statement, 1)),
                        at: Date(
                            timeIntervalSince1970: Double(sqlite3_column_int64(statement, 2))),
                        count: Int(sqlite3_column_int64(statement, 3)),
                        ratio: sqlite3_column_double(statement, 4),
                        isDone: sqlite3_column_int64(statement, 5) != 0, photo: photo))
            }
            return notes
        }
    #endif
}
