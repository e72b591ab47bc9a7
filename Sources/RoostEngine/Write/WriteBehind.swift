import RoostFormat
import RoostIO
import RoostLog
import Synchronization

/// What all shards share for their enqueued writes: how much of them waits, and whom to tell of
/// what became of them.
///
/// - `pendingBytes` counts what is enqueued and neither in the log nor given up, `aheadBytes` what came
///   into the log since other writers have to wait for the compaction.
final class WriteBehind: Sendable {
    /// Beyond this much that waits, further writes are refused.
    static let pendingLimitBytes = 64 << 20

    let condition: EngineCondition
    let failures = WriteFailures()
    private let pendingBytes = Atomic<Int>(0)
    private let aheadBytes = Atomic<Int>(0)
    private let givenUp = Atomic<Int>(0)
    /// Called after each append.
    private let onAppend = Mutex<AppendHook?>(nil)

    init(condition: EngineCondition) { self.condition = condition }

    func setOnAppend(_ body: (@Sendable (LogWriter.Appended) -> Void)?) {
        onAppend.withLock { $0 = body.map(AppendHook.init) }
    }

    /// Takes room for a write, or throws: a synchronous call can wait for none.
    func reserve(sizeBytes: Int) throws {
        try add(sizeBytes, to: pendingBytes)
    }

    /// A write goes to the log, while other writers wait for room in it where `isStalled`; throws
    /// where as much has gone there as may.
    func noteAhead(sizeBytes: Int, isStalled: Bool) throws {
        if isStalled { return try add(sizeBytes, to: aheadBytes) }
        if aheadBytes.load(ordering: .relaxed) > 0 { aheadBytes.store(0, ordering: .relaxed) }
    }

    private func add(_ sizeBytes: Int, to total: borrowing Atomic<Int>) throws {
        guard total.load(ordering: .relaxed) < Self.pendingLimitBytes else {
            throw RoostError(
                .outOfSpace,
                "\(Self.pendingLimitBytes >> 20) MiB of enqueued writes wait already: "
                    + "await synchronize(), or set values instead of enqueuing them")
        }
        total.wrappingAdd(sizeBytes, ordering: .relaxed)
    }

    /// How many writes were given up that readers had seen.
    var givenUpCount: Int { givenUp.load(ordering: .acquiring) }

    /// Called with the mutex of the shard, in the moment in which its readers see them no more.
    func noteGivenUp(_ count: Int) { givenUp.wrappingAdd(count, ordering: .releasing) }

    func release(sizeBytes: Int) { pendingBytes.wrappingSubtract(sizeBytes, ordering: .relaxed) }

    func noteAppended(_ appended: LogWriter.Appended) { onAppend.withLock { $0 }?.body(appended) }

    /// A struct around the function: one that stands in the mutex itself is wrapped once more by each
    /// look at it, so that a hundred thousand looks made a chain that overran the stack.
    private struct AppendHook: Sendable {
        let body: @Sendable (LogWriter.Appended) -> Void
    }

    /// Keeps the loss of a write for the next `synchronize`; returns the error that says so, for those
    /// who listen, whom the caller tells.
    func noteLost(_ write: EnqueuedWrites.Write, _ cause: any Error) -> RoostError {
        let failure = Self.loss(of: write.operation.key, cause)
        failures.keep(failure)
        return failure
    }

    /// The error for an enqueued write that cannot be made.
    static func loss(of recordKey: UnsafeRawBufferPointer, _ cause: any Error) -> RoostError {
        let parts = splitRecordKey(recordKey)
        let text = parts.map { dictionary, key in
            "\"\(String(decoding: key, as: UTF8.self))\" in "
                + "\"\(String(decoding: dictionary, as: UTF8.self))\""
        }
        let error = cause as? RoostError
        return RoostError(
            error?.code ?? .io,
            "the enqueued write of \(text ?? "a key") was lost: \(error?.message ?? "\(cause)")",
            file: error?.file, offset: error?.offset, cause: cause)
    }
}
