/// A decimal number in the one form that each number has, to tell whether two texts are the
/// same number, or which is less, to the last digit.
package struct DecimalForm: Comparable {
    private var isNegative: Bool
    /// From the first digit that is not zero to the last.
    private var digits: [UInt8]
    /// The power of ten that the last digit counts.
    private var exponent: Int

    /// `nil` where the exponent is beyond all reason.
    package init?(_ text: String) {
        isNegative = text.hasPrefix("-")
        digits = []
        exponent = 0
        var isBehindPoint = false
        var rest = Substring(text).utf8.drop { $0 == UInt8(ascii: "-") }
        while let byte = rest.first {
            rest.removeFirst()
            switch byte {
            case UInt8(ascii: "."): isBehindPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                digits.append(byte)
                if isBehindPoint { exponent -= 1 }
            default:
                guard let power = Int32(Substring(rest)) else { return nil }
                exponent += Int(power)
                rest = rest[rest.endIndex...]
            }
        }
        digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        if digits.isEmpty { exponent = 0 }
    }

    /// Minus zero, which is another number than zero here, is less than that.
    package static func < (left: DecimalForm, right: DecimalForm) -> Bool {
        if left.isNegative != right.isNegative { return left.isNegative }
        return left.isNegative ? right.isSmaller(than: left) : left.isSmaller(than: right)
    }

    /// Whether it is less but for the signs.
    private func isSmaller(than other: DecimalForm) -> Bool {
        if digits.isEmpty || other.digits.isEmpty { return !other.digits.isEmpty && digits.isEmpty }
        let (power, otherPower) = (digits.count + exponent, other.digits.count + other.exponent)
        return power == otherPower
            ? digits.lexicographicallyPrecedes(other.digits) : power < otherPower
    }
}
