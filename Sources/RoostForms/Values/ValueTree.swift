import Foundation
import RoostCoding

/// A value that was encoded by a coder which says of itself what it holds, with the types of its leaves.
package indirect enum ValueTree: Sendable, Equatable {
    case null
    case bool(Bool)
    /// Digits, with a sign.
    case integer(Int128)
    case double(Double)
    case string(String)
    case date(Date)
    case uuid(UUID)
    case decimal(Decimal)
    case url(URL)
    case data(Data)
    case array([ValueTree])
    case object([Member])

    package struct Member: Sendable, Equatable {
        package var name: String
        package var value: ValueTree

        package init(name: String, value: ValueTree) {
            self.name = name
            self.value = value
        }
    }

    /// The name of the type, as a program would write it.
    package var typeName: String {
        switch self {
        case .null: "nil"
        case .bool: "Bool"
        case .integer: "Int"
        case .double: "Double"
        case .string: "String"
        case .date: "Date"
        case .uuid: "UUID"
        case .decimal: "Decimal"
        case .url: "URL"
        case .data: "Data"
        case .array: "Array"
        case .object: "Object"
        }
    }

    struct Name: CodingKey {
        var stringValue: String
        var intValue: Int?
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) {
            stringValue = "\(intValue)"
            self.intValue = intValue
        }
    }
}

extension ValueTree: Decodable {
    package init(from decoder: any Decoder) throws {
        // Before what is plainer, as which the coder gives them too.
        switch try DistinctLeaf(from: decoder) {
        case .uuid(let value):
            self = .uuid(value)
            return
        case .data(let value):
            self = .data(value)
            return
        case .date(let value):
            self = .date(value)
            return
        case nil: break
        }
        if let container = try? decoder.container(keyedBy: Name.self) {
            self = .object(
                try container.allKeys.map { key in
                    let isNull = try container.decodeNil(forKey: key)
                    return Member(
                        name: key.stringValue,
                        value: isNull ? .null : try container.decode(Self.self, forKey: key))
                })
            return
        }
        if var container = try? decoder.unkeyedContainer() {
            var elements: [ValueTree] = []
            while !container.isAtEnd {
                let isNull = try container.decodeNil()
                elements.append(isNull ? .null : try container.decode(Self.self))
            }
            self = .array(elements)
            return
        }
        self = try Self.single(try decoder.singleValueContainer())
    }

    /// Asked for in turn: a coder gives a value only as what it is.
    private static func single(_ container: any SingleValueDecodingContainer) throws -> ValueTree {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .integer(Int128(value)) }
        if let value = try? container.decode(UInt64.self) { return .integer(Int128(value)) }
        if let value = try? container.decode(Int128.self) { return .integer(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Date.self) { return .date(value) }
        if let value = try? container.decode(UUID.self) { return .uuid(value) }
        if let value = try? container.decode(Decimal.self) { return .decimal(value) }
        if let value = try? container.decode(URL.self) { return .url(value) }
        return .data(try container.decode(Data.self))
    }
}

extension ValueTree: Encodable {
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for member in members {
                let key = Name(stringValue: member.name)
                if member.value == .null {
                    try container.encodeNil(forKey: key)
                } else {
                    try container.encode(member.value, forKey: key)
                }
            }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements {
                if element == .null {
                    try container.encodeNil()
                } else {
                    try container.encode(element)
                }
            }
        default:
            var container = encoder.singleValueContainer()
            try encodeLeaf(in: &container)
        }
    }

    private func encodeLeaf(in container: inout any SingleValueEncodingContainer) throws {
        switch self {
        case .bool(let value): try container.encode(value)
        case .integer(let value):
            if let value = Int64(exactly: value) {
                try container.encode(value)
            } else if let value = UInt64(exactly: value) {
                try container.encode(value)
            } else {
                try container.encode(value)
            }
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .uuid(let value): try container.encode(value)
        case .decimal(let value): try container.encode(value)
        case .url(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .null, .array, .object: try container.encodeNil()
        }
    }
}
