import RoostEngine

extension Repository {
    /// The entries, in each index that is written, of the object that everybody will read where `value` is put: a
    /// type's coding may keep less than it was given, such as a date's whole seconds. What indexes have of an
    /// object is made of what is stored, as what they lose with it one day is. docs/decisions/0208.
    ///
    /// - Throws: `.decodingFailed` where that takes the object and it does not decode; as
    ///   `EntryMaker.entries(of:)`.
    func entries(ofStored value: EncodedValue, _ key: String, _ indexes: WrittenIndexes) throws
        -> [IndexEntries]
    {
        try withUnsafeTemporaryAllocation(byteCount: value.count, alignment: 8) { bytes in
            value.write(to: bytes.baseAddress.unsafelyUnwrapped)
            let stored = UnsafeRawBufferPointer(rebasing: bytes[..<value.count])
            if let storedEntries = indexes.storedEntries,
                dictionary.workspace.migrations.isEmpty,
                let entries = try storedEntries.entries(of: stored)
            {
                return entries
            }
            let item = try dictionary.decode(stored: stored, key: key, codec)
            return try withUnsafePointer(to: item) { item in
                try indexes.all.map { try $0.maker.entries(of: item) }
            }
        }
    }
}
