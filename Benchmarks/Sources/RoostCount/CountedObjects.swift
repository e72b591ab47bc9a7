import Foundation
import Roost
import RoostCoding

/// The object whose saves are counted: five fields, one of them indexed.
struct CountedPost: Codable, Identifiable, Sendable {
    let id: Int
    var title: String
    var author: String
    var priority: Int
    var score: Double

    init(_ id: Int, priority: Int) {
        self.id = id
        title = "The post with the number \(id)"
        author = "author \(id % 1000)"
        self.priority = priority
        score = Double(id) / 8
    }
}

extension CountedPost: Indexed, StoredFields {
    static let indexes = [Index<CountedPost>("priority", \.priority)]
    static let storedFields: [StoredField<CountedPost>] = [
        StoredField(\.priority, CodingKeys.priority)
    ]
}

extension Section {
    private static var liveQueryCount: Int { 1_000 }
    private static var liveObjectCount: Int { 100 }

    /// Saves objects that no live query asks for, beside a thousand of these or none.
    func saveObjects(besideLive: Bool) async throws {
        let path = "\(directory)/objects-\(count)"
        let workspace = try await Workspace.open(
            at: path, configuration: .init(durability: .process))
        let posts = workspace.repository(of: CountedPost.self)
        try await posts.indexesBuilt()
        for id in 0..<Self.liveObjectCount { try await posts.save(CountedPost(id, priority: id)) }
        var results: [LiveUpdates<CountedPost>.Iterator] = []
        for first in 0..<(besideLive ? Self.liveQueryCount : 0) {
            let query = posts.where { (first..<first + 10).contains($0.priority) }
            var result = query.updates().makeAsyncIterator()
            guard await result.next() != nil else { throw CountError("no result") }
            results.append(result)
        }
        let first = Self.liveQueryCount * 2
        for id in first..<first + count { try await posts.save(CountedPost(id, priority: id)) }
        guard try posts[first + count - 1] != nil else { throw CountError("not all is there") }
        results = []
        try await workspace.close()
        try FileManager.default.removeItem(atPath: path)
    }
}
