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
    var number: UInt128 = 0
    for index in 0..<16 {
        number = number << 8 | (start + index < key.count ? UInt128(key[start + index]) : 0)
    }
    return number
}
