import Foundation
import Roost
import RoostCoding
import RoostFormat

/// A stored value for people: what it is rather than how it is stored. A `Codable` value is shown as the
/// tree that it is, whichever coder wrote it; `export` shows the bytes that `import` restores.
package enum ReadableForm {
    package static func json(_ stored: StoredValue) -> JSONValue {
        guard let plain = stored.plain?.value else { return StoredForm.json(stored) }
        return tree(plain) ?? StoredForm.json(plain)
    }

    /// Text as it is, everything else as JSON.
    package static func text(_ stored: StoredValue) -> String {
        let json = json(stored)
        return if case .string(let text) = json { text } else { json.text }
    }

    /// When the value expires, as ISO 8601 to the millisecond; `nil` where it stays.
    package static func expiration(_ stored: StoredValue) -> String? {
        stored.plain?.deadlineMilliseconds.map {
            MomentText.text(Date(milliseconds: $0))
        }
    }

    /// The date that eight bytes of a binary value are where they were stored as a `Date`, as ISO 8601; `nil` for what is
    /// none of the years 1900 to 2199.
    ///
    /// A guess: the kind of a binary value does not tell its type.
    package static func date(_ stored: StoredValue) -> String? {
        guard let plain = stored.plain?.value, ValueKind(rawValue: plain.kind) == .binary,
            plain.payload.count == 8
        else { return nil }
        let bits = plain.payload.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
        let seconds = Double(bitPattern: UInt64(littleEndian: bits))
        guard (-3_187_296_000.0..<6_279_811_200.0).contains(seconds) else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
            .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// `nil` where the value is no coded one, or does not decode.
    private static func tree(_ plain: StoredValue) -> JSONValue? {
        // As it was written, with all digits of its numbers.
        if ValueKind(rawValue: plain.kind) == .json { return jsonTree(plain.payload) }
        return valueTree(plain)?.json
    }

    /// What a coded value holds; `nil` where the value is none, or does not decode. Without flags in
    /// its kind.
    package static func valueTree(_ plain: StoredValue) -> ValueTree? {
        switch ValueKind(rawValue: plain.kind) {
        // What does not decode is shown as it is stored.
        case .roost: try? RoostCoder().decode(ValueTree.self, from: plain.payload)
        case .propertyList: propertyList(plain.payload)
        case .json: jsonTree(plain.payload).flatMap { try? ValueTree(json: $0) }
        default: nil
        }
    }

    private static func jsonTree(_ payload: [UInt8]) -> JSONValue? {
        guard case .array(let values) = payload.withUnsafeBytes({ try? JSONParser.parse($0) }),
            values.count == 1
        else { return nil }
        return values[0]
    }

    private static func propertyList(_ payload: [UInt8]) -> ValueTree? {
        // The decoder follows containers however deep they go, and into themselves.
        do { try payload.withUnsafeBytes { try PropertyListBounds.check($0) } } catch { return nil }
        let decoder = PropertyListDecoder()
        return (try? decoder.decode([ValueTree].self, from: Data(payload)))?.first
    }
}
