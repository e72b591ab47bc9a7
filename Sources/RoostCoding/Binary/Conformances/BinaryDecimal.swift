public import Foundation

extension Decimal: BinaryCodable {
    /// A sign, an exponent, and the digits without trailing zeros: equal values have equal bytes.
    public func encode(into writer: inout BinaryWriter) {
        CoderDecimal(self).encode(into: &writer)
    }

    public init(from reader: inout BinaryReader) throws {
        guard let value = try CoderDecimal(from: &reader).value else {
            throw reader.invalidValue("not a decimal, or not in its one form")
        }
        self = value
    }
}
