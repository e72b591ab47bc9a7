import Foundation
import RoostCoding
import RoostFormat
import RoostIO

/// JSON and property lists hold one value at the top that may be no object: a wrapper of one
/// element makes every value an array, which both formats take at the top.
func encodeCodable<Value: Encodable>(_ value: Value, _ coder: ValueCoder) throws -> [UInt8] {
    switch coder {
    case .roost: return try RoostCoder().encode(value)
    case .json:
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
        // It refuses more levels than can be read.
        return Array(try encoder.encode([value]))
    case .propertyList:
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let bytes = Array(try encoder.encode([value]))
        do { try bytes.withUnsafeBytes { try PropertyListBounds.check($0) } } catch {
            throw unreadable(Value.self, error)
        }
        return bytes
    }
}

/// What is written must be readable.
private func unreadable(_ type: Any.Type, _ error: any Error) -> RoostError {
    let reason = (error as? RoostError)?.message ?? "\(error)"
    return RoostError(
        .encodingFailed, "\(type) could not be read again: \(reason)", cause: error)
}

/// Thrown where a codec does not do the kind that a value is stored as.
struct UnknownKind: Error {}

/// Throws `UnknownKind` where `kind` is none of `Codable`'s.
func decodeCodable<Value: Decodable>(
    _ type: Value.Type, _ kind: ValueKind, _ payload: UnsafeRawBufferPointer
) throws -> Value {
    switch kind {
    case .roost: return try RoostCoder().decode(Value.self, from: payload)
    case .json:
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: "+inf", negativeInfinity: "-inf", nan: "nan")
        return try onlyValue(try decoder.decode([Value].self, from: Data(payload)))
    case .propertyList:
        try PropertyListBounds.check(payload)
        return try onlyValue(try PropertyListDecoder().decode([Value].self, from: Data(payload)))
    default: throw UnknownKind()
    }
}

/// Of the array that both of Foundation's forms are.
private func onlyValue<Value>(_ values: [Value]) throws -> Value {
    guard let value = values.first else { throw UnknownKind() }
    return value
}
