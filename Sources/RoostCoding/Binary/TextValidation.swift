extension String {
    /// The text of UTF-8 bytes, or `nil` when they are not valid.
    ///
    /// ASCII, by far the most frequent, is recognised eight bytes at a time: far faster than
    /// the standard library's validating initialiser, which other text goes through.
    @usableFromInline
    init?(validUTF8 bytes: UnsafeRawBufferPointer) {
        let text = bytes.withMemoryRebound(to: UInt8.self) {
            Self.isASCII(bytes)
                ? String(decoding: $0, as: UTF8.self) : String(validating: $0, as: UTF8.self)
        }
        guard let text else { return nil }
        self = text
    }

    @inline(__always)
    private static func isASCII(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress else { return true }
        var seen: UInt64 = 0
        var offset = 0
        while offset + 8 <= bytes.count {
            seen |= (start + offset).loadUnaligned(as: UInt64.self)
            offset += 8
        }
        while offset < bytes.count {
            seen |= UInt64((start + offset).load(as: UInt8.self))
            offset += 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }
}
