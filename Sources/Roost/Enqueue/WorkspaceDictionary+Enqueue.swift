import RoostCoding
import RoostEngine
import RoostIO

extension WorkspaceDictionary {
    /// Sets the value of `key` without waiting: readers see it when the call returns. For callers that
    /// cannot suspend. Never waits for the disk; costs what `set` costs.
    ///
    /// - It has its place among all writes of the key: before every write that begins after this
    ///   call has returned, enqueued or not. Watchers are told of it, with its version, once it
    ///   is in the log.
    /// - ``Workspace/synchronize()`` returns once it is on disk.
    /// - While a batch that changes the same key waits for its sync, or a transaction that has read the
    ///   key has its turn, this write waits in memory, where the process's death may take it, and is
    ///   read meanwhile all the same: so before the batch's other keys. ``Workspace/close()`` writes
    ///   what is left.
    /// - Where it fails, at once or later, the next `synchronize` or `close` throws that, and
    ///   ``Workspace/failures`` tells it; the key keeps its older value.
    ///
    /// - Returns: What was wrong at once, for callers that want to know: `.encodingFailed`,
    ///   `.keyTooLarge`, `.valueTooLarge`, `.readOnly`, `.closed`, `.poisoned`, `.io`, `.outOfSpace`,
    ///   also where 64 MiB of enqueued writes wait already, or `.conflict` where the dictionary is one of
    ///   objects with indexes, and whether these are complete is being written by another call.
    @discardableResult
    public func enqueue<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String
    ) -> Result<Void, RoostError> {
        enqueue(key) { try encode(value, .binary()) }
    }

    /// Sets the value of `key` without waiting; as the other `enqueue(_:forKey:)`.
    @_disfavoredOverload
    @discardableResult
    public func enqueue<Value: Codable & Sendable>(
        _ value: Value, forKey key: String
    ) -> Result<Void, RoostError> {
        enqueue(key) { try encode(value, .codable()) }
    }

    /// Removes `key` without waiting; as `enqueue(_:forKey:)`.
    @discardableResult
    public func enqueueRemoval(forKey key: String) -> Result<Void, RoostError> {
        enqueue(key) { nil }
    }

    /// Sets the value of the typed `key` without waiting, or removes it where `value` is the `nil`
    /// of an optional key; as `enqueue(_:forKey:)`.
    @discardableResult
    public func enqueue<Value>(_ value: Value, for key: Key<Value>) -> Result<Void, RoostError> {
        enqueue(value, key, key.form) { _ in false }
    }

    /// Removes the value of the typed `key` without waiting, so that it has its default.
    @discardableResult
    public func enqueueRemoval<Value>(for key: Key<Value>) -> Result<Void, RoostError> {
        enqueueRemoval(forKey: key.name)
    }

    /// Writes nothing where `isStored` says that the value is there already.
    func enqueue<Form: KeyForm>(
        _ value: Form.Value, _ key: Key<Form.Value>, _ form: Form.Type,
        unless isStored: (EncodedValue?) throws -> Bool
    ) -> Result<Void, RoostError> {
        enqueue(key.name, { try encode(value, form) }, unless: isStored)
    }

    func enqueue(
        _ key: String, _ encode: () throws -> EncodedValue?,
        unless isStored: (EncodedValue?) throws -> Bool = { _ in false }
    ) -> Result<Void, RoostError> {
        do {
            let encoded = try encode()
            if try isStored(encoded) { return .success(()) }
            try workspace.engine.enqueue(encoded, key: key, name: try checkedName())
            return .success(())
        } catch {
            let failure =
                error as? RoostError
                ?? RoostError(.encodingFailed, "the value could not be encoded", cause: error)
            // That the workspace is closed the next call says by itself.
            if failure.code == .closed {
                workspace.engine.failures.note(failure)
            } else {
                workspace.engine.failures.noteLostWrite(failure)
            }
            return .failure(failure)
        }
    }
}
