/// How a snapshot's first key begins. Each group's first key is front-coded against it, as every
/// other is against the one before it. It stands in the footer, so that opening looks at no group.
/// docs/FORMAT.md, "Footer".
///
/// ```
/// offset  size  field
///      0     1  count, at most 19
///      1    19  the first bytes of the key, zeros after them
/// ```
package struct FirstKey: Equatable, Sendable {
    package static let capacity = 19
    package static let sizeBytes = 20

    /// The bytes as they are on disk.
    private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

    package init() {}

    package init(_ key: UnsafeRawBufferPointer) {
        let count = min(key.count, Self.capacity)
        withUnsafeMutableBytes(of: &words) { bytes in
            bytes[0] = UInt8(count)
            bytes[1...].copyBytes(from: key[..<(key.startIndex + count)])
        }
    }

    /// `nil` where the count is out of range.
    init?(readFrom start: UnsafeRawPointer) {
        withUnsafeMutableBytes(of: &words) {
            $0.copyMemory(from: .init(start: start, count: Self.sizeBytes))
        }
        guard count <= Self.capacity else { return nil }
    }

    func write(to target: UnsafeMutableRawPointer) {
        withUnsafeBytes(of: words) {
            target.copyMemory(from: $0.baseAddress.unsafelyUnwrapped, byteCount: Self.sizeBytes)
        }
    }

    package var count: Int { Int(UInt64(littleEndian: words.0) & 0xff) }

    /// Calls `body` with the bytes, which are valid during the call.
    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows
        -> Result
    {
        try withUnsafeBytes(of: words) {
            try body(.init(start: $0.baseAddress.unsafelyUnwrapped + 1, count: count))
        }
    }

    /// With how many of these bytes `key` begins.
    @inline(__always)
    func sharedCount(with key: UnsafeRawBufferPointer) -> Int {
        withBytes { RoostFormat.commonPrefixCount($0, key) }
    }

    package static func == (left: FirstKey, right: FirstKey) -> Bool {
        left.words == right.words
    }
}
