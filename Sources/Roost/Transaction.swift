import RoostEngine
import RoostFormat

/// One attempt of a transaction, as ``Workspace/transaction(durability:_:)`` hands it to its body.
///
/// - Reads are of one moment, whatever other writers do meanwhile; what the body itself has
///   changed it reads as it left it.
/// - Changes stay in the attempt until the body returns.
///
/// It cannot be copied or kept: it ends with the body.
public struct Transaction: ~Copyable {
    private let workspace: Workspace
    private var attempt: EngineTransaction

    init(_ workspace: Workspace) {
        self.workspace = workspace
        attempt = EngineTransaction(workspace.engine)
    }

    // MARK: Reading

    /// The value of `key` in `dictionary`, or `nil` where it has none. That it has none is
    /// remembered as well as a value is. Does not suspend.
    ///
    /// - Throws: as ``WorkspaceDictionary/value(forKey:as:)-(_,Value.Type)``.
    public mutating func value<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, in dictionary: WorkspaceDictionary
    ) throws -> Value? {
        try read(key, dictionary, .binary())
    }

    /// The value of `key` in `dictionary`, or `nil`; as the other `value(forKey:as:in:)`.
    @_disfavoredOverload
    public mutating func value<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, in dictionary: WorkspaceDictionary
    ) throws -> Value? {
        try read(key, dictionary, .codable())
    }

    /// Whether `key` has a value in `dictionary`. Decodes nothing.
    public mutating func contains(
        _ key: String, in dictionary: WorkspaceDictionary
    ) throws -> Bool {
        try attempt.contains(key, name: try checkedName(dictionary))
    }

    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict.
    public mutating func count(of dictionary: WorkspaceDictionary) throws -> Int {
        try attempt.count(of: try checkedName(dictionary))
    }

    /// The keys of `dictionary` that begin with `prefix`, in the order of their UTF-8 bytes or
    /// against it, at most `limit`. A key that comes or goes in what was looked at is a conflict.
    public mutating func keys(
        of dictionary: WorkspaceDictionary, prefix: String = "", limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [String] {
        try keys(try dictionary.range(prefix: prefix), dictionary, limit, order)
    }

    /// The keys of `dictionary` in `range`; as the other `keys(of:prefix:limit:order:)`.
    public mutating func keys(
        of dictionary: WorkspaceDictionary, in range: some KeyRange, limit: Int? = nil,
        order: ScanOrder = .ascending
    ) throws -> [String] {
        try keys(try dictionary.range(range), dictionary, limit, order)
    }

    // MARK: Changing

    /// Sets the value of `key` in `dictionary`.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary
    ) throws {
        try put(value, key, dictionary, .binary())
    }

    /// Sets the value of `key` in `dictionary`; as the other `set(_:forKey:in:)`.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary
    ) throws {
        try put(value, key, dictionary, .codable())
    }

    /// Removes `key` from `dictionary`; a key without a value is no error.
    public mutating func removeValue(forKey key: String, in dictionary: WorkspaceDictionary) throws
    {
        try attempt.remove(key, in: try checkedName(dictionary))
    }

    /// Removes every key of `dictionary`, those that the body has set included.
    public mutating func removeAll(in dictionary: WorkspaceDictionary) throws {
        try attempt.clear(try checkedName(dictionary))
    }

    // MARK: Within

    mutating func read<Value>(
        _ key: String, _ dictionary: WorkspaceDictionary,
        _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws -> Value? {
        let name = try checkedName(dictionary)
        return try attempt.withValue(key, name: name) { stored in
            guard let stored else { return nil }
            return try dictionary.decode(stored: stored, key: key, codec())
        }
    }

    private mutating func keys(
        _ range: RecordRange, _ dictionary: WorkspaceDictionary, _ limit: Int?, _ order: ScanOrder
    ) throws -> [String] {
        check(dictionary)
        var keys: [String] = []
        try attempt.scan(range, order, limit: limit ?? .max) { recordKey, _ in
            keys.append(String(decoding: recordKey[range.prefix.count...], as: UTF8.self))
        }
        return keys
    }

    private mutating func put<Value>(
        _ value: Value, _ key: String, _ dictionary: WorkspaceDictionary,
        _ codec: @autoclosure () -> ValueCodec<Value>
    ) throws {
        try put(try dictionary.encode(value, codec()), key, dictionary)
    }

    /// Sets the key, or with no value removes it.
    mutating func put(
        _ value: EncodedValue?, _ key: String, _ dictionary: WorkspaceDictionary
    ) throws {
        let name = try checkedName(dictionary)
        guard let value else { return try attempt.remove(key, in: name) }
        try attempt.put(value, forKey: key, in: name)
    }

    private func checkedName(_ dictionary: WorkspaceDictionary) throws -> DictionaryName {
        check(dictionary)
        return try dictionary.checkedName()
    }

    private func check(_ dictionary: WorkspaceDictionary) {
        precondition(
            dictionary.workspace === workspace, "the dictionary belongs to another workspace")
    }

    // MARK: Ending

    func close() { attempt.close() }

    /// What the attempt would commit, and what that rests on.
    var outcome: (batch: EncodedBatch, reads: TransactionReads?) { (attempt.batch, attempt.reads) }
}

extension Workspace {
    /// Reads and changes any keys of any dictionaries as if nobody else did anything meanwhile:
    /// transactions are strictly serializable, with each other and with all other calls.
    ///
    /// Optimistic: `body` takes no locks. When it returns, everything that it read is checked, a
    /// key that was absent and a range that was scanned included, and its changes are committed as
    /// one batch; where another writer was there first, nothing is changed and `body` runs again,
    /// a limited number of times, with growing pauses. So `body` should do nothing that counts
    /// outside of the transaction. It runs on the caller's actor and does not suspend. A body that
    /// changes nothing never conflicts.
    ///
    /// Transactions of different keys do not wait for each other. Costs, beside its reads and
    /// writes, a read view of the moment, about a microsecond, and where it touches several shards
    /// a visit to each.
    ///
    /// - Parameter durability: what has survived when the call returns; the workspace's where it
    ///   is `nil`. With `.synced`, writers of the keys that were read and written wait until the
    ///   sync is done.
    /// - Returns: what the last run of `body` returned.
    /// - Throws: what `body` throws; then, as for all errors but `.poisoned`, nothing is changed.
    ///   `.conflict` where others were first over and over again. Else as `set`.
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        durability: Durability? = nil, _ body: (inout Transaction) throws -> Result
    ) async throws -> Result {
        for attempt in 0..<Self.attemptLimit {
            try checkCancellation()
            if let result = try await attemptTransaction(durability, body) { return result.value }
            try await pause(behindAttempt: attempt)
        }
        throw RoostError(
            .conflict,
            "\(Self.attemptLimit) attempts met changes by others: try again, or change less at once"
        )
    }

    /// `nil` where another writer was there first.
    private nonisolated(nonsending) func attemptTransaction<Result: Sendable>(
        _ durability: Durability?, _ body: (inout Transaction) throws -> Result
    ) async throws -> Attempted<Result>? {
        var transaction = Transaction(self)
        let result: Result
        do { result = try body(&transaction) } catch {
            transaction.close()
            throw error
        }
        let (batch, reads) = transaction.outcome
        guard let reads else {
            try checkCancellation()
            _ = try await engine.commit(batch, durability: durability)
            return Attempted(value: result)
        }
        defer { reads.view.close() }
        try checkCancellation()
        let sequence = try await engine.commit(batch, reads: reads, durability: durability)
        return sequence == nil ? nil : Attempted(value: result)
    }

    private static var attemptLimit: Int { 24 }

    /// The first attempts follow at once; then each waits a random time from a span that doubles.
    private nonisolated(nonsending) func pause(behindAttempt attempt: Int) async throws {
        guard attempt > 1 else { return await Task.yield() }
        let span = 20 << min(attempt, 9)
        do { try await Task.sleep(for: .microseconds(Int.random(in: 1...span))) } catch {
            try checkCancellation()
        }
    }
}

private struct Attempted<Value> {
    let value: Value
}
