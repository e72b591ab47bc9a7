import Roost

struct RoostObjects<Post: RoostPost>: ObjectEngine {
    static var name: String {
        Post.self == CodablePost.self ? RoostEngine.name : "roost-binary"
    }
    static var settings: String {
        Post.self == CodablePost.self
            ? "a repository with two indexes, `.process`, Codable objects that say where their fields are"
            : "the same, BinaryCodable objects"
    }

    let workspace: Workspace
    let posts: Repository<Post>

    static func open(at path: String) async throws -> RoostObjects {
        let workspace = try await Workspace.open(
            at: path + "/workspace", configuration: .init(durability: .process))
        let posts = Post.repository(in: workspace)
        try await posts.indexesBuilt()
        return RoostObjects(workspace: workspace, posts: posts)
    }

    nonisolated(nonsending) func insert(_ post: Post) async throws { try await posts.insert(post) }

    nonisolated(nonsending) func insertAll(_ all: [Post]) async throws {
        try await workspace.transaction { transaction in
            for post in all { try transaction.insert(post, in: posts) }
        }
    }

    nonisolated(nonsending) func setScore(_ score: Double, id: Int) async throws {
        let found: Void? = try await posts.update(id) { $0.score = score }
        guard found != nil else { throw BenchError("no post \(id)") }
    }

    nonisolated(nonsending) func setGroup(_ group: Int, id: Int) async throws {
        let found: Void? = try await posts.update(id) { $0.group = group }
        guard found != nil else { throw BenchError("no post \(id)") }
    }

    nonisolated(nonsending) func delete(id: Int) async throws { try await posts.delete(id) }

    func find(id: Int) throws -> Post? { try posts[id] }

    func posts(ofColor color: PostColor) throws -> [Post] {
        try Post.colored(color, in: posts).fetch()
    }

    func firstPosts(_ limit: Int, prioritized range: Range<Int>) throws -> [Post] {
        try Post.inOrder(of: Post.prioritized(range, in: posts)).limit(limit).fetch()
    }

    func count(prioritized range: Range<Int>) throws -> Int {
        try Post.prioritized(range, in: posts).count()
    }

    func close() async throws { try await workspace.close() }
}
