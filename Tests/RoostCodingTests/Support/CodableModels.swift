import Foundation

enum Mood: String, Codable, CaseIterable { case calm, loud }

indirect enum Tree: Codable, Hashable {
    case leaf
    case number(Int, label: String?)
    case branch(left: Tree, right: Tree)
    case many([Tree])

    init(random generator: inout SeededGenerator, depth: Int = 0) {
        switch generator.next() % (depth < 5 ? 4 : 2) {
        case 0: self = .leaf
        case 1:
            let label = generator.next() % 2 == 0 ? nil : generator.string()
            self = .number(generator.integer(Int.self), label: label)
        case 2:
            let left = Tree(random: &generator, depth: depth + 1)
            self = .branch(left: left, right: Tree(random: &generator, depth: depth + 1))
        default: self = .many(generator.array(upTo: 3) { Tree(random: &$0, depth: depth + 1) })
        }
    }
}

/// A property of each kind.
struct Sample: Codable, Equatable {
    var flag: Bool
    var int8: Int8
    var int16: Int16
    var int32: Int32
    var int64: Int64
    var int: Int
    var int128: Int128
    var uint8: UInt8
    var uint16: UInt16
    var uint32: UInt32
    var uint64: UInt64
    var uint: UInt
    var uint128: UInt128
    var float: Float
    var double: Double
    var text: String
    var data: Data
    var bytes: [UInt8]
    var date: Date
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var mood: Mood
    var optional: String?
    var missing: Int?
    var optionals: [Int?]
    var doubles: [Double]
    var set: Set<String>
    var trees: Set<Tree>
    var byName: [String: [Int]]
    var byNumber: [Int: Tree]
    var byUUID: [UUID: String]
    var tree: Tree

    init(random generator: inout SeededGenerator) {
        flag = generator.next() % 2 == 0
        int8 = generator.integer(Int8.self)
        int16 = generator.integer(Int16.self)
        int32 = generator.integer(Int32.self)
        int64 = generator.integer(Int64.self)
        int = generator.integer(Int.self)
        int128 = generator.integer(Int128.self)
        uint8 = generator.integer(UInt8.self)
        uint16 = generator.integer(UInt16.self)
        uint32 = generator.integer(UInt32.self)
        uint64 = generator.integer(UInt64.self)
        uint = generator.integer(UInt.self)
        uint128 = generator.integer(UInt128.self)
        float = Float(generator.double())
        double = generator.double()
        text = generator.string()
        data = Data(generator.bytes())
        bytes = generator.bytes()
        date = Date(timeIntervalSinceReferenceDate: Double(generator.integer(Int32.self)) / 7)
        uuid = generator.uuid()
        url = URL(string: "https://example.org/\(generator.next())?q=1#f").unsafelyUnwrapped
        decimal = Decimal(generator.integer(Int.self)) / 1_000
        mood = Mood.allCases.randomElement(using: &generator) ?? .calm
        optional = generator.next() % 2 == 0 ? nil : generator.string()
        missing = generator.next() % 2 == 0 ? nil : 3
        optionals = generator.array(upTo: 5) { $0.next() % 2 == 0 ? nil : $0.integer(Int.self) }
        doubles = generator.array(upTo: 5) { $0.double() }
        set = Set(generator.array(upTo: 9) { $0.string() })
        trees = Set(generator.array(upTo: 6) { Tree(random: &$0, depth: 3) })
        byName = [:]
        byNumber = [:]
        byUUID = [:]
        for _ in 0..<(generator.next() % 5) {
            byName[generator.string()] = generator.array(upTo: 4) { $0.integer(Int.self) }
            byNumber[generator.integer(Int.self)] = Tree(random: &generator, depth: 3)
            byUUID[generator.uuid()] = generator.string()
        }
        tree = Tree(random: &generator)
    }
}
