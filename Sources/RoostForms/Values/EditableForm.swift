import Foundation
import Roost
import RoostCoding
import RoostFormat

/// A stored value as text that a person may change, and what that text is stored as: the kind stays, and
/// so does the deadline.
///
/// - A value has such a text only where the unchanged text would be stored as the very same bytes. The text passes
///   through a field of a page, which makes every carriage return a line feed.
package enum EditableForm {
    /// Why a text cannot be stored.
    package typealias Failure = StoredForm.Failure

    /// `nil` where the value cannot be changed as text without a loss.
    package static func text(_ stored: StoredValue) -> String? {
        guard let plain = stored.plain?.value, let kind = ValueKind(rawValue: plain.kind),
            let text = text(plain, kind), !text.utf8.contains(UInt8(ascii: "\r")),
            let again = try? payload(text, kind, inPlaceOf: plain.payload), again == plain.payload
        else { return nil }
        return text
    }

    /// What `text` is stored as in the place of `stored`.
    package static func stored(
        _ text: String, inPlaceOf stored: StoredValue
    ) throws(Failure) -> StoredValue {
        guard let plain = stored.plain, let kind = ValueKind(rawValue: plain.value.kind) else {
            throw Failure(reason: "a value of this kind cannot be changed as text")
        }
        let payload = try payload(text, kind, inPlaceOf: plain.value.payload)
        return StoredValue(
            StoredValue(kind: kind.rawValue, payload: payload),
            deadlineMilliseconds: plain.deadlineMilliseconds,
            version: UInt32(clamping: plain.version))
    }

    // MARK: Within

    private static func text(_ plain: StoredValue, _ kind: ValueKind) -> String? {
        switch kind {
        case .string: return String(validating: plain.payload, as: UTF8.self)
        case .bool, .int, .double: return StoredForm.json(plain).text
        case .json:
            guard
                case .array(let values) = plain.payload.withUnsafeBytes({
                    try? JSONParser.parse($0)
                }),
                values.count == 1
            else { return nil }
            return values[0].text
        case .roost: return ReadableForm.valueTree(plain)?.editable.text
        case .binary, .propertyList: return nil
        default:
            guard case .object(let members) = StoredForm.json(plain), members.count == 1 else {
                return nil
            }
            if case .string(let text) = members[0].value { return text }
            return members[0].value.text
        }
    }

    private static func payload(
        _ text: String, _ kind: ValueKind, inPlaceOf old: [UInt8]
    ) throws(Failure) -> [UInt8] {
        switch kind {
        case .string: return Array(text.utf8)
        case .bool:
            guard let value = Bool(text) else {
                throw Failure(reason: "true or false is stored here")
            }
            return [value ? 1 : 0]
        case .json: return try StoredForm.codableValue(try parse(text)).payload
        case .roost: return try coded(try ValueTree(editable: try parse(text)), inPlaceOf: old)
        case .binary, .propertyList:
            throw Failure(reason: "a value of this kind cannot be changed as text")
        case .data, .bytes: return try unwrapped(.string(text), kind)
        default:
            let isNumber = text.first.map { $0.isNumber || $0 == "-" } ?? false
            return try unwrapped(
                isNumber && !text.hasPrefix("-i") ? .number(text) : .string(text), kind)
        }
    }

    private static func parse(_ text: String) throws(Failure) -> JSONValue {
        do { return try JSONParser.parse(text) } catch {
            throw Failure(reason: "not JSON: \(error.reason) (at byte \(error.offset + 1))")
        }
    }

    /// Absent members stay absent where the tree has none of their name.
    private static func coded(
        _ tree: ValueTree, inPlaceOf old: [UInt8]
    ) throws(Failure) -> [UInt8] {
        do {
            let shape = try RoostCoder().decode(WrittenShape.self, from: old)
            return try RoostCoder().encode(ShapedTree(tree: tree, shape: shape))
        } catch {
            throw Failure(reason: "the value cannot be encoded: \(error)")
        }
    }

    private static func unwrapped(_ json: JSONValue, _ kind: ValueKind) throws(Failure) -> [UInt8] {
        try StoredForm.unwrap(json, as: .kind(kind), name: kind.typeName).payload
    }
}
