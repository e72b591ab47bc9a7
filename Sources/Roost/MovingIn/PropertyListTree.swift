import Foundation
import RoostCoding
import RoostIO

/// A value of a property list, with the type that it has there.
///
/// Decodes from a property list, and from every form that says of itself what it holds.
package indirect enum PropertyListTree: Codable, Equatable, Sendable {
    case bool(Bool)
    case int(Int64)
    /// Beyond `Int64`.
    case uint(UInt64)
    /// What a program has stored as `Float`; a property list has `double`.
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case array([PropertyListTree])
    case dictionary([String: PropertyListTree])

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(from decoder: any Decoder) throws {
        // Before what is plainer: the coder would give bytes as an array of numbers too, and a date as a number.
        switch try DistinctLeaf(from: decoder) {
        case .data(let value):
            self = .data(value)
            return
        case .date(let value):
            self = .date(value)
            return
        case .uuid, nil: break
        }
        if let container = try? decoder.container(keyedBy: Name.self) {
            var members: [String: PropertyListTree] = [:]
            for key in container.allKeys {
                members[key.stringValue] = try container.decode(Self.self, forKey: key)
            }
            self = .dictionary(members)
        } else if var container = try? decoder.unkeyedContainer() {
            var elements: [PropertyListTree] = []
            while !container.isAtEnd { elements.append(try container.decode(Self.self)) }
            self = .array(elements)
        } else {
            self = try Self.single(try decoder.singleValueContainer())
        }
    }

    /// Asked for in turn, of a form that gives a value only as what it is.
    private static func single(
        _ container: any SingleValueDecodingContainer
    ) throws -> PropertyListTree {
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .int(value) }
        if let value = try? container.decode(UInt64.self) { return .uint(value) }
        if let value = try? container.decode(Double.self) { return .double(value) }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Date.self) { return .date(value) }
        return .data(try container.decode(Data.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .uint(let value): try container.encode(value)
        case .float(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .dictionary(let members): try container.encode(members)
        }
    }

    /// The dictionary at the top of a property list, binary or XML.
    ///
    /// - Throws: `.decodingFailed`, saying where, for what is none, or is nested too deep.
    package static func members(ofPropertyList data: Data) throws -> [String: PropertyListTree] {
        try checkForm(data)
        guard case .dictionary(let members) = try tree(ofPropertyList: data) else {
            throw RoostError(
                .decodingFailed, "the property list has no dictionary at its top, and so no keys")
        }
        return members
    }

    /// What Foundation gives and takes as `Any`.
    ///
    /// - Throws: `.encodingFailed` where `object` is none that a property list holds.
    package init(object: Any) throws {
        guard PropertyListSerialization.propertyList([object], isValidFor: .binary) else {
            throw RoostError(
                .encodingFailed, "a \(type(of: object)) is nothing that a property list holds")
        }
        // Numbers come back as what a property list has them as, whatever Swift type they had.
        let data = try PropertyListSerialization.data(
            fromPropertyList: [object], format: .binary, options: 0)
        guard case .array(let trees) = try Self.tree(ofPropertyList: data) else {
            preconditionFailure("an array was written")
        }
        self = trees[0]
    }

    /// The value of a `Codable` type in property list form, which is the one element of an array.
    ///
    /// - Throws: `.decodingFailed` where `bytes` are no such list.
    static func value(inPropertyList bytes: [UInt8]) throws -> PropertyListTree {
        try bytes.withUnsafeBytes { try PropertyListBounds.check($0) }
        guard case .array(let values) = try tree(ofPropertyList: Data(bytes)),
            let value = values.first
        else { throw RoostError(.decodingFailed, "the property list holds no value") }
        return value
    }

    /// `Codable` would take whole real numbers for integers.
    private static func tree(ofPropertyList data: Data) throws -> PropertyListTree {
        let object: Any
        do {
            object = try PropertyListSerialization.propertyList(from: data, format: nil)
        } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"] ?? error
            throw RoostError(.decodingFailed, "this is no property list: \(reason)", cause: error)
        }
        return try PropertyListTree(read: object)
    }

    private init(read object: Any) throws {
        switch object {
        case let number as NSNumber: self = Self.number(number)
        case let value as String: self = .string(value)
        case let value as Date: self = .date(value)
        case let value as Data: self = .data(value)
        case let values as [Any]: self = .array(try values.map { try PropertyListTree(read: $0) })
        case let members as [String: Any]:
            self = .dictionary(try members.mapValues { try PropertyListTree(read: $0) })
        default:
            throw RoostError(
                .decodingFailed, "the property list holds a \(type(of: object)), which is no value")
        }
    }

    /// Booleans are numbers of the type `char` to Foundation, and nothing else in a property list is.
    private static func number(_ number: NSNumber) -> PropertyListTree {
        switch String(cString: number.objCType) {
        case "c", "B": .bool(number.boolValue)
        case "d", "f": .double(number.doubleValue)
        case "Q": Int64(exactly: number.uint64Value).map { .int($0) } ?? .uint(number.uint64Value)
        default: .int(number.int64Value)
        }
    }

    /// As Foundation has it: on Apple's platforms numbers and booleans are `NSNumber`, so that each casts to every type that holds
    /// it, and elsewhere values of Swift.
    package var object: Any {
        switch self {
        case .bool(let value): Self.number(value) { NSNumber(value: $0) }
        case .int(let value): Self.number(Int(value)) { NSNumber(value: $0) }
        case .uint(let value): Self.number(value) { NSNumber(value: $0) }
        case .float(let value): Self.number(value) { NSNumber(value: $0) }
        case .double(let value): Self.number(value) { NSNumber(value: $0) }
        case .string(let value): value
        case .data(let value): value
        case .date(let value): value
        case .array(let values): values.map(\.object)
        case .dictionary(let members): members.mapValues(\.object)
        }
    }

    private static func number<Value>(_ value: Value, _ boxed: (Value) -> NSNumber) -> Any {
        #if canImport(Darwin)
            boxed(value)
        #else
            value
        #endif
    }

    /// A parser goes down with what it reads, so that hostile nesting would end the process.
    private static func checkForm(_ data: Data) throws {
        let isBinary = data.starts(with: Array("bplist".utf8))
        let begin = data.drop { [0xef, 0xbb, 0xbf, 0x20, 0x09, 0x0a, 0x0d].contains($0) }
        guard isBinary || begin.first == UInt8(ascii: "<") else {
            throw RoostError(
                .decodingFailed,
                "this is no property list: it begins as neither a binary nor an XML one")
        }
        try data.withUnsafeBytes { bytes in
            guard isBinary else {
                var scan = XMLNesting(bytes, limit: PropertyListBounds.depthLimit)
                return try scan.check()
            }
            do { try PropertyListBounds.check(bytes) } catch let error as RoostError {
                throw RoostError(.decodingFailed, "this is no property list: \(error.message)")
            }
        }
    }
}
