import Foundation
import RoostIO

/// A type whose values can be keys of a dictionary, and so identifiers of a repository's objects.
///
/// `String`, all integers, `UUID` and `Date` are. Types with a raw value of these are by an empty conformance,
/// and `repository(of:)` takes them without one; so are types that are `LosslessStringConvertible`,
/// by their description.
///
/// ```swift
/// struct InvoiceID: KeyRepresentable {
///     var year: Int, number: Int
///     var key: String { year.key + number.key }                  // in the order of both
///     init?(key: String) { … }
/// }
/// ```
///
/// - Equal values have one key, different ones different keys, and `init(key:)` undoes `key`.
/// - Keys are ordered by their UTF-8 bytes: where a type has an order, its keys should have the same, so
///   that scans and pages go by it.
/// - The key is what is stored, and so may never change for a value.
public protocol KeyRepresentable: Hashable, Sendable {
    /// The key, up to 64 KiB of UTF-8.
    var key: String { get }
    /// `nil` where `key` is no such value's.
    init?(key: String)
}

extension KeyRepresentable where Self: LosslessStringConvertible {
    public var key: String { description }
    public init?(key: String) { self.init(key) }
}

extension KeyRepresentable where Self: RawRepresentable, RawValue: KeyRepresentable {
    public var key: String { rawValue.key }
    public init?(key: String) {
        guard let rawValue = RawValue(key: key) else { return nil }
        self.init(rawValue: rawValue)
    }
}

extension String: KeyRepresentable {
    public var key: String { self }
    public init?(key: String) { self = key }
}

extension UUID: KeyRepresentable {
    /// As `uuidString`, which goes by the bytes.
    public var key: String {
        withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var place = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[place] = UInt8(ascii: "-")
                        place += 1
                    }
                    text[place] = hexadecimalDigit(byte >> 4)
                    text[place + 1] = hexadecimalDigit(byte & 15)
                    place += 2
                }
                return place
            }
        }
    }

    /// Takes what `key` gives, and nothing else: lower case would be a second key.
    public init?(key: String) {
        self.init(uuidString: key)
        guard key.utf8.elementsEqual(self.key.utf8) else { return nil }
    }
}

func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
}

/// How the identifiers of one type become keys and come back.
struct IdentifierForm<ID: Sendable>: Sendable {
    let key: @Sendable (ID) -> String
    let identifier: @Sendable (String) -> ID?
}

extension IdentifierForm where ID: KeyRepresentable {
    static var own: IdentifierForm { IdentifierForm(key: { $0.key }, identifier: { ID(key: $0) }) }
}

extension IdentifierForm where ID: RawRepresentable, ID.RawValue: KeyRepresentable {
    static var raw: IdentifierForm {
        IdentifierForm(
            key: { $0.rawValue.key },
            identifier: { ID.RawValue(key: $0).flatMap { ID(rawValue: $0) } })
    }
}
