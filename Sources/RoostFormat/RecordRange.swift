/// Which record keys an ordered scan covers: from `lower` on, up to but not including `upper`,
/// which is `nil` where there is no end.
package struct RecordRange: Sendable, Hashable {
    package let prefix: [UInt8]
    package let lower: [UInt8]
    package let upper: [UInt8]?

    /// All keys of a dictionary that begin with `keyPrefix`.
    package init(_ name: DictionaryName, keyPrefix: [UInt8] = []) {
        prefix = name.prefix
        lower = name.prefix + keyPrefix
        upper = successor(ofPrefix: lower)
    }

    /// The keys of a dictionary from `lower` up to but not including `upper`.
    package init(_ name: DictionaryName, lower: [UInt8], upper: [UInt8]?) {
        prefix = name.prefix
        self.lower = name.prefix + lower
        self.upper = upper.map { name.prefix + $0 } ?? successor(ofPrefix: name.prefix)
    }

    /// Every record of every dictionary.
    package static let everything = RecordRange(prefix: [], lower: [], upper: nil)

    package init(prefix: [UInt8], lower: [UInt8], upper: [UInt8]?) {
        self.prefix = prefix
        self.lower = lower
        self.upper = upper
    }

    package func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        lower.withUnsafeBytes { compareBytes(key, $0) >= 0 } && !isPastUpper(key)
    }

    package func isPastUpper(_ key: UnsafeRawBufferPointer) -> Bool {
        guard let upper else { return false }
        return upper.withUnsafeBytes { compareBytes(key, $0) >= 0 }
    }
}

/// The first key after all that begin with `prefix`: it with its last byte counted up.
package func successor(ofPrefix prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
        if last < .max { return bytes + [last + 1] }
    }
    return nil
}
