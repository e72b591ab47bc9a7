import Foundation
import Roost
import RoostTestSupport

/// What the tests of `roost objects` and of indexes keep.
struct Bird: Codable, Identifiable, Sendable, Equatable {
    enum Color: String, Codable, Sendable, CaseIterable { case red, green, blue }
    struct Place: Codable, Sendable, Equatable { var city: String }

    var id: Int
    var name: String
    var color: Color
    var priority: Int
    var weight: Double
    var isRinged: Bool
    var tags: [String]
    var place: Place?
    var seen: Date?

    init(_ id: Int) {
        self.id = id
        name = id % 7 == 0 ? "Café \"\(id)\"" : "Bird \(id)"
        color = Color.allCases[id % 3]
        priority = (id * 37) % 101
        weight = Double(id) / 4
        isRinged = id % 2 == 0
        tags = id % 5 == 0 ? [] : ["tag \(id % 4)", "bird"]
        place = id % 3 == 0 ? nil : Place(city: id % 2 == 0 ? "Bonn" : "Ulm")
        seen = id % 4 == 0 ? nil : Date(timeIntervalSince1970: Double(id) * 86_400)
    }
}

extension Bird: Indexed {
    static var indexes: [Index<Bird>] {
        [
            Index("priority", \.priority),
            Index("name", \.name, isUnique: true),
            Index("ringed-priority", \.isRinged, .descending(\.priority)),
            Index("tags", each: \.tags),
            Index("seen", \.seen, where: { $0.priority > 50 }),
        ]
    }
}

/// Its properties are stored under other names; `rank` and `weight` have changed places.
struct Renamed: Codable, Identifiable, Sendable {
    enum CodingKeys: String, CodingKey {
        case id
        case rank = "weight"
        case weight = "rank"
    }
    var id: Int
    var rank: Int
    var weight: Int
}

extension Renamed: Indexed {
    static var indexes: [Index<Renamed>] { [Index("rank", \.rank)] }
}

enum ObjectSamples {
    static let birds = (0..<200).map { Bird($0) }

    /// A workspace with birds whose indexes are complete, closed.
    static func withBirds(_ body: (_ path: String) async throws -> Void) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let repository = workspace.repository(of: Bird.self)
            try await repository.saveAll(birds)
            try await repository.indexesBuilt()
            try await workspace.close()
            try await body("\(path)/w")
        }
    }
}
