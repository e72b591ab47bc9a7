/// Collects the changes that `write` of a ``KeyValueWorkspace`` commits at once.
public struct KeyValueBatch<Attempt: KeyValueTransaction> {
    /// The dictionaries that it changes.
    public typealias NamedDictionary = Attempt.NamedDictionary

    /// Each removes all of a dictionary, or all that begins alike, and comes before every other change.
    private var clears: [(Attempt) throws -> Void] = []
    private var changes: [(Attempt) throws -> Void] = []

    /// How many operations the batch has so far.
    public var count: Int { clears.count + changes.count }

    /// Sets the value of `key` in `dictionary`. Where `duration` is not `nil`, the value is gone once that has passed, counted
    /// from when the batch is written.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) {
        changes.append { try $0.set(value, forKey: key, in: dictionary, expiresIn: duration) }
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:expiresIn:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) {
        changes.append { try $0.set(value, forKey: key, in: dictionary, expiresIn: duration) }
    }

    /// Sets the value of `key` in `dictionary`, or removes it where `value` is the `nil` of an optional key.
    public mutating func set<Value>(
        _ value: Value, for key: Key<Value>, in dictionary: NamedDictionary,
        expiresIn duration: Duration? = nil
    ) {
        changes.append { try $0.set(value, for: key, in: dictionary, expiresIn: duration) }
    }

    /// Removes `key` from `dictionary`; a key without a value is no error.
    public mutating func removeValue(forKey key: String, in dictionary: NamedDictionary) {
        changes.append { try $0.removeValue(forKey: key, in: dictionary) }
    }

    /// Removes what `dictionary` held before the batch; what the batch itself sets stays.
    public mutating func removeAll(in dictionary: NamedDictionary) {
        clears.append { try $0.removeAll(in: dictionary) }
    }

    /// Removes what `dictionary` held before the batch under the keys that begin with the bytes of `prefix`; what the batch
    /// itself sets stays.
    public mutating func removeAll(prefix: String, in dictionary: NamedDictionary) {
        clears.append { try $0.removeAll(prefix: prefix, in: dictionary) }
    }

    func apply(to attempt: Attempt) throws {
        for change in clears + changes { try change(attempt) }
    }
}

extension KeyValueWorkspace {
    /// Commits everything that `body` adds to the batch at once: no reader sees part of it. Reads nothing, but in files
    /// the keys of a prefix that it removes; later operations on a key win. `body` runs once, on the caller's actor, so it may
    /// use what the caller may. A ``Workspace`` has a call of this name that it prefers.
    ///
    /// - Returns: what `body` returned, once the changes are acknowledged.
    /// - Throws: what `body` throws; `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`, `.tooLarge`, `.cancelled`. Then
    ///   nothing is changed. What writing throws.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func write<Result: Sendable>(
        _ body: (inout KeyValueBatch<TransactionAttempt>) throws -> Result
    ) async throws -> Result {
        var batch = KeyValueBatch<TransactionAttempt>()
        let result = try body(&batch)
        let changes = batch
        try await transaction { attempt in try changes.apply(to: attempt) }
        return result
    }
}
