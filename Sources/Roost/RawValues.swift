import RoostEngine
import RoostFormat

// Reading and writing values whose type is not known, for tools: the kind that is stored and its
// payload, neither decoded nor made resident. docs/FORMAT.md, "Values", says what they mean.

/// A value as it is stored: one byte of kind, and the payload that the kind explains.
package struct StoredValue: Sendable, Equatable {
    /// A `ValueKind`'s raw value, or one that this version does not know.
    package var kind: UInt8
    package var payload: [UInt8]

    package init(kind: UInt8, payload: [UInt8]) {
        self.kind = kind
        self.payload = payload
    }

    package init(_ kind: ValueKind, _ payload: [UInt8]) {
        self.init(kind: kind.rawValue, payload: payload)
    }

    /// `nil` where there is not even a kind.
    package init?(stored bytes: UnsafeRawBufferPointer) {
        guard let kind = bytes.first else { return nil }
        self.init(kind: kind, payload: Array(bytes.dropFirst()))
    }
}

private func kindless(_ key: String, _ name: DictionaryName) -> RoostError {
    RoostError(.decodingFailed, "\"\(key)\" in \"\(name.name)\" has no kind and no payload")
}

extension WorkspaceDictionary {
    /// The value of `key` as it is stored, or `nil` where it has none. Does not suspend.
    ///
    /// - Throws: `.corrupt` with file and offset, `.closed`.
    package func storedValue(forKey key: String) throws -> StoredValue? {
        let name = try checkedName()
        let found = try workspace.engine.find(key, name: name, isResidentAllowed: false)
        guard let found else { return nil }
        // What it owns keeps the bytes in place while they are copied.
        return try found.withBytes { bytes in
            guard let value = StoredValue(stored: bytes) else { throw kindless(key, name) }
            return value
        }
    }
}

extension Workspace {
    /// Calls `body` with every value of one dictionary, or of all where `name` is `nil`, at one
    /// moment: the dictionaries and the keys in each in the order of their bytes.
    ///
    /// Holds one value at a time in memory, beside the sorted keys of the log.
    package func forEachStoredValue(
        in name: String?,
        _ body: (_ dictionary: String, _ key: String, _ value: StoredValue) throws -> Void
    ) throws {
        let view = try engine.view()
        let names: [DictionaryName] =
            if let name {
                [try dictionary(name).checkedName()]
            } else {
                try view.dictionaries()
            }
        for name in names {
            let scan = try view.scan(name)
            while let (key, value) = try scan.storedEntry(of: name) {
                try body(name.name, key, value)
                try scan.moveToNext()
            }
        }
    }
}

extension EngineView {
    /// The dictionaries that have a key, in the order of their names' bytes.
    func dictionaries() throws -> [DictionaryName] {
        try dictionaryNames().compactMap { DictionaryName(String(decoding: $0, as: UTF8.self)) }
    }
}

extension ViewScan {
    /// Where a scan of the dictionary `name` stands: the key, and its value as it is stored; `nil`
    /// after the last.
    func storedEntry(of name: DictionaryName) throws -> (key: String, value: StoredValue)? {
        guard let recordKey else { return nil }
        let key = String(decoding: recordKey[name.prefix.count...], as: UTF8.self)
        guard let value = try withValue({ StoredValue(stored: $0) }) else {
            throw kindless(key, name)
        }
        return (key, value)
    }
}

extension EncodedValue {
    init(_ value: StoredValue) {
        self.init(kind: value.kind, payload: .bytes(value.payload))
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary` to a value as it is stored. Whether the payload
    /// is one of its kind is the caller's business.
    package mutating func setStored(
        _ value: StoredValue, forKey key: String, in dictionary: WorkspaceDictionary
    ) {
        precondition(
            dictionary.workspace === workspace, "the dictionary belongs to another workspace")
        guard let name = dictionary.engineName else {
            return encoded.fail(
                RoostError(
                    .keyTooLarge,
                    "the dictionary's name has more than \(Limits.dictionaryNameSizeBytes) bytes"))
        }
        // The kind may say that a deadline or a version follows.
        guard ([value.kind] + value.payload.prefix(16)).withUnsafeBytes({ ValueHeader($0) }) != nil
        else {
            return encoded.fail(
                RoostError(.encodingFailed, "\"\(key)\" has a kind and payload that make no sense"))
        }
        encoded.put(EncodedValue(value), forKey: key, in: name)
    }
}
