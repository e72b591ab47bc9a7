#if SQLite
    import CRoostSQLite
    import Foundation
    import Roost
    import RoostTestSupport
    import Testing

    /// What a SQLite table has is in a repository afterwards, checked value by value.
    @Suite struct SQLiteImportTests {
        private struct Post: Codable, Identifiable, Equatable {
            var id: Int
            var title: String
            var views: Int64
            var rating: Double
            var isDone: Bool
            var photo: Data?
            var at: String
            var tags: [String]?
        }

        private static let schema = """
            CREATE TABLE post (id INTEGER PRIMARY KEY, title TEXT NOT NULL, views INTEGER NOT NULL,
                rating REAL NOT NULL, isDone BOOLEAN NOT NULL, photo BLOB, at TEXT NOT NULL, tags TEXT);
            CREATE TABLE other (id BLOB PRIMARY KEY, name TEXT);
            INSERT INTO other VALUES (x'00112233445566778899AABBCCDDEEFF', 'a');
            """

        private func withDatabase(
            _ statements: String, _ body: (_ directory: String, _ file: String) async throws -> Void
        ) async throws {
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/app.sqlite"
                var database: OpaquePointer?
                #expect(sqlite3_open(file, &database) == SQLITE_OK)
                #expect(
                    sqlite3_exec(database, Self.schema + statements, nil, nil, nil) == SQLITE_OK,
                    "\(String(cString: sqlite3_errmsg(database)))")
                #expect(sqlite3_close(database) == SQLITE_OK)
                try await body(directory, file)
            }
        }

        private func run(
            _ directory: String, _ file: String, _ options: String...
        ) async throws -> Tool.Outcome {
            try await Tool.run(
                ["import", "\(directory)/w", file, "--format", "sqlite", "--into", "Post"] + options
            )
        }

        @Test func aTableBecomesARepositoryWithTheTypesOfItsRows() async throws {
            let rows = (1...300).map { number in
                "(\(number), 'Post ''\(number)'' ü', \(Int64.max - Int64(number)), \(number).0, \(number % 2), "
                    + (number % 3 == 0 ? "NULL" : "x'00FF0\(number % 10)'")
                    + ", '2026-11-24 08:00:0\(number % 10)', '[\"a\",\"\(number)\"]')"
            }.joined(separator: ",")
            try await withDatabase("INSERT INTO post VALUES \(rows)") { directory, file in
                let before = try Data(contentsOf: URL(fileURLWithPath: file))
                let options = ["--table", "post", "--column", "tags=json"]
                let dry = try await Tool.run(
                    [
                        "import", "\(directory)/w", file, "--format", "sqlite", "--into", "Post",
                        "--dry-run",
                    ]
                        + options)
                #expect(
                    dry.status == 0 && dry.errors.contains("300 values would be"), "\(dry.errors)")
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/w"))
                let done = try await run(
                    directory, file, "--table", "post", "--column", "tags=json")
                #expect(done.status == 0, "\(done.errors)")
                #expect(done.errors == "roost: 300 values imported into \"Post\"\n")
                let workspace = try await Workspace.open(at: "\(directory)/w")
                let posts = workspace.repository(of: Post.self)
                for number in 1...300 {
                    let expected = Post(
                        id: number, title: "Post '\(number)' ü", views: .max - Int64(number),
                        rating: Double(number), isDone: number % 2 == 1,
                        photo: number % 3 == 0 ? nil : Data([0, 255, UInt8(number % 10)]),
                        at: "2026-11-24 08:00:0\(number % 10)", tags: ["a", "\(number)"])
                    #expect(try await posts.find(by: number) == expected)
                }
                #expect(try posts.count == 300)
                try await workspace.close()
                #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
            }
        }

        /// A number, a text or bytes are what is said of their column; nothing is passed on as something else.
        @Test func columnsAreWhatIsSaidOfThem() async throws {
            struct Event: Codable, Identifiable, Equatable {
                var id: String
                var unix: Date
                var fine: Date
                var milliseconds: Date
                var reference: Date
                var text: Date?
                var price: Decimal
                var number: String
                var whole: Int
                var flag: Bool
                var owner: UUID?
                var note: String
            }
            let owner = UUID()
            let bytes = withUnsafeBytes(of: owner.uuid) {
                $0.map { String(format: "%02x", $0) }.joined()
            }
            try await withDatabase(
                """
                CREATE TABLE event (id INTEGER PRIMARY KEY, unix INTEGER, fine REAL, milliseconds INTEGER,
                    reference REAL, text TEXT, price REAL, number INTEGER, whole REAL, flag INTEGER,
                    owner BLOB, note BLOB);
                INSERT INTO event VALUES (7, 1795507200, 1795507200.5, 1795507200250, 817200000.0,
                    '2026-11-24 08:00:00.000', 19.99, 12, 3.0, 1, x'\(bytes)', x'636166C3A9');
                INSERT INTO event VALUES (8, 0, -0.5, 0, 0, NULL, 5, 0, 0, 0, NULL, x'');
                """
            ) { directory, file in
                let kinds = [
                    "unix=date", "fine=date:unix", "milliseconds=date:milliseconds",
                    "reference=date:reference", "text=date", "price=decimal", "number=text",
                    "whole=int", "flag=bool", "owner=uuid", "note=text",
                ]
                let done = try await Tool.run(
                    [
                        "import", "\(directory)/w", file, "--format", "sqlite", "--table", "event",
                        "--into", "Event", "--id-kind", "string",
                    ] + kinds.flatMap { ["--column", $0] })
                #expect(done.status == 0, "\(done.errors)")
                let workspace = try await Workspace.open(at: "\(directory)/w")
                let events = try await workspace.repository(of: Event.self).loadAll()
                let at = Date(timeIntervalSince1970: 1_795_507_200)
                let zero = Date(timeIntervalSince1970: 0)
                #expect(
                    events == [
                        Event(
                            id: "7", unix: at, fine: at + 0.5, milliseconds: at + 0.25,
                            reference: at, text: at, price: Decimal(string: "19.99")!,
                            number: "12", whole: 3, flag: true, owner: owner, note: "café"),
                        Event(
                            id: "8", unix: zero, fine: zero - 0.5, milliseconds: zero,
                            reference: Date(timeIntervalSinceReferenceDate: 0), text: nil,
                            price: 5, number: "0", whole: 0, flag: false, owner: nil, note: ""),
                    ])
                try await workspace.close()
                for kind in ["fine=int", "number=bool", "unix=uuid", "note=int", "owner=text"] {
                    let refused = try await Tool.run(
                        "import", "\(directory)/none", file, "--format", "sqlite", "--table",
                        "event", "--into", "Event", "--column", kind)
                    #expect(refused.status == 2 && refused.errors.contains("row 1"), "\(kind)")
                }
            }
        }

        @Test(arguments: ["UTF-16le", "UTF-16be"])
        func aDatabaseInAnotherEncodingIsRead(encoding: String) async throws {
            try await withTemporaryDirectory { directory in
                let file = "\(directory)/app.sqlite"
                var database: OpaquePointer?
                #expect(sqlite3_open(file, &database) == SQLITE_OK)
                let statements = """
                    PRAGMA encoding='\(encoding)';
                    CREATE TABLE "bücher" (id TEXT PRIMARY KEY, "größe" TEXT);
                    INSERT INTO "bücher" VALUES ('a', 'Dune ü'), ('b', '');
                    """
                #expect(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
                #expect(sqlite3_close(database) == SQLITE_OK)
                let done = try await run(directory, file, "--table", "bücher")
                #expect(done.status == 0, "\(done.errors)")
                for (key, text) in [("a", "Dune ü"), ("b", "")] {
                    let read = try await Tool.run("get", "\(directory)/w", "Post", key)
                    #expect(read.output.contains("\"größe\":\"\(text)\""), "\(read.output)")
                }
            }
        }

        @Test func aUUIDThatIsSixteenBytesIsAKey() async throws {
            try await withDatabase("") { directory, file in
                let done = try await run(directory, file, "--table", "other", "--id-kind", "uuid")
                #expect(done.status == 0, "\(done.errors)")
                #expect(
                    try await Tool.run(
                        "get", "\(directory)/w", "Post", "00112233-4455-6677-8899-AABBCCDDEEFF"
                    )
                    .output == #"{"id":"00112233-4455-6677-8899-AABBCCDDEEFF","name":"a"}"# + "\n")
            }
        }

        @Test(arguments: ["''", "CAST('' AS TEXT)"])
        func anEmptyTextIsNoKey(text: String) async throws {
            let statements = """
                CREATE TABLE note (id TEXT PRIMARY KEY, name TEXT);
                INSERT INTO note VALUES ('a', ''), (\(text), 'b');
                """
            try await withDatabase(statements) { directory, file in
                let outcome = try await run(directory, file, "--table", "note")
                #expect(outcome.status == 2)
                #expect(
                    outcome.errors.contains(
                        "of \"note\": \"id\", which is to be the key, is empty"),
                    "\(outcome.errors)")
                #expect(!FileManager.default.fileExists(atPath: "\(directory)/w"))
            }
        }

        @Test func whatCannotBeReadIsNamedAndNothingIsWritten() async throws {
            let good = "(1, 'a', 1, 1, 0, NULL, 'x', NULL)"
            try await withDatabase(
                "INSERT INTO post VALUES \(good), (2, CAST(x'FF' AS TEXT), 1, 9e999, 0, NULL, 'x', '{')"
            ) { directory, file in
                for (options, reason) in [
                    ([], "which table? say --table; it has \"other\", \"post\""),
                    (["--table", "none"], "there is no table \"none\""),
                    (
                        ["--table", "post"],
                        "row 2 of \"post\", column \"title\": the text is not UTF-8"
                    ),
                    (
                        ["--table", "post", "--id", "none"],
                        "there is no \"none\", which is to be the key"
                    ),
                    (["--table", "post", "--column", "none=int"], "has no column \"none\""),
                    (["--table", "post", "--id", "at"], "column \"title\""),
                ] as [([String], String)] {
                    let outcome = try await Tool.run(
                        ["import", "\(directory)/w", file, "--format", "sqlite", "--into", "Post"]
                            + options)
                    #expect(outcome.status == 2)
                    #expect(outcome.errors.contains(reason), "\(outcome.errors)")
                    #expect(!FileManager.default.fileExists(atPath: "\(directory)/w"))
                }
                let bytes = Array(repeating: UInt8(7), count: 5_000)
                try Data(bytes).write(to: URL(fileURLWithPath: file))
                let broken = try await run(directory, file, "--table", "post")
                #expect(broken.status == 2)
                #expect(broken.errors.contains("file is not a database"), "\(broken.errors)")
                let missing = try await run(directory, "\(directory)/none", "--table", "post")
                #expect(missing.status == 2)
            }
        }
    }
#endif
