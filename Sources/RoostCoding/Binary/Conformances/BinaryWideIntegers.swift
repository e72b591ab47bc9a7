/// As the narrower integers, in up to 19 bytes.
extension UInt128: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { writer.writeVarint(wide: self) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { self = try reader.readWideVarint() }
}

extension Int128: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        writer.writeVarint(wide: UInt128(bitPattern: self << 1 ^ self >> 127))
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let folded = try reader.readWideVarint()
        self = Int128(bitPattern: folded >> 1) ^ -Int128(bitPattern: folded & 1)
    }
}
