import Roost
import RoostFormat
import RoostIO

/// What a shared workspace has of an engine: the calls of its dictionaries go through here.
package final class SharedConnectionState: Sendable {
    package let engine: any SharedEngine
    package let keys: SharedKeys
    package let clock: SharedClock
    let format: SharedFormat
    let coder: ValueCoder
    let marks: CommitMarks
    let turns = ConflictTurns()
    let catalogs = KnownCatalogs()

    init(
        _ engine: any SharedEngine, _ format: SharedFormat, _ clock: SharedClock,
        _ coder: ValueCoder, markLifetime: Duration = SharedMark.lifetime
    ) {
        self.engine = engine
        self.format = format
        keys = format.keys
        self.clock = clock
        self.coder = coder
        marks = CommitMarks(keys, lifetime: markLifetime)
    }

    /// Connects where that is left to the first call: the limits are known from then on.
    func connect(before deadline: ContinuousClock.Instant) async throws {
        guard let lazy = engine as? LazyEngine, lazy.connected == nil else { return }
        try checkCancellation()
        _ = try await lazy.engine(before: deadline)
    }

    /// Whether somebody has answered.
    var isConnected: Bool { (engine as? LazyEngine).map { $0.connected != nil } ?? true }

    package func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try checkCancellation()
        clock.keepAdjusted(to: engine)
        return try await engine.read(read, before: deadline)
    }

    /// The record of a key, also of a value that has expired and is not removed yet; and the revision.
    func record(
        _ key: [UInt8], at revision: UInt64? = nil, before deadline: ContinuousClock.Instant
    ) async throws -> (record: SharedRecord?, revision: UInt64) {
        let page = try await read(SharedRead(SharedKeyRange(key), at: revision), before: deadline)
        return (page.records.first, page.revision)
    }

    /// The record where its value has not expired.
    func live(_ record: SharedRecord?) -> SharedRecord? {
        guard let record, clock.isLive(record.value) else { return nil }
        return record
    }

    /// Whether the engine takes so much at once.
    func hasRoom(for commit: SharedCommit) -> Bool {
        commit.operationCount + 1 <= engine.limits.operationCount
            && commit.sizeBytes <= engine.limits.commitSizeBytes
    }

    /// Throws `.tooLarge` where the engine does not take so much at once, `.keyTooLarge` where it does not take a key:
    /// those of a workspace that connects lazily were looked at before it knew the limit.
    func checkLimits(_ commit: SharedCommit) throws {
        let limits = engine.limits
        for operation in commit.operations {
            switch operation {
            case .put(let key, _, _), .remove(let key): try checkKey(key)
            case .removeRange: break
            }
        }
        let count = commit.operationCount + 1
        guard count <= limits.operationCount else {
            throw RoostError(
                .tooLarge,
                "\(count) operations or guards are more than the \(limits.operationCount) that the engine takes at once"
            )
        }
        guard commit.sizeBytes <= limits.commitSizeBytes else {
            throw RoostError(
                .tooLarge,
                "\(commit.sizeBytes) bytes are more than the \(limits.commitSizeBytes) that the engine takes at once"
            )
        }
    }

    func checkKey(_ key: [UInt8]) throws {
        guard key.count <= engine.limits.keySizeBytes else {
            throw RoostError(
                .keyTooLarge,
                "a key of \(key.count) bytes, with its namespace and dictionary, is longer than the \(engine.limits.keySizeBytes) that the engine takes"
            )
        }
    }
}

/// Throws `.cancelled` where the task is, so that a cancelled call changes nothing.
func checkCancellation() throws {
    if Task.isCancelled {
        throw RoostError(.cancelled, "the task was cancelled before the call took effect")
    }
}
