import Foundation

extension Bool: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { IndexShape(.fixed(1), "bool") }
    public func encode(into form: inout IndexForm) { form.append(self ? 2 : 1) }
}

extension Double: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape {
        // NaN is last, and compares to nothing.
        IndexShape(
            .fixed(8), "double", endOfOrdered: Array(repeating: 0xff, count: 8))
    }

    /// The bits, turned so that they go up with the value; negative zero is zero.
    public func encode(into form: inout IndexForm) {
        if isNaN { form.isUnequal = true }
        form.append(bigEndian: orderedBits)
    }

    fileprivate var orderedBits: UInt64 {
        if isNaN { return .max }
        let bits = (self == 0 ? 0 : self).bitPattern
        return bits & (1 << 63) == 0 ? bits | 1 << 63 : ~bits
    }
}

extension Float: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { Double.indexShape }
    public func encode(into form: inout IndexForm) { Double(self).encode(into: &form) }
}

extension Date: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { Double.indexShape }
    public func encode(into form: inout IndexForm) {
        timeIntervalSinceReferenceDate.encode(into: &form)
    }
}

extension UUID: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape { IndexShape(.fixed(16), "uuid") }
    public func encode(into form: inout IndexForm) {
        withUnsafeBytes(of: uuid) { form.bytes.append(contentsOf: $0) }
    }
}

extension Decimal: IndexRepresentable, KnownForm {
    public static var indexShape: IndexShape {
        IndexShape(.fixed(Self.formSizeBytes), "decimal-nan-first")
    }

    private static var formSizeBytes: Int { 19 }

    /// The sign; 16 bits of a power of ten; a mantissa that fills its 16 bytes as far as a power of ten
    /// lets it, so that of two powers the higher is the larger number. NaN is equal to itself and less than
    /// every number, as Foundation compares decimals.
    public func encode(into form: inout IndexForm) {
        if isNaN {
            return form.bytes.append(contentsOf: repeatElement(0, count: Self.formSizeBytes))
        }
        let start = form.bytes.count
        // A whole number below 2^128, whose text has no power of ten.
        var mantissa = UInt128("\(significand.magnitude)") ?? 0
        guard mantissa > 0 else {
            form.append(2)
            return form.bytes.append(contentsOf: repeatElement(0, count: Self.formSizeBytes - 1))
        }
        var power = exponent
        while mantissa % 10 == 0 {
            mantissa /= 10
            power += 1
        }
        while mantissa <= UInt128.max / 10 {
            mantissa *= 10
            power -= 1
        }
        form.append(3)
        form.append(bigEndian: UInt16(power + 32_768))
        form.append(bigEndian: mantissa)
        guard self < 0 else { return }
        form.invert(from: start)
        form.bytes[start] = 1
    }
}
