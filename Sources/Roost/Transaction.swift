import RoostEngine
import RoostFormat

/// One attempt of a transaction, as `transaction(durability:_:)` of a ``Workspace`` hands it to its body.
///
/// - Reads are of one moment, whatever other writers do meanwhile; what the body itself has
///   changed it reads as it left it.
/// - Changes stay in the attempt until the body returns.
/// - A call that throws has changed nothing: a body that catches that goes on, and the rest is committed.
///
/// It cannot be copied or kept: it ends with the body.
public struct Transaction: ~Copyable {
    let workspace: Workspace
    var attempt: EngineTransaction
    /// The indexes that the attempt writes, by repository: the same for all that it changes, as its
    /// batch keeps their marks.
    var indexSets: [ObjectIdentifier: (set: any AnyObject & Sendable, written: WrittenIndexes)] =
        [:]
    /// The last ones whose marks the batch was told to keep.
    var lastKept: WrittenIndexes?

    /// The marks of unique indexes that the attempt has found to be complete.
    var completeMarks: Set<[UInt8]> = []
    /// Those among them of indexes that cannot be built: an object may have a value in them without an entry.
    var failedMarks: Set<[UInt8]> = []
    /// While many objects are changed as one.
    var awaitedEntries: AwaitedEntries<AwaitedEntry>?
    /// What the attempt would have needed, and does not come to anything without.
    var incompleteIndex: IncompleteIndex?

    init(_ workspace: Workspace, hasTurn: Bool) {
        self.workspace = workspace
        attempt = EngineTransaction(workspace.engine, hasTurn: hasTurn)
    }

    // MARK: Reading

    /// The value of `key` in `dictionary`, or `nil` where it has none. That it has none is
    /// remembered as well as a value is. Does not suspend.
    ///
    /// - Throws: as `value(forKey:as:)`.
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
    ///
    /// - Throws: `.corrupt`, `.io`, `.closed`; `.keyTooLarge` where the dictionary's name is too long.
    public mutating func contains(
        _ key: String, in dictionary: WorkspaceDictionary
    ) throws -> Bool {
        try attempt.contains(key, name: try checkedName(dictionary))
    }

    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict.
    ///
    /// - Throws: as `contains(_:in:)`.
    public mutating func count(of dictionary: WorkspaceDictionary) throws -> Int {
        try attempt.count(of: try checkedName(dictionary))
    }

    /// The keys of `dictionary` that begin with `prefix`, in the order of their UTF-8 bytes or
    /// against it, at most `limit`. A key that comes or goes in what was looked at is a conflict.
    ///
    /// - Throws: as `contains(_:in:)`.
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

    /// Sets the value of `key` in `dictionary`. Does not suspend.
    ///
    /// - Throws: `.encodingFailed`, `.keyTooLarge`; `.valueTooLarge` where the value is too large, or all changes
    ///   of the transaction have more than 1 GiB.
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
    ///
    /// - Throws: `.keyTooLarge`; `.valueTooLarge` where all changes of the transaction have more than 1 GiB.
    public mutating func removeValue(forKey key: String, in dictionary: WorkspaceDictionary) throws
    {
        try attempt.remove(key, in: try checkedName(dictionary))
    }

    /// Removes every key of `dictionary`, those that the body has set included.
    ///
    /// - Throws: as `removeValue(forKey:in:)`.
    public mutating func removeAll(in dictionary: WorkspaceDictionary) throws {
        try attempt.clear(try checkedName(dictionary))
    }

    // MARK: Within

    /// The value with the time at which it expires, `.never` where there is none.
    mutating func readWithDeadline<Value>(
        _ key: String, _ dictionary: WorkspaceDictionary, _ codec: ValueCodec<Value>
    ) throws -> (value: Value?, deadline: Deadline) {
        let name = try checkedName(dictionary)
        return try attempt.withValue(key, name: name) { stored in
            guard let stored else { return (nil, .never) }
            return (
                try dictionary.decode(stored: stored, key: key, codec),
                ValueHeader(stored)?.deadline ?? .never
            )
        }
    }

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

    mutating func keys(
        of dictionary: WorkspaceDictionary, _ selection: KeySelection
    ) throws -> [String] {
        let range = RecordRange(
            try checkedName(dictionary), lower: selection.bounds.lower,
            upper: selection.bounds.upper)
        return try keys(range, dictionary, selection.limit, selection.order)
    }

    private mutating func keys(
        _ range: RecordRange, _ dictionary: WorkspaceDictionary, _ limit: Int?, _ order: ScanOrder
    ) throws -> [String] {
        check(dictionary)
        var keys: [String] = []
        try attempt.scan(range, order, limit: limit ?? .max) { recordKey, _ in
            keys.append(String(decoding: recordKey[range.prefix.count...], as: UTF8.self))
            return true
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

    func checkedName(_ dictionary: WorkspaceDictionary) throws -> DictionaryName {
        check(dictionary)
        return try dictionary.checkedName()
    }

    private func check(_ dictionary: WorkspaceDictionary) {
        precondition(
            dictionary.workspace === workspace, "the dictionary belongs to another workspace")
    }

    // MARK: Ending

    func close() { attempt.close() }

    /// Adds what the batch brings with it, so that a turn on it covers that too.
    mutating func complete() { attempt.complete() }

    /// What the attempt would commit, and what that rests on.
    var outcome: (batch: EncodedBatch, reads: TransactionReads?) { (attempt.batch, attempt.reads) }
}

extension Workspace {
    /// Reads and changes any keys of any dictionaries as if nobody else did anything meanwhile:
    /// transactions are strictly serializable, with each other and with all other calls.
    ///
    /// Optimistic at first: `body` takes no locks. When it returns, everything that it read is checked,
    /// a key that was absent and a range that was scanned included, and its changes are committed as
    /// one batch; where another writer was there first, nothing is changed and `body` runs again. Where
    /// that has happened a few times, the transaction takes its turn in a queue on what it has read and
    /// changed: others that write those keys then wait while `body` runs once more, and it cannot lose.
    /// So `body` should do nothing that counts outside of the transaction. It runs on the caller's actor
    /// and does not suspend. A body that changes nothing never conflicts; where `durability` is stated, the call
    /// waits until enqueued writes that it has seen are in the log, and runs it again where one was given up.
    ///
    /// `body` must not wait for other calls that write what it has read: with its turn it would wait for
    /// those that wait for it. After some seconds the turn is taken from it, and where that has happened
    /// several times the call throws `.conflict`, which it throws for no other reason.
    ///
    /// Transactions of different keys do not wait for each other. Costs, beside its reads and
    /// writes, a read view of the moment, about a microsecond, and where it touches several shards
    /// a visit to each.
    ///
    /// - Parameters:
    ///   - durability: what has survived when the call returns; the workspace's where it is `nil`. With
    ///     `.synced`, writers of the keys that were read and written wait until the sync is done.
    ///   - body: what reads and writes; it may run several times.
    /// - Returns: what the last run of `body` returned.
    /// - Throws: what `body` throws; then, as for all errors but `.poisoned`, nothing is changed.
    ///   `.cancelled` also while it waits for its turn. Else as `set`.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        durability: Durability? = nil, _ body: (inout Transaction) throws -> Result
    ) async throws -> Result {
        try await transaction(durability, { nil }, body)
    }

    /// As the other, after a try to do the same `atOnce`, which returns `nil`, with nothing changed, where that
    /// is not possible. Both are one call to who observes.
    nonisolated(nonsending) func transaction<Result: Sendable>(
        _ durability: Durability?, _ atOnce: nonisolated(nonsending) () async throws -> Result?,
        _ body: (inout Transaction) throws -> Result
    ) async throws -> Result {
        var waitCount = 0
        while true {
            do {
                return try await engine.observe(.transaction) { operation in
                    if let result = try await atOnce() { return result }
                    return try await transaction(durability, &operation) { hasTurn in
                        try self.attempt(hasTurn: hasTurn, body)
                    }
                }
            } catch let error as RoostError {
                guard let incomplete = error.cause as? IncompleteIndex else { throw error }
                try checkCancellation()
                waitCount += 1
                // It was complete, and was taken away before the attempt, as it may be each time.
                if waitCount > 1, backgroundWrites.isClosing {
                    throw BackgroundWrites.closedWhileIndexing
                }
                // Without a turn: what is waited for writes too.
                try await incomplete.wait()
            }
        }
    }

    private func attempt<Result: Sendable>(
        hasTurn: Bool, _ body: (inout Transaction) throws -> Result
    ) throws -> Run<Result> {
        var transaction = Transaction(self, hasTurn: hasTurn)
        let outcome = Swift.Result { try body(&transaction) }
        // Whatever the body has made of that.
        if let incomplete = transaction.incompleteIndex {
            transaction.close()
            throw RoostError(
                .conflict, "an index that is to keep values unique is being built",
                cause: incomplete)
        }
        let result: Result
        do { result = try outcome.get() } catch {
            transaction.close()
            throw error
        }
        transaction.complete()
        let (batch, reads) = transaction.outcome
        return (result, batch, reads)
    }

    /// What one run of a body returned, what it would commit, and what that rests on.
    typealias Run<Result> = (result: Result, batch: EncodedBatch, reads: TransactionReads?)

    /// As the other, for a `run` that makes the attempt itself; it is told whether that has its turn.
    nonisolated(nonsending) func transaction<Result: Sendable>(
        _ durability: Durability?,
        _ run: nonisolated(nonsending) (_ hasTurn: Bool) async throws -> Run<Result>
    ) async throws -> Result {
        try await engine.observe(.transaction) { operation in
            try await transaction(durability, &operation, run)
        }
    }

    private nonisolated(nonsending) func transaction<Result: Sendable>(
        _ durability: Durability?, _ operation: inout ObservedOperation,
        _ run: nonisolated(nonsending) (_ hasTurn: Bool) async throws -> Run<Result>
    ) async throws -> Result {
        var turn: TransactionTurn?
        var longest = Duration.zero
        for number in 1...Self.attemptLimit {
            try checkCancellation()
            let begin = ContinuousClock.now
            operation.attemptCount = number
            if number > 1 { operation.cause = .conflict }
            switch try await commit(try await run(turn != nil), durability, &turn) {
            case .committed(let result): return result
            case .lost where number < Self.optimisticCount: await Task.yield()
            case .lost(let batch, let reads):
                longest = max(longest, ContinuousClock.now - begin)
                if turn == nil { turn = TransactionTurn(engine) }
                try await turn?.take(for: reads, batch, longest: longest)
            }
        }
        throw RoostError(
            .conflict,
            "\(Self.attemptLimit) attempts met changes by others: does the body wait for them?")
    }

    private enum Attempt<Result> {
        case committed(Result)
        /// Another writer was there first.
        case lost(EncodedBatch, TransactionReads)
    }

    private nonisolated(nonsending) func commit<Result: Sendable>(
        _ run: Run<Result>, _ durability: Durability?, _ turn: inout TransactionTurn?
    ) async throws -> Attempt<Result> {
        let (result, batch, reads) = run
        guard let reads else {
            try checkCancellation()
            // Who waits for others holds nothing that they wait for.
            turn = nil
            _ = try await engine.commit(batch, durability: durability, isTransaction: true)
            return .committed(result)
        }
        defer { reads.view.close() }
        try checkCancellation()
        let sequence = try await engine.commit(
            batch, reads: reads, durability: durability, places: turn?.places(for: reads, batch))
        return sequence == nil ? .lost(batch, reads) : .committed(result)
    }

    /// The attempts that are made before the transaction waits for its turn.
    private static var optimisticCount: Int { 3 }
    /// Turns are lost to nobody but those who wait in the body, and to values that expire.
    private static var attemptLimit: Int { 12 }
}
