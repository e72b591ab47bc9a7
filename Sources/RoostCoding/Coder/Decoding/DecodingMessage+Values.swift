import Foundation
import RoostIO

/// Reading any `Decodable` value.
extension DecodingMessage {
    /// Reads a value whose end has been found, inside the one at `parent`.
    @inline(__always)
    func decode<Value: Decodable>(
        _ type: Value.Type, _ value: CoderValue, _ step: @autoclosure () -> Place.Step,
        in parent: Place
    ) throws -> Value {
        let kind = state.pointee.kinds.kind(of: type)
        guard kind != .plain else { return try Value(from: nest(value, step(), in: parent)) }
        return try decodeKnown(type, kind, value) {
            try Value(from: nest(value, step(), in: parent))
        }
    }

    /// Reads a value of a type that has a form of its own, or `other` than in that form.
    func decodeKnown<Value: Decodable>(
        _ type: Value.Type, _ kind: CoderTypeKind, _ value: CoderValue,
        else other: () throws -> Value
    ) throws -> Value {
        // The kind was derived from the identity of the type. (Neither an optional of `Value` nor
        // a result is made on the way: their types would be looked up each time.)
        @inline(__always)
        func same<Known>(_ known: Known) -> Value {
            withUnsafePointer(to: known) {
                UnsafeRawPointer($0).assumingMemoryBound(to: type).pointee
            }
        }
        switch kind {
        case .plain, .hashed: break
        case .bool: if let known = value.bool() { return same(known) }
        case .int: if let known = try value.integer(Int.self) { return same(known) }
        case .int8: if let known = try value.integer(Int8.self) { return same(known) }
        case .int16: if let known = try value.integer(Int16.self) { return same(known) }
        case .int32: if let known = try value.integer(Int32.self) { return same(known) }
        case .int64: if let known = try value.integer(Int64.self) { return same(known) }
        case .int128: if let known = try value.integer(Int128.self) { return same(known) }
        case .uint: if let known = try value.integer(UInt.self) { return same(known) }
        case .uint8: if let known = try value.integer(UInt8.self) { return same(known) }
        case .uint16: if let known = try value.integer(UInt16.self) { return same(known) }
        case .uint32: if let known = try value.integer(UInt32.self) { return same(known) }
        case .uint64: if let known = try value.integer(UInt64.self) { return same(known) }
        case .uint128: if let known = try value.integer(UInt128.self) { return same(known) }
        case .float: if let known = try value.float() { return same(known) }
        case .double: if let known = try value.double() { return same(known) }
        case .string: if let known = try value.string() { return same(known) }
        case .bytes: if let known = try value.bytes(CoderTag.bytes) { return same([UInt8](known)) }
        case .data: if let known = try value.bytes(CoderTag.bytes) { return same(Data(known)) }
        case .date: if let known = try value.date() { return same(known) }
        case .uuid: if let known = try value.uuid() { return same(known) }
        case .url: if let known = try value.url() { return same(known) }
        case .decimal: if let known = try value.decimal() { return same(known) }
        case .strings: if let known = try value.elements({ try $0.string() }) { return same(known) }
        case .ints:
            if let known = try value.elements({ try $0.integer(Int.self) }) { return same(known) }
        case .doubles: if let known = try value.elements({ try $0.double() }) { return same(known) }
        }
        return try other()
    }
}
