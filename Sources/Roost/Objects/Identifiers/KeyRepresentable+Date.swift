import Foundation

extension Date: KeyRepresentable {
    /// Sixteen hexadecimal digits, which go up with the moment and keep it exactly: the bits of
    /// `timeIntervalSinceReferenceDate`, as an index has them.
    ///
    /// A date whose interval is not a number is no moment: its key is behind all, and is the key of none.
    public var key: String { hexadecimalKey(IndexForm(self).bytes) }

    /// Takes what `key` gives, and nothing else: lower case would be a second key.
    public init?(key: String) {
        guard let ordered = UInt64(key, radix: 16) else { return nil }
        let signBit: UInt64 = 1 << 63
        let bits = ordered & signBit == 0 ? ~ordered : ordered ^ signBit
        let interval = Double(bitPattern: bits)
        self.init(timeIntervalSinceReferenceDate: interval)
        guard !interval.isNaN, key.utf8.elementsEqual(self.key.utf8) else { return nil }
    }
}

extension Date: OrderedIdentifier {
    static func key(form: [UInt8]) -> [UInt8] { Array(hexadecimalKey(form).utf8) }
}

private func hexadecimalKey(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: bytes.count * 2) { text in
        for (place, byte) in bytes.enumerated() {
            text[place * 2] = hexadecimalDigit(byte >> 4)
            text[place * 2 + 1] = hexadecimalDigit(byte & 15)
        }
        return bytes.count * 2
    }
}
