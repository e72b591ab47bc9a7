import RoostEngine

extension Repository {
    /// The object that everybody will read where `value` is put: a type's coding may keep less than it was
    /// given, such as a date's whole seconds. What indexes have of an object is made of this, as what they lose
    /// with it one day is.
    func stored(_ value: EncodedValue, _ key: String) throws -> Item {
        try withUnsafeTemporaryAllocation(byteCount: value.count, alignment: 8) { bytes in
            value.write(to: bytes.baseAddress.unsafelyUnwrapped)
            return try dictionary.decode(
                stored: UnsafeRawBufferPointer(rebasing: bytes[..<value.count]), key: key, codec)
        }
    }
}
