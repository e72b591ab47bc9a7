import Foundation
import Roost
import RoostCoding

enum PostColor: Int, Codable, CaseIterable, Sendable, BinaryCodable {
    case red, orange, yellow, green, blue, violet
}

/// The object of the table: eight fields, of which `priority` and `group` are indexed.
protocol BenchPost: Codable, Equatable, Identifiable, Sendable where ID == Int {
    var id: Int { get }
    var title: String { get set }
    var author: String { get set }
    var color: PostColor { get set }
    var priority: Int { get set }
    var group: Int { get set }
    var score: Double { get set }
    var createdAt: Date { get set }

    init(
        id: Int, title: String, author: String, color: PostColor, priority: Int, group: Int,
        score: Double, createdAt: Date)
}

/// What the numbers of objects make of them.
struct PostNumbers: Sendable {
    let count: Int

    /// A permutation of the numbers below `count`, which is a power of ten or near one.
    func priority(_ id: Int) -> Int { id * 7919 % count }
    static func color(_ id: Int) -> PostColor { PostColor.allCases[id % 6] }
    static func group(_ id: Int) -> Int { id % 100 }

    func post<Post: BenchPost>(_ id: Int) -> Post {
        Post(
            id: id, title: "The post with the number \(id)", author: "author \(id % 1000)",
            color: Self.color(id), priority: priority(id), group: Self.group(id),
            score: Double(id) / 8, createdAt: Date(timeIntervalSinceReferenceDate: Double(id)))
    }

    func posts<Post: BenchPost>(_ ids: Range<Int>) -> [Post] { ids.map { post($0) } }
}

/// As Roost keeps it: with its queries, which a generic function could not write.
protocol RoostPost: BenchPost, Indexed {
    static func repository(in workspace: Workspace) -> Repository<Self>
    static func colored(_ color: PostColor, in posts: Repository<Self>) -> Query<Self>
    static func prioritized(_ range: Range<Int>, in posts: Repository<Self>) -> Query<Self>
    static func inOrder(of query: Query<Self>) -> Query<Self>
}

/// Encoded by the coder of a `Codable` type.
struct CodablePost: RoostPost {
    var id: Int
    var title: String
    var author: String
    var color: PostColor
    var priority: Int
    var group: Int
    var score: Double
    var createdAt: Date

    static let indexes = [
        Index<CodablePost>("priority", \.priority), Index("group", \.group),
    ]

    static func repository(in workspace: Workspace) -> Repository<CodablePost> {
        workspace.repository(of: CodablePost.self)
    }

    static func colored(
        _ color: PostColor, in posts: Repository<CodablePost>
    ) -> Query<CodablePost> {
        posts.where { $0.color == color }
    }

    static func prioritized(
        _ range: Range<Int>, in posts: Repository<CodablePost>
    ) -> Query<CodablePost> {
        posts.where { range.contains($0.priority) }
    }

    static func inOrder(of query: Query<CodablePost>) -> Query<CodablePost> {
        query.order(by: \.priority)
    }
}

/// So that a condition and an index read the fields that they are about, and not the object.
extension CodablePost: StoredFields {
    static let storedFields: [StoredField<CodablePost>] = [
        StoredField(\.color, CodingKeys.color),
        StoredField(\.priority, CodingKeys.priority),
        StoredField(\.group, CodingKeys.group),
    ]
}

extension BinaryPost: StoredFields {
    static let storedFields: [StoredField<BinaryPost>] = [
        StoredField(\.color) { try $0.field(4) },
        StoredField(\.priority) { try $0.field(5) },
        StoredField(\.group) { try $0.field(6) },
    ]
}

/// The same, with its fields written by hand.
struct BinaryPost: RoostPost, BinaryCodable {
    var id: Int
    var title: String
    var author: String
    var color: PostColor
    var priority: Int
    var group: Int
    var score: Double
    var createdAt: Date

    static let indexes = [
        Index<BinaryPost>("priority", \.priority), Index("group", \.group),
    ]

    static func repository(in workspace: Workspace) -> Repository<BinaryPost> {
        workspace.repository(of: BinaryPost.self)
    }

    static func colored(_ color: PostColor, in posts: Repository<BinaryPost>) -> Query<BinaryPost> {
        posts.where { $0.color == color }
    }

    static func prioritized(
        _ range: Range<Int>, in posts: Repository<BinaryPost>
    ) -> Query<BinaryPost> {
        posts.where { range.contains($0.priority) }
    }

    static func inOrder(of query: Query<BinaryPost>) -> Query<BinaryPost> {
        query.order(by: \.priority)
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, id)
        writer.field(2, title)
        writer.field(3, author)
        writer.field(4, color)
        writer.field(5, priority)
        writer.field(6, group)
        writer.field(7, score)
        writer.field(8, createdAt)
    }
}

extension BinaryPost {
    init(from reader: inout BinaryReader) throws {
        self.init(
            id: try reader.field(1), title: try reader.field(2), author: try reader.field(3),
            color: try reader.field(4), priority: try reader.field(5), group: try reader.field(6),
            score: try reader.field(7), createdAt: try reader.field(8))
    }
}
