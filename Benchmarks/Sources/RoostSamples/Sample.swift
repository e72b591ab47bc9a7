/// Keys of sixteen bytes, values of a hundred that compress to about a half.
public enum Sample {
    public static func key(_ index: Int) -> String {
        let digits = String(index)
        return "k" + String(repeating: "0", count: 15 - digits.count) + digits
    }

    public static func value(_ index: Int) -> [UInt8] {
        (0..<100).map { UInt8(truncatingIfNeeded: $0 < 50 ? $0 &* 31 &+ index &* 7 : 97) }
    }
}

/// A struct as apps store them: what `Codable` costs depends on it.
public struct SampleRecord: Codable, Sendable, Equatable {
    public var id: Int
    public var name: String
    public var email: String
    public var isActive: Bool
    public var score: Double
    public var tags: [String]

    public init(_ index: Int) {
        id = index
        name = "name \(index)"
        email = "person\(index)@example.org"
        isActive = index % 2 == 0
        score = Double(index) / 8
        tags = ["one", "two"]
    }
}
