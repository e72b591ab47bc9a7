import RoostIO

/// A dictionary's name as it stands before each of its record keys: one byte of length, then
/// the name in UTF-8. So a record's key says its dictionary, the records of one dictionary are
/// neighbours in every sorted snapshot, and no catalogue has to be kept.
package struct DictionaryName: Sendable, Hashable {
    package let name: String
    /// The length byte and the name.
    package let prefix: [UInt8]

    /// `nil` where the name is longer than 255 bytes.
    package init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count <= Limits.dictionaryNameSizeBytes else { return nil }
        self.name = name
        self.prefix = [UInt8(bytes.count)] + bytes
    }

    /// Compared by bytes, not by Swift's canonical equivalence.
    package static func == (left: DictionaryName, right: DictionaryName) -> Bool {
        left.prefix == right.prefix
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(prefix) }

    /// Calls `body` with the record key of `key` in this dictionary.
    @inline(__always)
    package func withRecordKey<Result, Failure: Error>(
        _ key: String, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var key = key
        // Typed throws do not pass through the standard library's closures; results do.
        let result: Swift.Result<Result, Failure> = key.withUTF8 { utf8 in
            withUnsafeTemporaryAllocation(
                byteCount: prefix.count + utf8.count, alignment: 8
            ) { buffer in
                prefix.withUnsafeBytes { buffer.copyMemory(from: $0) }
                if let base = utf8.baseAddress {
                    (buffer.baseAddress! + prefix.count).copyMemory(
                        from: base, byteCount: utf8.count)
                }
                do throws(Failure) { return .success(try body(UnsafeRawBufferPointer(buffer))) } catch {
                    return .failure(error)
                }
            }
        }
        return try result.get()
    }
}

/// The two parts of a record key that was found on disk; `nil` where it is not one.
package func splitRecordKey(
    _ key: UnsafeRawBufferPointer
) -> (dictionary: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer)? {
    guard let length = key.first, key.count > Int(length) else { return nil }
    return (
        .init(rebasing: key[1..<(1 + Int(length))]), .init(rebasing: key[(1 + Int(length))...])
    )
}

/// Orders record keys by their bytes, a shorter one before what it begins.
@inline(__always)
package func compareBytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
    let common = min(left.count, right.count)
    if common > 0 {
        let order = compareMemory(left.baseAddress!, right.baseAddress!, common)
        if order != 0 { return order }
    }
    return left.count - right.count
}
