extension Bool: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .varint }

    /// One byte: 0 or 1.
    @inlinable
    public func encode(into writer: inout BinaryWriter) { writer.writeVarint(self ? 1 : 0) }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let value = try reader.readVarint()
        guard value <= 1 else { throw reader.doesNotFit() }
        self = value == 1
    }
}

extension Float: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .fixed32 }

    /// The four bytes of the IEEE 754 form, which keeps every bit of a NaN.
    @inlinable
    public func encode(into writer: inout BinaryWriter) { writer.writeFixed(bitPattern) }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init(bitPattern: try reader.readFixed(UInt32.self))
    }
}

extension Double: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .fixed64 }

    /// The eight bytes of the IEEE 754 form, which keeps every bit of a NaN.
    @inlinable
    public func encode(into writer: inout BinaryWriter) { writer.writeFixed(bitPattern) }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init(bitPattern: try reader.readFixed(UInt64.self))
    }
}

extension String: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// A length, and the UTF-8 bytes as they are.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        let wasWritten: Void? = utf8.withContiguousStorageIfAvailable {
            writer.writeBytes(UnsafeRawBufferPointer($0))
        }
        guard wasWritten == nil else { return }
        var copy = self
        copy.withUTF8 { writer.writeBytes(UnsafeRawBufferPointer($0)) }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let bytes = try reader.takeBytes()
        guard let text = String(validUTF8: bytes) else {
            throw reader.invalidValue("a string is not valid UTF-8")
        }
        self = text
    }
}

/// A type with a raw value is written as that value. An enum with raw values needs no more than
/// to name the protocol: `enum Theme: String, BinaryCodable { … }`. One that writes itself in another
/// way must state its `binaryShape` too, as `@BinaryCodable` does.
extension BinaryCodable where Self: RawRepresentable, RawValue: BinaryCodable {
    /// That of the raw value.
    @inlinable public static var binaryShape: BinaryShape { RawValue.binaryShape }

    @inlinable
    public func encode(into writer: inout BinaryWriter) { rawValue.encode(into: &writer) }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let rawValue = try RawValue(from: &reader)
        guard let value = Self(rawValue: rawValue) else {
            throw reader.invalidValue("\(Self.self) has no value \(rawValue)")
        }
        self = value
    }
}
