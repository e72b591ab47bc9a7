/// The representation of a string, for telling at once that two strings are equal.
///
/// Equal bits are equal text as long as both strings live: short text is in the bits themselves,
/// and longer text is where they point to. Different bits say nothing. So whoever keeps the bits
/// keeps the string too.
struct StringBits: Equatable {
    private var words: (UInt, UInt)

    @inline(__always)
    init(_ string: String) { words = unsafeBitCast(string, to: (UInt, UInt).self) }

    /// The bits of a string in memory.
    @inline(__always)
    init(at pointer: UnsafeMutablePointer<String>) {
        words = UnsafeRawPointer(pointer).load(as: (UInt, UInt).self)
    }

    @inline(__always)
    static func == (one: StringBits, other: StringBits) -> Bool {
        one.words.0 == other.words.0 && one.words.1 == other.words.1
    }
}
