import Roost

/// A value as apps have them. `nonisolated`, because values are coded on whatever thread the
/// call is on.
nonisolated struct Draft: Codable, Equatable {
    var title: String
    var body: String
    var tags: [String] = []
}

/// A value with a binary form of its own.
nonisolated struct User: BinaryCodable, Equatable {
    var name: String
    var age: Int

    init(name: String, age: Int) {
        self.name = name
        self.age = age
    }

    init(from reader: inout BinaryReader) throws {
        name = try reader.field(1)
        age = try reader.field(2)
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, name)
        writer.field(2, age)
    }
}

/// Fails to encode, as a user's own type may.
nonisolated struct Unencodable: Codable {
    struct Refusal: Error {}

    func encode(to encoder: any Encoder) throws { throw Refusal() }
}
