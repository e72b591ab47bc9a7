import Roost

enum Theme: String, Codable, Sendable { case light, dark }

struct Profile: Codable, Equatable, Sendable {
    var name: String
    var age: Int
    var tags: [String] = []
}

/// Has the coded form of a `Profile`, less what it does not know.
struct Label: Codable, Equatable, Sendable { var text: String }

struct Point: BinaryCodable, Equatable, Sendable {
    var x: Int
    var y: Int

    init(x: Int, y: Int) {
        self.x = x
        self.y = y
    }

    init(from reader: inout BinaryReader) throws {
        x = try reader.field(1)
        y = try reader.field(2)
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, x)
        writer.field(2, y)
    }
}

/// Equal without regard to case.
struct Tag: Codable, Equatable, Sendable {
    var text: String
    static func == (left: Tag, right: Tag) -> Bool {
        left.text.lowercased() == right.text.lowercased()
    }
}

extension Key where Value == Theme {
    static var theme: Self { .init("ui.theme", default: .light) }
}

extension Key where Value == Int {
    static var launches: Self { .init("launches", default: 0) }
    static func visits(to page: String) -> Self { .init("visits/\(page)", default: 0) }
}

extension Key where Value == Point {
    static let origin = Key("origin", default: Point(x: 0, y: 0))
}

extension Key where Value == Profile? {
    static var profile: Self { .init("profile") }
}

extension Key where Value == String? {
    static var nickname: Self { .init("nickname") }
}

extension Key where Value == Point? {
    static var goal: Self { .init("goal") }
}
