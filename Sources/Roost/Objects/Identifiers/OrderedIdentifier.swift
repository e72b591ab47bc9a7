import Foundation

/// An identifier whose keys go in the order of its values, so that the objects stand in it: the integers, `UUID` and `Date`.
/// Texts do not, as Swift orders them by another form than their keys have. docs/decisions/0245.
protocol OrderedIdentifier: KeyRepresentable, IndexRepresentable {
    /// The key of the value with this form, which is as long as the type's forms are. A form that only a wider type
    /// has is given that one's key: it is greater than all keys of this type, or less, as the form is.
    static func key(form: [UInt8]) -> [UInt8]
}

/// How the keys of a type of identifiers follow from what a condition and a cursor say: from forms, whose order
/// they have.
struct IdentifierOrder: Sendable {
    private let formSizeBytes: Int
    private let keyOfForm: @Sendable ([UInt8]) -> [UInt8]
    private let formOfKey: @Sendable ([UInt8]) -> [UInt8]?

    /// `nil` where the keys of a type go in another order than its values.
    init?(of type: Any.Type) {
        guard let type = type as? any OrderedIdentifier.Type else { return nil }
        self.init(type)
    }

    private init?<ID: OrderedIdentifier>(_ type: ID.Type) {
        guard case .fixed(let sizeBytes) = ID.indexShape.layout else { return nil }
        formSizeBytes = sizeBytes
        keyOfForm = { ID.key(form: $0) }
        formOfKey = { key in
            ID(key: String(decoding: key, as: UTF8.self)).map { IndexForm($0).bytes }
        }
    }

    /// The form of the identifier with a key; `nil` where it is the key of none.
    func form(key: [UInt8]) -> [UInt8]? { formOfKey(key) }

    /// The keys of the identifiers whose forms are in a region.
    func ranges(_ region: IndexRegion) -> [IndexRegion.Interval] {
        region.intervals.compactMap { interval in
            guard let lower = firstKey(from: interval.lower) else { return nil }
            let range = IndexRegion.Interval(
                lower: lower, upper: interval.upper.flatMap { firstKey(from: $0) })
            return range.isEmpty ? nil : range
        }
    }

    /// The key of the first form that is not before `bound`; `nil` where all are.
    private func firstKey(from bound: [UInt8]) -> [UInt8]? {
        if bound.isEmpty { return [] }
        var form = bound
        if bound.count > formSizeBytes {
            guard let follower = followerOfPrefix(Array(bound.prefix(formSizeBytes))) else {
                return nil
            }
            form = follower
        }
        return keyOfForm(form + Array(repeating: 0, count: formSizeBytes - form.count))
    }
}

extension FixedWidthInteger {
    fileprivate static func integerKey(form: [UInt8]) -> [UInt8] {
        let bits = form.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        guard isSigned else { return key(isNegative: false, bits) }
        // Zero has the sign's bit in its form.
        let zero: UInt128 = 1 << (form.count * 8 - 1)
        return bits >= zero
            ? key(isNegative: false, bits - zero) : key(isNegative: true, zero - bits)
    }

    private static func key(isNegative: Bool, _ magnitude: UInt128) -> [UInt8] {
        Array(Roost.integerKey(isNegative: isNegative, magnitude: magnitude).utf8)
    }
}

extension Int: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension Int8: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension Int16: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension Int32: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension Int64: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension Int128: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt8: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt16: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt32: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt64: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UInt128: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { integerKey(form: form) }
}

extension UUID: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] {
        Array(form.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }.key.utf8)
    }
}
