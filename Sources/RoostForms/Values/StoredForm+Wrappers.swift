import Foundation
import Roost
import RoostFormat

/// The floating-point values that JSON has no number for.
package enum Special {
    package static func text<Value: FloatingPoint>(
        _ value: Value, bits: some FixedWidthInteger & UnsignedInteger, nan: some FixedWidthInteger
    ) -> String {
        if value.isInfinite { return value < 0 ? "-inf" : "inf" }
        // A NaN may carry bits of its own.
        return bits == nan ? "nan" : "0x" + String(bits, radix: 16)
    }

    package static func value<Bits: FixedWidthInteger>(
        _ text: String, infinity: Bits, minusInfinity: Bits, nan: Bits
    ) -> Bits? {
        switch text {
        case "inf": infinity
        case "-inf": minusInfinity
        case "nan": nan
        default: text.hasPrefix("0x") ? Bits(text.dropFirst(2), radix: 16) : nil
        }
    }
}

extension StoredForm {
    package enum Wrapper {
        case kind(ValueKind)
        case raw
    }

    /// What the member names of wrappers stand for.
    package static let wrappers: [String: Wrapper] = [
        "$int8": .kind(.int8), "$int16": .kind(.int16), "$int32": .kind(.int32),
        "$int64": .kind(.int64), "$uint": .kind(.uint), "$uint8": .kind(.uint8),
        "$uint16": .kind(.uint16), "$uint32": .kind(.uint32), "$uint64": .kind(.uint64),
        "$int128": .kind(.int128), "$uint128": .kind(.uint128), "$float": .kind(.float),
        "$double": .kind(.double), "$data": .kind(.data), "$bytes": .kind(.bytes),
        "$binary": .kind(.binary), "$json": .kind(.json),
        "$propertyList": .kind(.propertyList), "$roost": .kind(.roost), "$raw": .raw,
    ]

    // MARK: Wrapping

    /// `nil` where the payload is not one of `kind`, or the kind has no wrapper.
    package static func wrap(_ payload: [UInt8], _ kind: ValueKind) -> JSONValue? {
        switch kind {
        case .int8: integer(payload, Int8.self).map { .members(["$int8": .integer($0)]) }
        case .int16: integer(payload, Int16.self).map { .members(["$int16": .integer($0)]) }
        case .int32: integer(payload, Int32.self).map { .members(["$int32": .integer($0)]) }
        case .int64: integer(payload, Int64.self).map { .members(["$int64": .integer($0)]) }
        case .uint: integer(payload, UInt64.self).map { .members(["$uint": .integer($0)]) }
        case .uint8: integer(payload, UInt8.self).map { .members(["$uint8": .integer($0)]) }
        case .uint16: integer(payload, UInt16.self).map { .members(["$uint16": .integer($0)]) }
        case .uint32: integer(payload, UInt32.self).map { .members(["$uint32": .integer($0)]) }
        case .uint64: integer(payload, UInt64.self).map { .members(["$uint64": .integer($0)]) }
        case .int128: integer(payload, Int128.self).map { .members(["$int128": .integer($0)]) }
        case .uint128: integer(payload, UInt128.self).map { .members(["$uint128": .integer($0)]) }
        case .float: integer(payload, UInt32.self).map { .members(["$float": float(bits: $0)]) }
        case .data: .members(["$data": .string(base64(payload))])
        case .bytes: .members(["$bytes": .string(base64(payload))])
        case .binary: .members(["$binary": .string(base64(payload))])
        case .propertyList: .members(["$propertyList": .string(base64(payload))])
        case .roost: .members(["$roost": .string(base64(payload))])
        case .bool, .int, .double, .string, .json: nil
        }
    }

    private static func float(bits: UInt32) -> JSONValue {
        let value = Float(bitPattern: bits)
        if value.isFinite { return .number(value.description) }
        return .string(Special.text(value, bits: bits, nan: Float.nan.bitPattern))
    }

    // MARK: Unwrapping

    package static func unwrap(
        _ json: JSONValue, as wrapper: Wrapper, name: String
    ) throws(Failure) -> StoredValue {
        let value: StoredValue? =
            switch wrapper {
            case .raw: unwrapRaw(json)
            case .kind(.json): try codableValue(json)
            case .kind(let kind): unwrapPayload(json, kind).map { StoredValue(kind, $0) }
            }
        guard let value else {
            throw Failure(reason: "\"\(name)\" does not hold what its name says")
        }
        return value
    }

    private static func unwrapPayload(_ json: JSONValue, _ kind: ValueKind) -> [UInt8]? {
        switch (kind, json) {
        case (.float, .number(let text)):
            return Float(text).flatMap { $0.isFinite ? littleEndian($0.bitPattern) : nil }
        case (.float, .string(let text)):
            return Special.value(
                text, infinity: Float.infinity.bitPattern,
                minusInfinity: (-Float.infinity).bitPattern, nan: Float.nan.bitPattern
            ).map { littleEndian($0) }
        case (.double, .number(let text)):
            return Double(text).flatMap { $0.isFinite ? littleEndian($0.bitPattern) : nil }
        case (.double, .string(let text)):
            return Special.value(
                text, infinity: Double.infinity.bitPattern,
                minusInfinity: (-Double.infinity).bitPattern, nan: Double.nan.bitPattern
            ).map { littleEndian($0) }
        case (_, .number(let text)): return integerPayload(text, kind)
        case (_, .string(let text)):
            switch kind {
            case .data, .bytes, .binary, .propertyList, .roost:
                return Data(base64Encoded: text).map { Array($0) }
            default: return nil
            }
        default: return nil
        }
    }

    private static func integerPayload(_ text: String, _ kind: ValueKind) -> [UInt8]? {
        switch kind {
        case .int8: Int8(text).map { littleEndian($0) }
        case .int16: Int16(text).map { littleEndian($0) }
        case .int32: Int32(text).map { littleEndian($0) }
        case .int, .int64: Int64(text).map { littleEndian($0) }
        case .uint: UInt64(text).map { littleEndian($0) }
        case .uint8: UInt8(text).map { littleEndian($0) }
        case .uint16: UInt16(text).map { littleEndian($0) }
        case .uint32: UInt32(text).map { littleEndian($0) }
        case .uint64: UInt64(text).map { littleEndian($0) }
        case .int128: Int128(text).map { littleEndian($0) }
        case .uint128: UInt128(text).map { littleEndian($0) }
        default: nil
        }
    }

    private static func unwrapRaw(_ json: JSONValue) -> StoredValue? {
        guard case .object(let members) = json, members.count == 2,
            members[0].name == "kind", case .number(let text) = members[0].value,
            let kind = UInt8(text),
            members[1].name == "payload", case .string(let encoded) = members[1].value,
            let payload = Data(base64Encoded: encoded)
        else { return nil }
        return StoredValue(kind: kind, payload: Array(payload))
    }
}
