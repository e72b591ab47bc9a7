import RoostFormat

extension EncodedValue {
    /// Whether `stored`, kind and payload, is what this would write.
    package func isSame(as stored: UnsafeRawBufferPointer) -> Bool {
        guard stored.count == count, stored[0] == kind else { return false }
        let other = UnsafeRawBufferPointer(rebasing: stored[1...])
        switch payload {
        case .inline(let word, let count):
            return withUnsafeBytes(of: word.littleEndian) {
                equalBytes(.init(rebasing: $0[..<Int(count)]), other)
            }
        case .bytes(let bytes): return bytes.withUnsafeBytes { equalBytes($0, other) }
        case .string(var string): return string.withUTF8 { equalBytes(.init($0), other) }
        }
    }
}
