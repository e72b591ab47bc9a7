import RoostFormat

/// Brings stored values up to date while compaction copies them. Called on compaction's threads.
package protocol ValueRewriter: Sendable {
    /// Zero while nothing is rewritten; grows whenever more may be.
    var generation: UInt64 { get }

    /// Whether values of the dictionary with this prefix may be rewritten.
    func concerns(dictionary prefix: UnsafeRawBufferPointer) -> Bool

    /// What is to stand in the place of `value`, kind and payload; `nil` where it stays.
    func rewrite(
        _ value: UnsafeRawBufferPointer, inDictionary prefix: UnsafeRawBufferPointer
    ) -> EncodedValue?
}

extension ValueRewriter {
    /// The dictionary's prefix of a record key where its values may be rewritten.
    func prefix(of recordKey: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
        guard let length = recordKey.first, recordKey.count > Int(length) else { return nil }
        let prefix = UnsafeRawBufferPointer(rebasing: recordKey[..<(1 + Int(length))])
        return concerns(dictionary: prefix) ? prefix : nil
    }
}
