import Foundation
import RoostCoding
import RoostIO

private indirect enum Tree: Codable {
    case leaf
    case number(Int, label: String?)
    case branch(left: Tree, right: Tree)
    case many([Tree])
}

private struct Everything: Codable {
    var flag: Bool
    var small: Int8
    var number: Int
    var wide: UInt128
    var real: Double
    var text: String
    var data: Data
    var date: Date
    var identifier: UUID
    var decimal: Decimal
    var optional: String?
    var numbers: [Int?]
    var names: Set<String>
    var byName: [String: [Int]]
    var tree: Tree
}

/// Any bytes as values of several types; what decodes must encode again, and decode from that.
func fuzzCoder(_ input: FuzzBytes) throws {
    var input = input
    let kind = input.next() % 6
    let bytes = input.rest
    let coder = RoostCoder()
    func check<Value: Codable>(_ type: Value.Type) throws {
        let value = try coder.decode(type, from: bytes)
        let encoded: [UInt8]
        do { encoded = try coder.encode(value) } catch {
            fatalError("it does not encode again: \(error)")
        }
        do { _ = try coder.decode(type, from: encoded) } catch {
            fatalError("it does not decode again: \(error)")
        }
    }
    switch kind {
    case 0: try check(Everything.self)
    case 1: try check(Tree.self)
    case 2: try check([[String: Int]].self)
    case 3: try check(Optional<[Double]>.self)
    case 4: try check([Int: Set<String>].self)
    default: try check(String.self)
    }
}

private struct Fields: BinaryCodable {
    var number: Int
    var text: String
    var list: [Int]
    var names: [String: UInt8]
    var optional: Double?
    var nested: [Inner]

    struct Inner: BinaryCodable {
        var id: UInt64
        var data: Data

        init(from reader: inout BinaryReader) throws {
            id = try reader.field(1)
            data = try reader.field(2)
        }

        func encode(into writer: inout BinaryWriter) {
            writer.field(1, id)
            writer.field(2, data)
        }
    }

    init(from reader: inout BinaryReader) throws {
        number = try reader.field(1)
        text = try reader.field(2)
        list = try reader.field(3)
        names = try reader.field(4)
        optional = try reader.field(5)
        nested = try reader.field(6)
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, number)
        writer.field(2, text)
        writer.field(3, list)
        writer.field(4, names)
        writer.field(5, optional)
        writer.field(6, nested)
    }
}

/// Any bytes as `BinaryCodable` values; what decodes must encode again, and decode from that.
func fuzzBinary(_ input: FuzzBytes) throws {
    var input = input
    let kind = input.next() % 4
    let bytes = input.rest
    func check<Value: BinaryCodable>(_ type: Value.Type) throws {
        let value = try BinaryReader.decode(type, from: bytes)
        let encoded: [UInt8]
        do { encoded = try BinaryWriter.encode(value) } catch {
            fatalError("it does not encode again: \(error)")
        }
        do { _ = try BinaryReader.decode(type, from: encoded) } catch {
            fatalError("it does not decode again: \(error)")
        }
    }
    switch kind {
    case 0: try check(Fields.self)
    case 1: try check([String: [Int]].self)
    case 2: try check([Int128?].self)
    default: try check(Set<String>.self)
    }
}
