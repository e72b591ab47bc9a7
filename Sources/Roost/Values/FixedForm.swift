import Foundation
import RoostEngine
import RoostFormat

/// The types that are stored in a form of their own: the integers little-endian, text as UTF-8,
/// bytes as they are.
enum FixedForm {
    private static let bytesType = ObjectIdentifier([UInt8].self)

    /// The kind that values of `type` are stored as, or `nil` where they are coded.
    @inline(__always)
    static func kind<Value>(of type: Value.Type) -> ValueKind? {
        if type == Int.self { return .int }
        if type == String.self { return .string }
        // The type of an array is looked up by the runtime each time that it is named.
        if ObjectIdentifier(type) == bytesType { return .bytes }
        if type == Data.self { return .data }
        if type == Double.self { return .double }
        if type == Bool.self { return .bool }
        return kindOfNarrow(type)
    }

    private static func kindOfNarrow<Value>(_ type: Value.Type) -> ValueKind? {
        switch ObjectIdentifier(type) {
        case ObjectIdentifier(Int8.self): .int8
        case ObjectIdentifier(Int16.self): .int16
        case ObjectIdentifier(Int32.self): .int32
        case ObjectIdentifier(Int64.self): .int64
        case ObjectIdentifier(UInt.self): .uint
        case ObjectIdentifier(UInt8.self): .uint8
        case ObjectIdentifier(UInt16.self): .uint16
        case ObjectIdentifier(UInt32.self): .uint32
        case ObjectIdentifier(UInt64.self): .uint64
        case ObjectIdentifier(Int128.self): .int128
        case ObjectIdentifier(UInt128.self): .uint128
        case ObjectIdentifier(Float.self): .float
        default: nil
        }
    }

    /// The stored form of `value`, or `nil` where it is coded.
    @inline(__always)
    static func encode<Value>(_ value: Value) -> EncodedValue? {
        guard let kind = kind(of: Value.self) else { return nil }
        let payload: EncodedValue.Payload =
            switch kind {
            case .bool: .inline(same(value, Bool.self) ? 1 : 0, count: 1)
            case .int: word(Int64(same(value, Int.self)))
            case .int8: word(same(value, Int8.self))
            case .int16: word(same(value, Int16.self))
            case .int32: word(same(value, Int32.self))
            case .int64: word(same(value, Int64.self))
            case .uint: word(UInt64(same(value, UInt.self)))
            case .uint8: word(same(value, UInt8.self))
            case .uint16: word(same(value, UInt16.self))
            case .uint32: word(same(value, UInt32.self))
            case .uint64: word(same(value, UInt64.self))
            case .float: word(same(value, Float.self).bitPattern)
            case .double: word(same(value, Double.self).bitPattern)
            case .string: .string(same(value, String.self))
            case .data: .bytes([UInt8](same(value, Data.self)))
            case .bytes: .bytes(same(value, [UInt8].self))
            case .int128: wide(UInt128(bitPattern: same(value, Int128.self)))
            case .uint128: wide(same(value, UInt128.self))
            case .binary, .json, .propertyList, .roost: preconditionFailure("not a fixed form")
            }
        return EncodedValue(kind: kind.rawValue, payload: payload)
    }

    /// The value in `payload`, or `nil` where its length or content is wrong. `Value` is the
    /// type whose kind was stored.
    @inline(__always)
    static func decode<Value>(_ payload: UnsafeRawBufferPointer, as type: Value.Type) -> Value? {
        guard let kind = kind(of: type) else { return nil }
        switch kind {
        case .bool:
            guard payload.count == 1, payload[0] <= 1 else { return nil }
            return same(payload[0] == 1, type)
        case .int: return number(payload, Int64.self).map { same(Int($0), type) }
        case .int8: return number(payload, Int8.self).map { same($0, type) }
        case .int16: return number(payload, Int16.self).map { same($0, type) }
        case .int32: return number(payload, Int32.self).map { same($0, type) }
        case .int64: return number(payload, Int64.self).map { same($0, type) }
        case .uint: return number(payload, UInt64.self).map { same(UInt($0), type) }
        case .uint8: return number(payload, UInt8.self).map { same($0, type) }
        case .uint16: return number(payload, UInt16.self).map { same($0, type) }
        case .uint32: return number(payload, UInt32.self).map { same($0, type) }
        case .uint64: return number(payload, UInt64.self).map { same($0, type) }
        case .float: return number(payload, UInt32.self).map { same(Float(bitPattern: $0), type) }
        case .double: return number(payload, UInt64.self).map { same(Double(bitPattern: $0), type) }
        case .string:
            return String(validating: payload, as: UTF8.self).map { same($0, type) }
        case .data: return same(Data(payload), type)
        case .bytes: return same([UInt8](payload), type)
        case .int128: return number(payload, Int128.self).map { same($0, type) }
        case .uint128: return number(payload, UInt128.self).map { same($0, type) }
        case .binary, .json, .propertyList, .roost: return nil
        }
    }

    /// The value of stored bytes, kind and payload, in the fixed form of `type`; else `nil`.
    @inline(__always)
    static func value<Value>(stored bytes: UnsafeRawBufferPointer, as type: Value.Type) -> Value? {
        guard let kind = kind(of: type), bytes.first == kind.rawValue else { return nil }
        return decode(UnsafeRawBufferPointer(rebasing: bytes[1...]), as: type)
    }

    private static func word<Integer: FixedWidthInteger>(_ value: Integer) -> EncodedValue.Payload {
        .inline(UInt64(truncatingIfNeeded: value), count: UInt8(MemoryLayout<Integer>.size))
    }

    private static func wide(_ value: UInt128) -> EncodedValue.Payload {
        .bytes(withUnsafeBytes(of: value.littleEndian) { Array($0) })
    }

    @inline(__always)
    private static func number<Integer: FixedWidthInteger>(
        _ payload: UnsafeRawBufferPointer, _ type: Integer.Type
    ) -> Integer? {
        guard payload.count == MemoryLayout<Integer>.size, let base = payload.baseAddress else {
            return nil
        }
        return base.load(type, at: 0)
    }

    /// `value` as the type that it is known to have: what a cast would give, without its cost.
    @inline(__always)
    static func same<From, To>(_ value: From, _ type: To.Type) -> To {
        assert(From.self == To.self)
        // The two types are one: callers come here by the kind of the one.
        return unsafeBitCast(value, to: To.self)
    }
}
