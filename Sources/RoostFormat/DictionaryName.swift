import RoostIO

/// A dictionary's name as it stands before each of its record keys: one byte of length, then
/// the name in UTF-8. So a record's key says its dictionary, the records of one dictionary are
/// neighbours in every sorted snapshot, and no catalogue has to be kept.
///
/// A class, so that handing one on costs one reference, not two.
public final class DictionaryName: Sendable, Hashable {
    public let name: String
    /// The length byte and the name.
    public let prefix: [UInt8]
    /// The same bytes, to be read without counting references; valid as long as the name is held.
    ///
    /// `nonisolated(unsafe)`: written by `init` alone, before anybody else has the object.
    public nonisolated(unsafe) let prefixBytes: UnsafeRawBufferPointer

    /// `nil` where the name is longer than 255 bytes.
    public init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count <= Limits.dictionaryNameSizeBytes else { return nil }
        self.name = name
        prefix = [UInt8(bytes.count)] + bytes
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: prefix.count, alignment: 8)
        copy.copyBytes(from: prefix)
        prefixBytes = UnsafeRawBufferPointer(copy)
    }

    /// A dictionary that no user can name: its name begins with a byte that no UTF-8 has. At most 254
    /// bytes.
    package init(hidden bytes: [UInt8], shownAs name: String) {
        self.name = name
        prefix = [UInt8(bytes.count + 1), Self.hiddenByte] + bytes
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: prefix.count, alignment: 8)
        copy.copyBytes(from: prefix)
        prefixBytes = UnsafeRawBufferPointer(copy)
    }

    package static let hiddenByte: UInt8 = 0xff

    deinit { prefixBytes.deallocate() }

    /// Compared by bytes, not by Swift's canonical equivalence.
    public static func == (left: DictionaryName, right: DictionaryName) -> Bool {
        left.prefix == right.prefix
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(prefix) }
}

/// The two parts of a record key that was found on disk; `nil` where it is not one.
public func splitRecordKey(
    _ key: UnsafeRawBufferPointer
) -> (dictionary: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer)? {
    guard let length = key.first, key.count > Int(length) else { return nil }
    return (
        .init(rebasing: key[1..<(1 + Int(length))]), .init(rebasing: key[(1 + Int(length))...])
    )
}

/// Orders record keys by their bytes, a shorter one before what it begins.
@inlinable @inline(__always)
public func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0 {
        let order = compareMemory(left.baseAddress!, right.baseAddress!, common)
        if order != 0 { return order }
    }
    return left.count - right.count
}
