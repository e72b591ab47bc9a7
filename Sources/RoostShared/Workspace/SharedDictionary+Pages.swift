import Roost

extension SharedDictionary {
    /// The entries whose keys begin with `prefix`, in the order of their UTF-8 bytes or against it, at most `limit`, all of one revision,
    /// the newest. The next page begins `after` the last key of this one, also where that key has gone meanwhile; it is of a revision
    /// of its own.
    ///
    /// All of them are in memory. One request for up to 16 entries, one more for the next 64, and so on as for `entries`, each with
    /// a deadline of its own; none for a limit below 1, which gives no entry.
    ///
    /// - Throws: `.typeMismatch`, `.decodingFailed`; `.compacted` where it takes longer than the engine keeps the revision; what
    ///   reading from the engine throws, as `contains(_:)`.
    public func page<Value: BinaryCodable & Sendable>(
        prefix: String = "", after key: String? = nil, as type: Value.Type = Value.self,
        limit: Int, order: ScanOrder = .ascending
    ) async throws -> [(key: String, value: Value)] {
        try await page(
            KeySelection(prefix: prefix, after: key, limit: limit, order: order), .binary())
    }

    /// The entries whose keys begin with `prefix`; as the other `page(prefix:after:as:limit:order:)`.
    @_disfavoredOverload
    public func page<Value: Codable & Sendable>(
        prefix: String = "", after key: String? = nil, as type: Value.Type = Value.self,
        limit: Int, order: ScanOrder = .ascending
    ) async throws -> [(key: String, value: Value)] {
        try await page(
            KeySelection(prefix: prefix, after: key, limit: limit, order: order), .codable())
    }

    private func page<Value>(
        _ selection: KeySelection, _ form: ValueForm<Value>
    ) async throws -> [(key: String, value: Value)] {
        try await entries(selection, form: form).all()
    }
}
