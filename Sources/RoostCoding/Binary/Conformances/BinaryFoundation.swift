public import Foundation

extension Data: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// A length, and the bytes: the same form as `[UInt8]`.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        withUnsafeBytes { writer.writeBytes($0) }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        let bytes = try reader.takeBytes()
        self.init(bytes)
    }
}

extension Date: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .fixed64 }

    /// Seconds since 2001-01-01T00:00:00Z, as a `Double`: exactly what a `Date` holds.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        timeIntervalSinceReferenceDate.encode(into: &writer)
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
    }
}

extension UUID: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .fixed128 }

    /// The 16 bytes in the order in which they are printed.
    @inlinable
    public func encode(into writer: inout BinaryWriter) {
        withUnsafeBytes(of: uuid) { writer.writeRaw($0) }
    }

    @inlinable
    public init(from reader: inout BinaryReader) throws {
        self.init(uuid: try reader.takeRaw(16).loadUnaligned(as: uuid_t.self))
    }
}

extension URL: BinaryCodable {
    @inlinable public static var binaryShape: BinaryShape { .bytes }

    /// The string; for a URL with a base, the relative string, a zero byte, and the base.
    ///
    /// One without any text, which components without parts give, could not be read again: it is refused.
    public func encode(into writer: inout BinaryWriter) {
        if relativeString.isEmpty, URL(string: "", relativeTo: baseURL) == nil {
            return writer.refuse()
        }
        guard let baseURL else { return relativeString.encode(into: &writer) }
        (relativeString + "\0" + baseURL.absoluteString).encode(into: &writer)
    }

    public init(from reader: inout BinaryReader) throws {
        let text = try String(from: &reader)
        let parts = text.split(separator: "\0", omittingEmptySubsequences: false).map(String.init)
        let url: URL? =
            switch parts.count {
            case 1: URL(string: parts[0])
            case 2: URL(string: parts[1]).flatMap { URL(string: parts[0], relativeTo: $0) }
            default: nil
            }
        guard let url else { throw reader.invalidValue("\(text.debugDescription) is not a URL") }
        self = url
    }
}
