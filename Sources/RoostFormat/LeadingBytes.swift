// A key's first bytes as a number, so that most comparisons touch no key.

/// Eight bytes as a big-endian number, zeros where the key has ended: a key that is shorter
/// comes before, and one that really has zeros there compares equal and is looked at whole.
@inlinable @inline(__always)
public func leadingWord(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt64 {
    if key.count - start >= 8 {
        return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    }
    var word: UInt64 = 0
    for index in 0..<8 {
        word = word << 8 | (start + index < key.count ? UInt64(key[start + index]) : 0)
    }
    return word
}

/// Sixteen bytes; else as `leadingWord`.
@inlinable @inline(__always)
public func leadingNumber(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt128 {
    if key.count - start >= 16 {
        return UInt128(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt128.self))
    }
    return shortLeadingNumber(key, from: start)
}

/// The key ends before sixteen bytes.
@inlinable
public func shortLeadingNumber(_ key: UnsafeRawBufferPointer, from start: Int) -> UInt128 {
    let count = key.count - start
    guard count > 0 else { return 0 }
    // The last eight bytes, moved up so that zeros stand where the key has ended.
    guard key.count >= 8 else { return UInt128(leadingWord(key, from: start)) << 64 }
    let last = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: key.count - 8, as: UInt64.self))
    if count < 8 { return UInt128(last << UInt64(8 * (8 - count))) << 64 }
    let first = UInt64(bigEndian: key.loadUnaligned(fromByteOffset: start, as: UInt64.self))
    return UInt128(first) << 64 | UInt128(last << UInt64(8 * (16 - count)))
}
