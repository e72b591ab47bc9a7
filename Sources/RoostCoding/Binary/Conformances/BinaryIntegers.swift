/// Unsigned integers are varints, so that a field's integer type may become wider later.
/// Signed ones are first folded so that small negative numbers stay short: 0, -1, 1, -2, 2 …
extension FixedWidthInteger where Self: UnsignedInteger {
    @inlinable @inline(__always)
    func encodeUnsigned(into writer: inout BinaryWriter) {
        writer.writeVarint(UInt64(truncatingIfNeeded: self))
    }

    @inlinable @inline(__always)
    init(unsignedFrom reader: inout BinaryReader) throws {
        let value = try reader.readVarint()
        guard let result = Self(exactly: value) else { throw reader.doesNotFit() }
        self = result
    }
}

extension FixedWidthInteger where Self: SignedInteger {
    @inlinable @inline(__always)
    func encodeSigned(into writer: inout BinaryWriter) {
        let value = Int64(truncatingIfNeeded: self)
        writer.writeVarint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    @inlinable @inline(__always)
    init(signedFrom reader: inout BinaryReader) throws {
        let folded = try reader.readVarint()
        let value = Int64(bitPattern: folded >> 1) ^ -Int64(bitPattern: folded & 1)
        guard let result = Self(exactly: value) else { throw reader.doesNotFit() }
        self = result
    }
}

extension UInt8: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeUnsigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(unsignedFrom: &reader) }
}

extension UInt16: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeUnsigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(unsignedFrom: &reader) }
}

extension UInt32: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeUnsigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(unsignedFrom: &reader) }
}

extension UInt64: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeUnsigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(unsignedFrom: &reader) }
}

extension UInt: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeUnsigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(unsignedFrom: &reader) }
}

extension Int8: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeSigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(signedFrom: &reader) }
}

extension Int16: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeSigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(signedFrom: &reader) }
}

extension Int32: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeSigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(signedFrom: &reader) }
}

extension Int64: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeSigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(signedFrom: &reader) }
}

extension Int: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { encodeSigned(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws { try self.init(signedFrom: &reader) }
}
