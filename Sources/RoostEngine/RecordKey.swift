import RoostFormat

// In this module, so that the compiler specialises it for each use.
//
// Only for functions that are not `async`: inlined into one, the compiler (6.3.1) took the copies
// into the temporary buffer for dead stores, and every key hashed the same.
extension DictionaryName {
    /// Calls `body` with the record key of `key` in this dictionary.
    @inline(__always)
    func withRecordKey<Result>(
        _ key: String, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        var key = key
        return try key.withUTF8 { utf8 in
            try withUnsafeTemporaryAllocation(
                byteCount: prefix.count + utf8.count, alignment: 8
            ) { buffer in
                prefix.withUnsafeBytes { buffer.copyMemory(from: $0) }
                if let base = utf8.baseAddress {
                    (buffer.baseAddress! + prefix.count).copyMemory(
                        from: base, byteCount: utf8.count)
                }
                return try body(UnsafeRawBufferPointer(buffer))
            }
        }
    }
}

extension Engine {
    /// A key's place among the shards and in their tables. Not inlined, for the reason above.
    @inline(never)
    func hash(of key: String, in name: DictionaryName) -> UInt64 {
        name.withRecordKey(key) { hashSeed.hash($0) }
    }
}
