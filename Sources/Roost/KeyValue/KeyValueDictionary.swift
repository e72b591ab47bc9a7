/// A named key space of a ``KeyValueWorkspace``: string keys, values of any supported type.
///
/// The calls that its users write take a type or a ``Key`` and are extensions, made of the ones that are
/// declared here and take a ``ValueForm``. What is acknowledged when a write returns is what the
/// workspace says: on disk as its durability has it, or by a quorum of the engine's nodes.
///
/// What reading throws of a ``Workspace`` is `.corrupt`, `.io` and `.closed`, and what writing throws is
/// `.readOnly`, `.outOfSpace`, `.io`, `.poisoned` and `.closed`. Of an engine beyond this process either is
/// `.unavailable`, `.notPermitted`, `.cancelled` and `.closed`, and writing throws besides `.outOfSpace` and
/// `.unknownOutcome`.
public protocol KeyValueDictionary: Sendable {
    /// What it is called.
    var name: String { get }

    /// Whether `key` has a value. Decodes nothing.
    func contains(_ key: String) async throws -> Bool

    /// How many keys the dictionary has at one moment.
    var count: Int { get async throws }

    /// How many keys begin with the bytes of `prefix` at one moment.
    func count(prefix: String) async throws -> Int

    /// The value of `key`, or `nil`.
    func load<Value>(_ key: String, form: ValueForm<Value>) async throws -> Value?

    /// The value of `key` and its version.
    func loadEntry<Value>(_ key: String, form: ValueForm<Value>) async throws -> Entry<Value>

    /// How long the value of `key` is there yet; `nil` where it has no value, or one that stays.
    func remainingTime(forKey key: String) async throws -> Duration?

    /// How long the value that was read is there yet: nothing where it has expired since, `nil` where it stays.
    func remainingTime<Value>(of entry: Entry<Value>) -> Duration?

    /// Sets the value of `key`; where `duration` is not `nil`, it is gone once that has passed.
    func set<Value>(
        _ value: Value, forKey key: String, expiresIn duration: Duration?, form: ValueForm<Value>
    ) async throws

    /// Sets many values at once, so that no reader sees part of them.
    func setAll<Value>(_ pairs: [(String, Value)], form: ValueForm<Value>) async throws

    /// Removes a key; a key without a value is no error.
    func remove(key: String) async throws

    /// Removes every key at once.
    func removeAllKeys() async throws

    /// Removes every key that begins with the bytes of `prefix`, at once.
    func removeAllKeys(prefix: String) async throws

    /// Sets the value of the entry's key, or removes it where `value` is `nil`, if the key still has the
    /// entry's version; else throws `.conflict`. Where `duration` is not `nil`, the value is gone once that has
    /// passed.
    func replace<Value>(
        _ entry: Entry<Value>, with value: Value?, expiresIn duration: Duration?,
        form: ValueForm<Value>
    ) async throws -> Entry<Value>

    /// Changes, sets or removes the value of `key` atomically. `body` runs on the caller's actor, and
    /// again where another writer was there first.
    nonisolated(nonsending) func update<Value, Result: Sendable>(
        _ key: String, form: ValueForm<Value>, _ body: (inout Value?) throws -> Result
    ) async throws -> Result

    /// The selected entries, all of one moment, in the order of their keys' UTF-8 bytes or against it.
    func entries<Value>(
        _ selection: KeySelection, form: ValueForm<Value>
    ) -> KeyValueSequence<(key: String, value: Value)>

    /// The selected keys, all of one moment.
    func keys(_ selection: KeySelection) -> KeyValueSequence<String>

    /// Every change of the selected keys in the order of their commits, from the next on, or from those after
    /// the version `since` on.
    func changes<Value>(
        _ selection: KeySelection, form: ValueForm<Value>, since version: UInt64?
    ) -> KeyValueChanges<Value>
}
