#if Peers
    import Foundation
    import GRDB

    extension PostColor: DatabaseValueConvertible {}

    /// GRDB's own way: a `Codable` record. Dates are numbers, which is what costs it least.
    struct RecordPost: BenchPost, FetchableRecord, PersistableRecord {
        static let databaseTableName = "post"

        var id: Int
        var title: String
        var author: String
        var color: PostColor
        var priority: Int
        var group: Int
        var score: Double
        var createdAt: Date

        static func databaseDateEncodingStrategy(
            for column: String
        ) -> DatabaseDateEncodingStrategy { .timeIntervalSinceReferenceDate }
        static func databaseDateDecodingStrategy(
            for column: String
        ) -> DatabaseDateDecodingStrategy { .timeIntervalSinceReferenceDate }

        enum Columns {
            static let color = Column("color")
            static let priority = Column("priority")
        }
    }

    /// SQLite through GRDB as its users have it: a pool, a transaction for each change, a read block for
    /// each question, queries by its query interface.
    struct GRDBObjects: ObjectEngine {
        typealias Post = RecordPost
        static let name = SQLiteEngine.name
        static let settings =
            "GRDB 7, a pool in WAL mode, synchronous NORMAL, 64 MiB cache, integer primary key, two"
            + " indexes, Codable records with dates as numbers, updateChanges, ValueObservation"

        let pool: DatabasePool

        static func open(at path: String) throws -> GRDBObjects {
            var configuration = Configuration()
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -65536") }
            let pool = try DatabasePool(
                path: path + "/posts.sqlite", configuration: configuration, durability: .process)
            try pool.write { database in
                try database.create(table: RecordPost.databaseTableName, ifNotExists: true) {
                    $0.primaryKey("id", .integer)
                    $0.column("title", .text).notNull()
                    $0.column("author", .text).notNull()
                    $0.column("color", .integer).notNull()
                    $0.column("priority", .integer).notNull().indexed()
                    $0.column("group", .integer).notNull().indexed()
                    $0.column("score", .double).notNull()
                    $0.column("createdAt", .double).notNull()
                }
            }
            return GRDBObjects(pool: pool)
        }

        func insert(_ post: RecordPost) throws { try pool.write { try post.insert($0) } }

        func insertAll(_ posts: [RecordPost]) throws {
            try pool.write { database in for post in posts { try post.insert(database) } }
        }

        func setScore(_ score: Double, id: Int) throws {
            try update(id) { $0.score = score }
        }

        func setGroup(_ group: Int, id: Int) throws {
            try update(id) { $0.group = group }
        }

        private func update(_ id: Int, _ body: (inout RecordPost) -> Void) throws {
            try pool.write { database in
                guard var post = try RecordPost.fetchOne(database, key: id) else {
                    throw BenchError("no post \(id)")
                }
                try post.updateChanges(database, modify: body)
            }
        }

        func delete(id: Int) throws {
            _ = try pool.write { try RecordPost.deleteOne($0, key: id) }
        }

        func find(id: Int) throws -> RecordPost? {
            try pool.read { try RecordPost.fetchOne($0, key: id) }
        }

        func posts(ofColor color: PostColor) throws -> [RecordPost] {
            try pool.read { try RecordPost.filter(Post.Columns.color == color).fetchAll($0) }
        }

        func firstPosts(_ limit: Int, prioritized range: Range<Int>) throws -> [RecordPost] {
            try pool.read { database in
                try Self.prioritized(range).order(Post.Columns.priority).limit(limit)
                    .fetchAll(database)
            }
        }

        func count(prioritized range: Range<Int>) throws -> Int {
            try pool.read { try Self.prioritized(range).fetchCount($0) }
        }

        static func prioritized(_ range: Range<Int>) -> QueryInterfaceRequest<RecordPost> {
            RecordPost.filter(
                Post.Columns.priority >= range.lowerBound
                    && Post.Columns.priority < range.upperBound)
        }

        func close() throws { try pool.close() }
    }
#endif
