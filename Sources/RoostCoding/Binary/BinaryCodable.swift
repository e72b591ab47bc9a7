/// A value that writes and reads its own compact bytes.
///
/// A struct writes numbered fields, so that fields can come and go between versions:
///
/// ```swift
/// struct Draft: BinaryCodable {
///     var title: String
///     var tags: [String]
///
///     func encode(into writer: inout BinaryWriter) {
///         writer.field(1, title)
///         writer.field(2, tags)
///     }
///
///     init(from reader: inout BinaryReader) throws {
///         title = try reader.field(1)
///         tags = try reader.field(2, default: [])
///     }
/// }
/// ```
///
/// A reader skips numbers that it does not ask for. Never give a dropped field's number to a
/// new field. Fields are read fastest in the order in which they were written, which should be
/// ascending; any other order is read too.
///
/// An enum writes ``BinaryWriter/caseNumber(_:)`` and then the fields of the case. A value that
/// will never change may instead write its parts by ``BinaryWriter/write(_:)`` and read them
/// back in the same order by ``BinaryReader/read(_:)``.
///
/// The bytes are described in docs/FORMAT-values.md.
public protocol BinaryCodable {
    /// Appends the value. Equal values must append equal bytes.
    func encode(into writer: inout BinaryWriter)

    /// Reads a value from the reader's position.
    ///
    /// - Throws: `RoostError` with `.decodingFailed` when the bytes are not such a value.
    init(from reader: inout BinaryReader) throws

    /// How the encoded bytes end. The default, ``BinaryShape/message``, suits every type that
    /// writes fields, and is right for all others too.
    ///
    /// The shape is part of the stored form: changing it makes stored fields unreadable.
    static var binaryShape: BinaryShape { get }
}

extension BinaryCodable {
    /// A message: whoever contains the value writes its length.
    @inlinable
    public static var binaryShape: BinaryShape { .message }
}

/// How a reader that does not know a value's type finds the value's end.
public enum BinaryShape: Sendable {
    /// One variable-length integer of at most 19 bytes.
    case varint
    /// 4 bytes.
    case fixed32
    /// 8 bytes.
    case fixed64
    /// 16 bytes.
    case fixed128
    /// Bytes that begin with their own length, written by the value itself.
    case bytes
    /// Bytes whose length the container writes in front of them.
    case message

    /// The low three bits of a field's tag: on disk, never renumber.
    @inlinable
    var wireType: UInt64 {
        switch self {
        case .varint: 0
        case .fixed64: 1
        case .bytes, .message: 2
        case .fixed128: 3
        case .fixed32: 5
        }
    }

    /// The wire type of a field that stands for `nil` where a missing one stands for a default: another one than
    /// that of values. Its content is one zero byte.
    @inlinable
    var wireTypeOfNil: UInt64 { wireType == 2 ? 0 : 2 }
}

/// Limits of the binary form.
@usableFromInline
enum BinaryLimits {
    /// Messages, arrays and optionals inside one another. Bounds the native stack in use.
    @usableFromInline static let depth = 512
    /// The highest field number: a tag then fits five bytes.
    @usableFromInline static let fieldNumber = (1 << 29) - 1
}
