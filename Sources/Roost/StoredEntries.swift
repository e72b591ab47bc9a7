import RoostEngine
import RoostFormat

/// A key with its value as it is stored, and which version of it that is.
package struct StoredEntry: Sendable {
    package var key: String
    /// Cut where it is longer than was asked for.
    package var value: StoredValue
    /// Of the whole value, header and payload.
    package var sizeBytes: Int
    /// The sequence number of the batch that set it.
    package var version: UInt64

    package var isCut: Bool { 1 + value.payload.count < sizeBytes }
}

extension WorkspaceDictionary {
    /// The value of `key` as it is stored, and its version; `nil` where it has none. Does not suspend.
    package func storedEntry(forKey key: String) throws -> StoredEntry? {
        let versioned = try workspace.engine.findVersioned(key, name: try checkedName())
        // What it owns keeps the bytes in place while they are copied.
        return try withExtendedLifetime(versioned) { versioned in
            guard let bytes = versioned.storedBytes else { return nil }
            guard let value = StoredValue(stored: bytes) else {
                throw RoostError(.decodingFailed, "\"\(key)\" in \"\(name)\" has no kind")
            }
            try versioned.checkRead()
            return StoredEntry(
                key: key, value: value, sizeBytes: bytes.count, version: versioned.version.sequence)
        }
    }

    /// Sets the value of `key`, or removes it where `value` is `nil`, if it still has this version, which
    /// is zero where it has no value; returns the new version, once the change is on disk.
    ///
    /// - Throws: `.conflict`, with nothing changed, where another writer was there first; else as `set`.
    package func replaceStored(
        _ value: StoredValue?, forKey key: String, version: UInt64
    ) async throws -> UInt64 {
        let sequence = try await workspace.engine.write(
            value.map { EncodedValue($0) }, key: key, name: try checkedName(),
            if: RecordVersion(sequence: version), durability: .synced)
        guard let sequence else {
            throw RoostError(
                .conflict, "\"\(key)\" in \"\(name)\" was changed by another writer: read it again")
        }
        return sequence
    }
}
