extension Optional: BinaryCodable where Wrapped: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// A length, and the value; the length alone, 0, when there is none.
    ///
    /// An optional *field* is shorter: it is left out when `nil`.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        guard let self else { return writer.writeVarint(0) }
        writer.frame { $0.write(self) }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let length = try reader.takeLength()
        guard length > 0 else {
            self = nil
            return
        }
        var content = try reader.nested(to: reader.cursor + length, owner: reader.owner)
        self = try content.read(Wrapped.self)
        guard content.isAtEnd else { throw content.invalidValue("bytes follow an optional value") }
        reader.cursor += length
    }
}

extension Array: BinaryCodable where Element: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// A length in bytes, and the elements one after another. `[UInt8]` is its bytes: no array of wider integers reads it.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        if Element.self == UInt8.self {
            withUnsafeBytes { writer.writeBytes($0) }
        } else {
            writer.frame {
                for element in self { $0.write(element) }
            }
        }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        if Element.self == UInt8.self {
            let bytes = try reader.takeBytes()
            self = bytes.withMemoryRebound(to: Element.self) { Array($0) }
            return
        }
        self.init()
        try reader.readElements { elements in
            append(try elements.read(Element.self))
        }
    }
}

extension BinaryReader {
    /// Reads a length, and calls `body` until it has read that many bytes.
    @inlinable @inline(__always)
    mutating func readElements(_ body: (inout BinaryReader) throws -> Void) throws {
        let length = try takeLength()
        guard length > 0 else { return }
        var elements = try nested(to: cursor + length, owner: owner)
        while !elements.isAtEnd {
            let position = elements.cursor
            try body(&elements)
            guard elements.cursor > position else { throw elements.invalidValue("empty element") }
        }
        cursor += length
    }
}
