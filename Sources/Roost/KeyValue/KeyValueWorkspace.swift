import Foundation
import RoostEngine

/// What a workspace in files and one that an engine beyond this process keeps have in common, so that
/// code is written once and runs on either.
///
/// ```swift
/// func checkout(_ sku: String, in workspace: some KeyValueWorkspace) async throws -> Int {
///     let inventory = workspace.dictionary("inventory")
///     return try await workspace.transaction { attempt in
///         let stock = try await attempt.load(sku, as: Int.self, in: inventory) ?? 0
///         guard stock > 0 else { throw OutOfStock() }
///         try attempt.set(stock - 1, forKey: sku, in: inventory)
///         return stock - 1
///     }
/// }
/// ```
///
/// ``Workspace`` has besides synchronous calls of its own, which this costs nothing.
public protocol KeyValueWorkspace: Sendable {
    /// The dictionaries of the workspace.
    associatedtype NamedDictionary: KeyValueDictionary
    /// What the body of a transaction reads and writes with.
    associatedtype TransactionAttempt: KeyValueTransaction
    where TransactionAttempt.NamedDictionary == NamedDictionary

    /// The dictionary called `name`: a key space of its own. Any name up to 255 UTF-8 bytes. Costs
    /// nothing and touches nothing.
    func dictionary(_ name: String) -> NamedDictionary

    /// What time it is by the clock that values expire by: that of this process, or the engine's where it tells one.
    var currentDate: Date { get async throws }

    /// Reads and changes any keys of any dictionaries as if nobody else did anything meanwhile:
    /// strictly serializable, ranges that were read and keys that were absent included.
    ///
    /// `body` runs on the caller's actor, and again where another writer was there first, so it should do
    /// nothing that counts outside of the transaction; it must not keep the attempt.
    ///
    /// - Parameters:
    ///   - durability: what has survived when the call returns, where the workspace is in files; the workspace's
    ///     where it is `nil`. Where an engine keeps it, that has acknowledged the changes, whatever is said here.
    ///   - body: what reads and writes; it may run several times.
    /// - Returns: what the last run of `body` returned, once its changes are acknowledged.
    /// - Throws: what `body` throws, and then nothing is changed; what writing throws.
    @discardableResult
    nonisolated(nonsending) func transaction<Result: Sendable>(
        durability: Durability?,
        _ body: nonisolated(nonsending) (TransactionAttempt) async throws -> Result
    ) async throws -> Result
}

extension KeyValueWorkspace {
    /// As `transaction(durability:_:)`, with the workspace's durability.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        _ body: nonisolated(nonsending) (TransactionAttempt) async throws -> Result
    ) async throws -> Result {
        try await transaction(durability: nil, body)
    }
}

/// One attempt of a transaction, as ``KeyValueWorkspace/transaction(durability:_:)`` hands it to its body.
///
/// Reads are of one moment; what the body has changed it reads as it left it. Changes stay in the
/// attempt until the body returns. A call that throws has changed nothing: a body that catches that goes on, and the
/// rest is committed.
public protocol KeyValueTransaction {
    /// The dictionaries that it reads and writes.
    associatedtype NamedDictionary: KeyValueDictionary

    /// The value of `key`, or `nil`; the calls that take a type are made of it.
    nonisolated(nonsending) func load<Value>(
        _ key: String, in dictionary: NamedDictionary, form: ValueForm<Value>
    ) async throws -> Value?

    /// Whether `key` has a value in `dictionary`.
    nonisolated(nonsending) func contains(
        _ key: String, in dictionary: NamedDictionary
    ) async throws -> Bool

    /// How many keys `dictionary` has. Any later change of which keys it has is a conflict.
    nonisolated(nonsending) func count(of dictionary: NamedDictionary) async throws -> Int

    /// How many keys of `dictionary` begin with the bytes of `prefix`. Any later change of which keys do is a conflict.
    nonisolated(nonsending) func count(
        of dictionary: NamedDictionary, prefix: String
    ) async throws -> Int

    /// The selected keys. A key that comes or goes in what was looked at is a conflict.
    nonisolated(nonsending) func keys(
        of dictionary: NamedDictionary, _ selection: KeySelection
    ) async throws -> [String]

    /// Sets the value of `key`; the calls that take a type are made of it. Where `duration` is not `nil`, the
    /// value is gone once that has passed, counted from this call.
    func set<Value>(
        _ value: Value, forKey key: String, in dictionary: NamedDictionary,
        expiresIn duration: Duration?, form: ValueForm<Value>
    ) throws

    /// Removes `key` from `dictionary`; a key without a value is no error.
    func removeValue(forKey key: String, in dictionary: NamedDictionary) throws

    /// Removes every key of `dictionary`, those that the body has set included.
    func removeAll(in dictionary: NamedDictionary) throws

    /// Removes every key of `dictionary` that begins with the bytes of `prefix`, those that the body has set included.
    func removeAll(prefix: String, in dictionary: NamedDictionary) throws
}
