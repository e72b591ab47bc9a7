import Foundation
import RoostCoding

enum Theme: String, BinaryCodable, CaseIterable { case light, dark, automatic }

/// An enum with associated values, written by hand.
indirect enum Shape: BinaryCodable, Equatable {
    case point
    case circle(radius: Double)
    case group([Shape], name: String?)

    func encode(into writer: inout BinaryWriter) {
        switch self {
        case .point:
            writer.caseNumber(1)
        case .circle(let radius):
            writer.caseNumber(2)
            writer.field(1, radius)
        case .group(let shapes, let name):
            writer.caseNumber(3)
            writer.field(1, shapes)
            writer.field(2, name)
        }
    }

    init(from reader: inout BinaryReader) throws {
        switch try reader.caseNumber() {
        case 1: self = .point
        case 2: self = .circle(radius: try reader.field(1))
        case 3: self = .group(try reader.field(1), name: try reader.field(2))
        case let number: throw reader.unknownCase(number)
        }
    }

    init(random generator: inout SeededGenerator, depth: Int = 0) {
        switch generator.next() % (depth < 4 ? 4 : 2) {
        case 0: self = .point
        case 1: self = .circle(radius: generator.double())
        default:
            let shapes = generator.array(upTo: 3) { Shape(random: &$0, depth: depth + 1) }
            let name = generator.next() % 2 == 0 ? nil : generator.string()
            self = .group(shapes, name: name)
        }
    }

    init(_ shapes: [Shape]) { self = .group(shapes, name: nil) }
}

/// One field of each kind.
struct Everything: BinaryCodable, Equatable {
    var flag: Bool
    var small: Int8
    var integer: Int
    var unsigned: UInt64
    var wide: Int128
    var wideUnsigned: UInt128
    var float: Float
    var double: Double
    var text: String
    var bytes: [UInt8]
    var data: Data
    var date: Date
    var uuid: UUID
    var url: URL
    var theme: Theme
    var optional: Int?
    var optionals: [String?]
    var nested: [[Int16]]
    var set: Set<String>
    var dictionary: [Int: [String: UInt8]]
    var shape: Shape

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, flag)
        writer.field(2, small)
        writer.field(3, integer)
        writer.field(4, unsigned)
        writer.field(5, wide)
        writer.field(6, wideUnsigned)
        writer.field(7, float)
        writer.field(8, double)
        writer.field(9, text)
        writer.field(10, bytes)
        writer.field(11, data)
        writer.field(12, date)
        writer.field(13, uuid)
        writer.field(14, url)
        writer.field(15, theme)
        writer.field(16, optional)
        writer.field(17, optionals)
        writer.field(18, nested)
        writer.field(2047, set)
        writer.field(2048, dictionary)
        writer.field(536_870_911, shape)
    }

    init(from reader: inout BinaryReader) throws {
        flag = try reader.field(1)
        small = try reader.field(2)
        integer = try reader.field(3)
        unsigned = try reader.field(4)
        wide = try reader.field(5)
        wideUnsigned = try reader.field(6)
        float = try reader.field(7)
        double = try reader.field(8)
        text = try reader.field(9)
        bytes = try reader.field(10)
        data = try reader.field(11)
        date = try reader.field(12)
        uuid = try reader.field(13)
        url = try reader.field(14)
        theme = try reader.field(15)
        optional = try reader.field(16)
        optionals = try reader.field(17)
        nested = try reader.field(18)
        set = try reader.field(2047)
        dictionary = try reader.field(2048)
        shape = try reader.field(536_870_911)
    }
}

extension Everything {
    init(random generator: inout SeededGenerator) {
        flag = generator.next() % 2 == 0
        small = generator.integer(Int8.self)
        integer = generator.integer(Int.self)
        unsigned = generator.integer(UInt64.self)
        wide = generator.integer(Int128.self)
        wideUnsigned = generator.integer(UInt128.self)
        float = Float(generator.double())
        double = generator.double()
        text = generator.string()
        bytes = generator.bytes()
        data = Data(generator.bytes())
        date = Date(timeIntervalSinceReferenceDate: Double(generator.integer(Int32.self)) / 7)
        uuid = generator.uuid()
        url = URL(string: "https://example.org/\(generator.next())?q=1#f").unsafelyUnwrapped
        theme = Theme.allCases.randomElement(using: &generator) ?? .light
        optional = generator.next() % 2 == 0 ? nil : generator.integer(Int.self)
        optionals = generator.array(upTo: 4) { $0.next() % 2 == 0 ? nil : $0.string() }
        nested = generator.array(upTo: 4) { $0.array(upTo: 5) { $0.integer(Int16.self) } }
        set = Set(generator.array(upTo: 9) { $0.string() })
        dictionary = [:]
        for key in generator.array(upTo: 5, { $0.integer(Int.self) }) {
            let keys = Set(generator.array(upTo: 5) { $0.string() })
            dictionary[key] = Dictionary(uniqueKeysWithValues: keys.map { ($0, 7) })
        }
        shape = Shape(random: &generator)
    }
}
