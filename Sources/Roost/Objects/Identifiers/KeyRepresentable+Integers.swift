// Integers as keys that go in numeric order and stay readable: a letter that says how many digits
// follow, and the digits. Zero is "a0", 12 is "b12", 345 is "c345". Of a negative number the letter
// counts down from "Z" and each digit is what it lacks to nine: -1 is "Z8", -12 is "Y87". All widths
// have one form, so that a wider type reads what a narrower one wrote. docs/decisions/0080.

/// The key of a number of this sign and magnitude.
func integerKey(isNegative: Bool, magnitude: UInt128) -> String {
    var digits: [UInt8] = []
    var rest = magnitude
    repeat {
        let digit = UInt8(truncatingIfNeeded: rest % 10)
        digits.append(UInt8(ascii: "0") + (isNegative ? 9 - digit : digit))
        rest /= 10
    } while rest > 0
    digits.append(contentsOf: lengthLetters(digits.count, isNegative).reversed())
    return String(decoding: digits.reversed(), as: UTF8.self)
}

/// Up to twenty digits one letter; more, which only the widest types have, a second one.
private func lengthLetters(_ count: Int, _ isNegative: Bool) -> [UInt8] {
    let letters = count <= 20 ? [count - 1] : [20, count - 21]
    return letters.map { letter in
        isNegative ? UInt8(ascii: "Z") - UInt8(letter) : UInt8(ascii: "a") + UInt8(letter)
    }
}

/// The number with this key; `nil` where it is none's.
func integer(key: String) -> (isNegative: Bool, magnitude: UInt128)? {
    var bytes = Array(key.utf8)[...]
    guard let first = bytes.popFirst() else { return nil }
    let isNegative = first <= UInt8(ascii: "Z")
    guard var count = letterValue(first, isNegative) else { return nil }
    if count == 20 {
        guard let second = bytes.popFirst().flatMap({ letterValue($0, isNegative) }),
            second < 19
        else { return nil }
        count += second
    }
    guard bytes.count == count + 1 else { return nil }
    var magnitude: UInt128 = 0
    for byte in bytes {
        guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
        let digit = byte - UInt8(ascii: "0")
        let (product, hasOverflown) = magnitude.multipliedReportingOverflow(by: 10)
        let (sum, isTooLarge) = product.addingReportingOverflow(
            UInt128(isNegative ? 9 - digit : digit))
        if hasOverflown || isTooLarge { return nil }
        magnitude = sum
    }
    // Leading zeros and a negative zero would be second keys of one number.
    guard integerKey(isNegative: isNegative, magnitude: magnitude) == key,
        !(isNegative && magnitude == 0)
    else { return nil }
    return (isNegative, magnitude)
}

private func letterValue(_ letter: UInt8, _ isNegative: Bool) -> Int? {
    let value =
        isNegative
        ? Int(UInt8(ascii: "Z")) - Int(letter) : Int(letter) - Int(UInt8(ascii: "a"))
    return value >= 0 && value <= 20 ? value : nil
}

extension FixedWidthInteger {
    fileprivate var numericKey: String {
        integerKey(isNegative: self < 0, magnitude: UInt128(magnitude))
    }

    fileprivate init?(numericKey key: String) {
        guard let (isNegative, magnitude) = integer(key: key) else { return nil }
        if isNegative {
            // The lowest number has no positive counterpart.
            guard Self.isSigned, magnitude <= UInt128(Self.min.magnitude) else { return nil }
            self = 0 &- Self(truncatingIfNeeded: magnitude)
        } else {
            self.init(exactly: magnitude)
        }
    }
}

extension Int: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension Int8: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension Int16: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension Int32: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension Int64: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt8: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt16: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt32: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt64: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension Int128: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}

extension UInt128: KeyRepresentable {
    public var key: String { numericKey }
    public init?(key: String) { self.init(numericKey: key) }
}
