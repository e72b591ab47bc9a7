/// The instant from which on a value is gone, in milliseconds since 1970.
public struct Deadline: Sendable, Hashable, Comparable {
    public let milliseconds: UInt64

    @inlinable @inline(__always)
    public init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// Of a value that does not expire.
    @inlinable @inline(__always) public static var never: Deadline { Deadline(milliseconds: .max) }

    /// What is written lies before this, so that adding to it never overflows.
    public static let latest = Deadline(milliseconds: 1 << 62)

    @inlinable @inline(__always)
    public static func < (left: Deadline, right: Deadline) -> Bool {
        left.milliseconds < right.milliseconds
    }
}
