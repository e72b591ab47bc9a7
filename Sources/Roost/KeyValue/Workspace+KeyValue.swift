import Foundation
import RoostEngine

extension Workspace: KeyValueWorkspace {
    /// What time it is by the configuration's clock, in whole milliseconds; that may be set back. Does not suspend.
    public var currentDate: Date {
        Date(milliseconds: engine.clock.wallMilliseconds)
    }

    /// As `transaction(durability:_:)`, for a body that suspends, such as one that is generic over
    /// workspaces. The workspace's durability holds.
    ///
    /// While the body suspends with its turn, other writers of the keys that it has read wait: the longer
    /// it takes, the better it is done before the transaction.
    ///
    /// - Parameter body: what reads and writes; it may run several times, and must not keep the attempt.
    /// - Returns: what the last run of `body` returned.
    /// - Throws: as `transaction(durability:_:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        _ body: nonisolated(nonsending) (SuspendingTransaction) async throws -> Result
    ) async throws -> Result {
        try await transaction(durability: nil, body)
    }

    /// As the other for a body that suspends, with a durability of its own.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        durability: Durability?,
        _ body: nonisolated(nonsending) (SuspendingTransaction) async throws -> Result
    ) async throws -> Result {
        try await transaction(durability) { hasTurn in
            let attempt = SuspendingTransaction(Transaction(self, hasTurn: hasTurn))
            let result: Result
            do { result = try await body(attempt) } catch {
                attempt.transaction.close()
                throw error
            }
            attempt.transaction.complete()
            let (batch, reads) = attempt.transaction.outcome
            return (result, batch, reads)
        }
    }
}

/// One attempt of a transaction whose body may suspend, as a `transaction(_:)` that is written for any
/// ``KeyValueWorkspace`` hands it to its body.
public final class SuspendingTransaction: KeyValueTransaction {
    var transaction: Transaction

    init(_ transaction: consuming Transaction) { self.transaction = transaction }

    /// The value of `key`; as the call that takes a type.
    public nonisolated(nonsending) func load<Value>(
        _ key: String, in dictionary: WorkspaceDictionary, form: ValueForm<Value>
    ) async throws -> Value? {
        try transaction.read(key, dictionary, form.codec)
    }

    /// Whether `key` has a value in `dictionary`. Decodes nothing. As the call of ``Transaction``.
    public nonisolated(nonsending) func contains(
        _ key: String, in dictionary: WorkspaceDictionary
    ) async throws -> Bool {
        try transaction.contains(key, in: dictionary)
    }

    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict. As the
    /// call of ``Transaction``.
    public nonisolated(nonsending) func count(
        of dictionary: WorkspaceDictionary
    ) async throws -> Int {
        try transaction.count(of: dictionary)
    }

    /// How many keys of `dictionary` begin with the bytes of `prefix`. Any later change of which keys do is a conflict. As
    /// the call of ``Transaction``.
    public nonisolated(nonsending) func count(
        of dictionary: WorkspaceDictionary, prefix: String
    ) async throws -> Int {
        try transaction.count(of: dictionary, prefix: prefix)
    }

    /// The selected keys. A key that comes or goes in what was looked at is a conflict. As
    /// `keys(of:prefix:limit:order:)` of a ``Transaction``.
    public nonisolated(nonsending) func keys(
        of dictionary: WorkspaceDictionary, _ selection: KeySelection
    ) async throws -> [String] {
        try transaction.keys(of: dictionary, selection)
    }

    /// Sets the value of `key`; as the call that takes a type.
    public func set<Value>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration?, form: ValueForm<Value>
    ) throws {
        let deadline = duration.map { dictionary.workspace.engine.clock.deadline(after: $0) }
        let encoded = try dictionary.encode(value, form.codec)
        try transaction.put(encoded.with(deadline: deadline ?? .never), key, dictionary)
    }

    /// Removes `key` from `dictionary`; a key without a value is no error. As the call of ``Transaction``.
    public func removeValue(forKey key: String, in dictionary: WorkspaceDictionary) throws {
        try transaction.removeValue(forKey: key, in: dictionary)
    }

    /// Removes every key of `dictionary`, those that the body has set included. As the call of
    /// ``Transaction``.
    public func removeAll(in dictionary: WorkspaceDictionary) throws {
        try transaction.removeAll(in: dictionary)
    }

    /// Removes every key of `dictionary` that begins with the bytes of `prefix`, those that the body has set included. Reads
    /// the keys. As the call of ``Transaction``.
    public func removeAll(prefix: String, in dictionary: WorkspaceDictionary) throws {
        try transaction.removeAll(prefix: prefix, in: dictionary)
    }
}
