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
        try RoostEngine.withRecordKey(key, behind: prefixBytes, body)
    }

    /// How many bytes the record key of `key` has.
    @inline(__always)
    func recordKeyCount(of key: String) -> Int { prefixBytes.count + key.utf8.count }

    /// Writes the record key of `key`.
    @inline(__always)
    func copyRecordKey(_ key: String, to target: UnsafeMutableRawPointer) {
        RoostEngine.copyRecordKey(key, behind: prefixBytes, to: target)
    }
}

@inline(__always)
private func copyRecordKey(
    _ key: String, behind prefix: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
) {
    target.copyMemory(from: prefix.baseAddress.unsafelyUnwrapped, byteCount: prefix.count)
    key.copyBytes(to: target + prefix.count)
}

/// As `DictionaryName.withRecordKey`, by the name's `prefixBytes`.
@inline(__always)
func withRecordKey<Result>(
    _ key: String, behind prefix: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    var key = key
    return try key.withUTF8 { utf8 in
        try withUnsafeTemporaryAllocation(
            byteCount: prefix.count + utf8.count, alignment: 8
        ) { buffer in
            let start = buffer.baseAddress.unsafelyUnwrapped
            start.copyMemory(
                from: prefix.baseAddress.unsafelyUnwrapped, byteCount: prefix.count)
            if let base = utf8.baseAddress {
                (start + prefix.count).copyMemory(from: base, byteCount: utf8.count)
            }
            return try body(UnsafeRawBufferPointer(buffer))
        }
    }
}

/// As `withRecordKey`, for look-ups: `prefix` is the `prefixBytes` of a dictionary's name. Makes no copy
/// of the string and captures no reference, whose counting costs a look-up a fifteenth each. In writes,
/// which capture more, the compiler counts more for it.
@inline(__always)
func withLookUpKey<Result: ~Copyable>(
    _ key: String, behind prefix: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) throws -> Result
) rethrows -> Result {
    try withUnsafeTemporaryAllocation(
        byteCount: prefix.count + key.utf8.count, alignment: 8
    ) { buffer in
        copyRecordKey(key, behind: prefix, to: buffer.baseAddress.unsafelyUnwrapped)
        return try body(UnsafeRawBufferPointer(buffer))
    }
}

@inline(__always)
func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: UnsafeRawBufferPointer) -> Bool {
    key.count >= prefix.count && equalBytes(.init(rebasing: key[..<prefix.count]), prefix)
}

func hasPrefix(_ key: UnsafeRawBufferPointer, _ prefix: [UInt8]) -> Bool {
    prefix.withUnsafeBytes { hasPrefix(key, $0) }
}

extension String {
    /// Copies all of the UTF-8.
    @inline(__always)
    fileprivate func copyBytes(to target: UnsafeMutableRawPointer) {
        let isCopied: Void? = utf8.withContiguousStorageIfAvailable { bytes in
            guard let base = bytes.baseAddress else { return }
            target.copyMemory(from: base, byteCount: bytes.count)
        }
        if isCopied == nil { copyForeignBytes(to: target) }
    }

    /// Of a string of another runtime's, as Foundation has them on Darwin.
    @inline(never)
    private func copyForeignBytes(to target: UnsafeMutableRawPointer) {
        for (offset, byte) in utf8.enumerated() {
            target.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self)
        }
    }
}

extension Engine {
    /// A key's place among the shards and in their tables. Not inlined, for the reason above.
    @inline(never)
    func hash(of key: String, in name: DictionaryName) -> UInt64 {
        defer { withExtendedLifetime(name) {} }
        let hashSeed = hashSeed
        return withLookUpKey(key, behind: name.prefixBytes) { hashSeed.hash($0) }
    }
}
