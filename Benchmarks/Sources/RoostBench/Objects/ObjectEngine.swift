/// A store of posts that finds them by what is in them. Each call that changes something is a
/// transaction of its own, which a killed process keeps.
protocol ObjectEngine: Sendable {
    associatedtype Post: BenchPost

    static var name: String { get }
    static var settings: String { get }

    static func open(at path: String) async throws -> Self
    nonisolated(nonsending) func insert(_ post: Post) async throws
    /// In one transaction.
    nonisolated(nonsending) func insertAll(_ posts: [Post]) async throws
    /// Reads the object and changes one field of it.
    nonisolated(nonsending) func setScore(_ score: Double, id: Int) async throws
    nonisolated(nonsending) func setGroup(_ group: Int, id: Int) async throws
    nonisolated(nonsending) func delete(id: Int) async throws
    func find(id: Int) throws -> Post?
    func posts(ofColor color: PostColor) throws -> [Post]
    /// In the order of their priorities.
    func firstPosts(_ limit: Int, prioritized range: Range<Int>) throws -> [Post]
    func count(prioritized range: Range<Int>) throws -> Int
    func close() async throws
}
