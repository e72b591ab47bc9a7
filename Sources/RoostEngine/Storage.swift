import RoostLog

/// What shards stand on: the one seam between them and where data is kept.
///
/// The embedded engine is its first implementation. Shards know batches, sequence numbers and
/// opaque locations that can be read as memory; files, segments and syncs are below.
///
/// A class, so that a shard reaches it by one reference.
package protocol Storage: AnyObject, Sendable {
    /// Appends one batch and hands out its sequence number. When it returns the batch survives
    /// the process; on a throw nothing was appended.
    func append(
        payloadCount: Int, isAwaited: Bool, fill: (UnsafeMutableRawPointer) -> Void
    ) throws -> LogWriter.Appended

    /// As above, of a payload that is laid out already.
    func append(_ payload: UnsafeRawBufferPointer, isAwaited: Bool) throws -> LogWriter.Appended
}

extension Storage {
    package func append(
        _ payload: UnsafeRawBufferPointer, isAwaited: Bool
    ) throws -> LogWriter.Appended {
        try append(payloadCount: payload.count, isAwaited: isAwaited) { target in
            guard let base = payload.baseAddress else { return }
            target.copyMemory(from: base, byteCount: payload.count)
        }
    }

    /// Appends a batch that is laid out already.
    func append(_ batch: EncodedBatch, isAwaited: Bool) throws -> LogWriter.Appended {
        try batch.withPayload { try append($0, isAwaited: isAwaited) }
    }
}

extension LogWriter: Storage {
    package func append(
        payloadCount: Int, isAwaited: Bool, fill: (UnsafeMutableRawPointer) -> Void
    ) throws -> LogWriter.Appended {
        try append(payloadCount: payloadCount, flags: isAwaited ? .synced : .none, fill: fill)
    }

    package func append(
        _ payload: UnsafeRawBufferPointer, isAwaited: Bool
    ) throws -> LogWriter.Appended {
        try append(payload, flags: isAwaited ? .synced : .none)
    }
}
