import Foundation
import Roost
import RoostFormat

/// How stored values are shown as JSON, and JSON becomes stored values.
///
/// Plain JSON is stored so that a program reads it as it would expect: true and false as Bool,
/// text as String, whole numbers as Int, other numbers as Double, and null, arrays, objects and
/// numbers that neither Int nor Double holds to the last digit as a `Codable` value in JSON.
///
/// Every other kind is shown as an object of one member whose name says the kind, and read back
/// from that, so that what `export` writes `import` restores bit for bit:
///
/// | shown as | stored kind |
/// |---|---|
/// | `{"$int8": -1}` … `{"$uint128": 1}` | that integer type |
/// | `{"$float": 0.5}`, `{"$double": "nan"}` | Float; Doubles that JSON has no number for |
/// | `{"$data": "…"}`, `{"$bytes": "…"}` | Data, `[UInt8]`, in base 64 |
/// | `{"$binary": "…"}`, `{"$propertyList": "…"}`, `{"$roost": "…"}` | coded types, in base 64 |
/// | `{"$json": …}` | a `Codable` value in JSON that plain JSON would store otherwise |
/// | `{"$raw": {"kind": 99, "payload": "…"}}` | what this version does not know, in base 64 |
package enum StoredForm {
    /// Why a JSON value cannot be stored.
    package struct Failure: Error { package var reason: String }

    // MARK: JSON to stored

    package static func stored(_ json: JSONValue) throws(Failure) -> StoredValue {
        if case .object(let members) = json, members.count == 1,
            let kind = wrappers[members[0].name]
        {
            return try unwrap(members[0].value, as: kind, name: members[0].name)
        }
        return try plain(json)
    }

    package static func string(_ text: String) -> StoredValue {
        StoredValue(.string, Array(text.utf8))
    }

    /// The stored form of JSON that is no wrapper.
    private static func plain(_ json: JSONValue) throws(Failure) -> StoredValue {
        switch json {
        case .bool(let value): return StoredValue(.bool, [value ? 1 : 0])
        case .string(let text): return string(text)
        case .number(let text): return number(text) ?? coded(json)
        case .null, .array, .object: return try codableValue(json)
        }
    }

    /// `nil` where neither Int nor Double holds the number to the last digit.
    private static func number(_ text: String) -> StoredValue? {
        let isWhole = !text.contains { $0 == "." || $0 == "e" || $0 == "E" }
        // Minus zero is a Double; an Int has none.
        if isWhole, text != "-0" {
            return Int64(text).map { StoredValue(.int, littleEndian($0)) }
        }
        if let value = Double(text), value.isFinite, let form = DecimalForm(text),
            form == DecimalForm(value.description)
        {
            return StoredValue(.double, littleEndian(value.bitPattern))
        }
        return nil
    }

    /// What is stored has one level more than what it is made of.
    private static let depthLimit = JSONParser.maximumDepth - 1

    /// As `ValueCoder.json` writes it: in an array of one element.
    private static func coded(_ json: JSONValue) -> StoredValue {
        var payload: [UInt8] = []
        JSONValue.array([json]).write(to: &payload)
        return StoredValue(.json, payload)
    }

    /// JSON as a `Codable` value, whatever it is.
    ///
    /// - Throws: where it is nested so deep that nobody could read what is stored.
    package static func codableValue(_ json: JSONValue) throws(Failure) -> StoredValue {
        guard json.isNested(atMost: depthLimit) else {
            throw Failure(reason: "nested more than \(depthLimit) deep")
        }
        return coded(json)
    }

    package static func littleEndian(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.littleEndian) { Array($0) }
    }

    // MARK: Stored to JSON

    package static func json(_ value: StoredValue) -> JSONValue {
        let shown: JSONValue? =
            switch ValueKind(rawValue: value.kind) {
            case nil: nil
            case .bool: bool(value.payload)
            case .string: String(validating: value.payload, as: UTF8.self).map { .string($0) }
            case .int: integer(value.payload, Int64.self).map { .integer($0) }
            case .double: integer(value.payload, UInt64.self).map { double(bits: $0) }
            case .json: codableJSON(value.payload)
            case .some(let kind): wrap(value.payload, kind)
            }
        return shown ?? raw(value)
    }

    private static func double(bits: UInt64) -> JSONValue {
        let value = Double(bitPattern: bits)
        if value.isFinite { return .number(value.description) }
        let text = Special.text(value, bits: bits, nan: Double.nan.bitPattern)
        return .members(["$double": .string(text)])
    }

    private static func bool(_ payload: [UInt8]) -> JSONValue? {
        switch payload {
        case [0]: .bool(false)
        case [1]: .bool(true)
        default: nil
        }
    }

    private static func codableJSON(_ payload: [UInt8]) -> JSONValue? {
        let parsed = payload.withUnsafeBytes { bytes -> JSONValue? in
            // What is no JSON is shown as it is stored instead.
            do { return try JSONParser.parse(bytes) } catch { return nil }
        }
        guard case .array(let elements) = parsed, elements.count == 1 else { return nil }
        let isWrapper =
            if case .object(let members) = elements[0], members.count == 1 {
                wrappers[members[0].name] != nil
            } else {
                false
            }
        if !isWrapper, isStoredAsJSON(elements[0]) { return elements[0] }
        return .members(["$json": elements[0]])
    }

    /// Whether plain JSON is stored as a `Codable` value.
    private static func isStoredAsJSON(_ json: JSONValue) -> Bool {
        switch json {
        case .bool, .string: false
        case .number(let text): number(text) == nil
        case .null, .array, .object: true
        }
    }

    private static func raw(_ value: StoredValue) -> JSONValue {
        .members([
            "$raw": .members([
                "kind": .integer(value.kind), "payload": .string(base64(value.payload)),
            ])
        ])
    }

    package static func base64(_ payload: [UInt8]) -> String { Data(payload).base64EncodedString() }

    package static func integer<Integer: FixedWidthInteger>(
        _ payload: [UInt8], _ type: Integer.Type
    ) -> Integer? {
        guard payload.count == MemoryLayout<Integer>.size else { return nil }
        return payload.reversed().reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
    }
}
