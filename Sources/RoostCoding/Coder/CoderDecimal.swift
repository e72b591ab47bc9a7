import Foundation

/// A `Decimal` as sign, exponent and significand, without trailing zeros: equal values are
/// written as equal bytes.
struct CoderDecimal {
    var isNegative: Bool
    var isNaN: Bool
    var exponent: Int
    var significand: UInt128

    init(_ value: Decimal) {
        isNaN = value.isNaN
        isNegative = value.isSignMinus && !isNaN
        var rest = Self.significand(of: value)
        var power = value.exponent
        if isNaN || rest == 0 {
            (exponent, significand, isNegative) = (0, 0, false)
            return
        }
        while power < Int(Int8.max) {
            let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
            guard remainder == 0 else { break }
            rest = quotient
            power += 1
        }
        (exponent, significand) = (power, rest)
    }

    /// The digits without the exponent, which are an integer of at most 128 bits.
    private static func significand(of value: Decimal) -> UInt128 {
        let digits = value.significand.magnitude
        if digits <= Decimal(UInt64.max) {
            return UInt128(NSDecimalNumber(decimal: digits).uint64Value)
        }
        return UInt128(digits.description) ?? 0
    }

    /// The decimal, unless the parts are out of its range.
    var value: Decimal? {
        if isNaN { return .nan }
        guard (-128...127).contains(exponent) else { return nil }
        // The one form of each value: anything else was not written by `encode(into:)`.
        guard significand % 10 != 0 || exponent == 0 || exponent == 127 else { return nil }
        // Arithmetic takes the zero off the significand, and there is no exponent above 127 to make up for it.
        if exponent == 127, significand % 10 == 0 {
            return significand == 0
                ? 0 : Decimal(string: "\(isNegative ? "-" : "")\(significand)e127")
        }
        var digits = Decimal(UInt64(truncatingIfNeeded: significand))
        if significand > UInt128(UInt64.max) {
            let high = Decimal(UInt64(truncatingIfNeeded: significand >> 64))
            digits += high * (Decimal(UInt64.max) + 1)
        }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: digits)
    }
}

extension CoderDecimal: BinaryCodable {
    private static let notANumber: UInt8 = 2

    func encode(into writer: inout BinaryWriter) {
        writer.writeFixed(isNaN ? Self.notANumber : isNegative ? 1 : 0)
        exponent.encode(into: &writer)
        significand.encode(into: &writer)
    }

    init(from reader: inout BinaryReader) throws {
        let sign = try reader.readFixed(UInt8.self)
        guard sign <= Self.notANumber else {
            throw reader.invalidValue("not the sign of a decimal")
        }
        isNaN = sign == Self.notANumber
        isNegative = sign == 1
        exponent = try Int(from: &reader)
        significand = try UInt128(from: &reader)
    }
}
