import RoostCoding
import RoostEngine
import RoostIO

extension WorkspaceDictionary {
    /// Sets the value of `key` without waiting: readers see it when the call returns, and it is
    /// written behind. For callers that cannot suspend. Never waits for the disk; costs the
    /// encoding and a copy.
    ///
    /// - It has its place among all writes of the key: before every write that begins after this
    ///   call has returned, enqueued or not. Watchers are told of it, with its version, once it
    ///   is in the log.
    /// - The process's death before that may take it. ``Workspace/synchronize()`` returns once
    ///   it is on disk; ``Workspace/close()`` writes what is left.
    /// - While a batch that changes the same key waits for its sync, this write waits behind it,
    ///   and is read meanwhile all the same: so before the batch's other keys.
    /// - Where it fails, at once or later, the next `synchronize` or `close` throws that, and
    ///   ``Workspace/failures`` tells it; the key keeps its older value.
    ///
    /// - Returns: What was wrong at once, for callers that want to know: `.encodingFailed`,
    ///   `.keyTooLarge`, `.valueTooLarge`, `.readOnly`, `.closed`, `.poisoned`, or `.outOfSpace`
    ///   where 64 MiB of enqueued writes wait already.
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

    private func enqueue(
        _ key: String, _ encode: () throws -> EncodedValue?
    ) -> Result<Void, RoostError> {
        do {
            try workspace.engine.enqueue(try encode(), key: key, name: try checkedName())
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
