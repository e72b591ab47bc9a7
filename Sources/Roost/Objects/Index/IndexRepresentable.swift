/// A type that an index can keep in order: the integers, `Bool`, `Double`, `Float`, `String`, `Date`,
/// `UUID`, `Data`, `[UInt8]`, `Decimal`, `URL`, and optionals of these; `nil` is before all others.
///
/// Enums and structs with such a raw value are by an empty conformance; any other type hands on to
/// what it consists of:
///
/// ```swift
/// extension Color: IndexRepresentable {}                       // enum Color: String
/// extension Version: IndexRepresentable {
///     static var indexShape: IndexShape { Int.indexShape }
///     func encode(into form: inout IndexForm) { number.encode(into: &form) }
/// }
/// ```
///
/// An enum that is `Comparable` in another order than that of its raw values, as `low, medium, high` with texts, has to be
/// `CaseIterable` too: its forms are the places of the cases in their order then. One that is not, and a struct of which
/// `<` compares something else than the raw value, hands on what `<` compares.
///
/// Values that are `==` have one form, and others different ones; where the type is `Comparable`, its
/// `<` is the order of what stands in the form.
public protocol IndexRepresentable: Equatable, Sendable {
    /// How the forms of the type's values are laid out. A change of it makes another index of each that has such a field.
    static var indexShape: IndexShape { get }
    /// Appends the value's form: just one, as the shape says, by what the type consists of. Forms compare by their bytes as
    /// the values do. What appends none or several cannot be stored in an index: `.encodingFailed`.
    func encode(into form: inout IndexForm)
}

/// A type of this library's, whose forms are as its layout says.
protocol KnownForm {}

extension IndexRepresentable {
    /// The layout by which to look at what the type appends; `nil` where that is known to be right.
    static var layoutToCheck: IndexShape.Layout? {
        self is any KnownForm.Type ? nil : indexShape.layout
    }
}

extension Optional: KnownForm where Wrapped: KnownForm {}

extension IndexRepresentable where Self: RawRepresentable, RawValue: IndexRepresentable {
    /// That of the raw value.
    public static var indexShape: IndexShape { RawValue.indexShape }
    /// Appends the form of the raw value.
    public func encode(into form: inout IndexForm) { rawValue.encode(into: &form) }
}

extension Optional: IndexRepresentable where Wrapped: IndexRepresentable {
    public static var indexShape: IndexShape { Wrapped.indexShape.optional() }

    public func encode(into form: inout IndexForm) {
        guard let value = self else { return form.append(IndexShape.absent) }
        form.append(IndexShape.present)
        value.encode(into: &form)
    }
}

extension FixedWidthInteger {
    /// Big-endian, with the sign's bit turned, in 8 bytes; in 16 the widest.
    fileprivate func encodeInteger(into form: inout IndexForm) {
        if Self.bitWidth > 64 {
            let bits = UInt128(truncatingIfNeeded: self)
            form.append(bigEndian: Self.isSigned ? bits ^ (1 << 127) : bits)
        } else if Self.isSigned {
            form.append(bigEndian: UInt64(truncatingIfNeeded: Int64(self)) ^ (1 << 63))
        } else {
            form.append(bigEndian: UInt64(self))
        }
    }

    fileprivate static var integerShape: IndexShape {
        let size = bitWidth > 64 ? 16 : 8
        return IndexShape(.fixed(size), "\(isSigned ? "int" : "uint")\(size * 8)")
    }
}

extension Int: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension Int8: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension Int16: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension Int32: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension Int64: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt8: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt16: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt32: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt64: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension Int128: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}

extension UInt128: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { integerShape }
    public func encode(into form: inout IndexForm) { encodeInteger(into: &form) }
}
