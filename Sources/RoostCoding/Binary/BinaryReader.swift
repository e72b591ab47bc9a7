import RoostIO

/// Reads encoded values from bytes that it does not own.
///
/// Invariants:
/// - `start <= cursor <= end`, and nothing outside of `start` and `end` is ever read.
/// - `firstField`, once set, is where the fields of the value begin. While `order` is unknown,
///   all fields from there to `cursor` were asked for one by one, `lastNumber` being the last.
/// - Every length is compared with what is left before anything is allocated for it.
/// - The memory outlives the reader: a reader is only made by ``decode(_:from:)`` and for values
///   inside a value, is handed out as `inout`, and cannot be copied.
public struct BinaryReader: ~Copyable {
    /// What is known of the order of the fields of this value.
    @usableFromInline
    enum FieldOrder {
        /// `rest`: the fields from where it was looked at ascend, from above the number of the last one before; those
        /// before it, each of which was asked for, may not.
        case unknown, rest, ascending, mixed
    }

    @usableFromInline let start: UnsafeRawPointer
    @usableFromInline var cursor: UnsafeRawPointer
    @usableFromInline let end: UnsafeRawPointer
    /// Where the fields of this value begin, once a field was asked for.
    @usableFromInline var firstField: UnsafeRawPointer?
    /// The type being read, for messages.
    @usableFromInline let owner: Any.Type
    @usableFromInline let depth: Int32
    @usableFromInline var order = FieldOrder.unknown
    /// The number of the field that was asked for last.
    @usableFromInline var lastNumber = 0
    /// How often a field that was asked for was not the next one.
    @usableFromInline var searchCount: Int32 = 0

    @inlinable @inline(__always)
    init(from start: UnsafeRawPointer, to end: UnsafeRawPointer, depth: Int32, owner: Any.Type) {
        self.start = start
        cursor = start
        self.end = end
        self.depth = depth
        self.owner = owner
    }

    /// The number of bytes of this value that have not been read.
    @inlinable
    public var remainingCount: Int { end - cursor }

    /// Whether all bytes of this value have been read.
    @inlinable
    public var isAtEnd: Bool { cursor == end }

    /// Reads one value that takes up all of `bytes`.
    ///
    /// - Throws: `RoostError` with `.decodingFailed` when the bytes are not such a value, or go
    ///   on after it.
    @inlinable
    public static func decode<Value: BinaryCodable>(
        _ type: Value.Type, from bytes: UnsafeRawBufferPointer
    ) throws -> Value {
        guard let start = bytes.baseAddress else {
            return try withUnsafeBytes(of: UInt8(0)) {
                try decode(type, from: UnsafeRawBufferPointer(rebasing: $0[..<0]))
            }
        }
        var reader = BinaryReader(
            from: start, to: start + bytes.count, depth: 0, owner: Value.self)
        let value = try Value(from: &reader)
        try reader.finish()
        return value
    }

    /// As ``decode(_:from:)``, for an array.
    @inlinable
    public static func decode<Value: BinaryCodable>(
        _ type: Value.Type, from bytes: [UInt8]
    ) throws -> Value {
        try bytes.withUnsafeBytes { try decode(type, from: $0) }
    }

    /// A reader for a part of this one's bytes, from the position to `limit`.
    @inlinable @inline(__always)
    func nested(to limit: UnsafeRawPointer, owner: Any.Type) throws -> BinaryReader {
        guard depth < Int32(BinaryLimits.depth) else { throw tooDeep() }
        return BinaryReader(from: cursor, to: limit, depth: depth + 1, owner: owner)
    }

    /// Checks that nothing but fields that were not asked for is left.
    @inlinable @inline(__always)
    mutating func finish() throws {
        if cursor != end { try finishUnread() }
    }

    @usableFromInline @inline(never)
    mutating func finishUnread() throws {
        guard firstField != nil || cursor == start else {
            throw failure("\(remainingCount) bytes follow the value")
        }
        while cursor != end { try skipField() }
    }
}
