import RoostEngine
import RoostFormat
import Synchronization

/// Lets tasks that load the same cold key at the same time share one load.
///
/// - A key is in `waiting` exactly while one task, its leader, loads it; the leader removes it
///   and resumes every task that waited, once each, whatever the outcome.
final class LoadCoalescer: Sendable {
    private struct LoadKey: Hashable {
        var dictionary: DictionaryName
        var key: [UInt8]
        var type: ObjectIdentifier
        /// So that nobody gets an answer from before a change that it knows of.
        var state: FoundValue.Origin
    }

    private typealias Outcome = Result<(any Sendable)?, any Error>
    private let waiting = Mutex<[LoadKey: [CheckedContinuation<Outcome, Never>]]>([:])

    func load<Value: Sendable>(
        _ key: String, in dictionary: DictionaryName, state: FoundValue.Origin,
        as type: Value.Type,
        _ body: () throws -> Value?
    ) async throws -> Value? {
        let loadKey = LoadKey(
            dictionary: dictionary, key: Array(key.utf8), type: ObjectIdentifier(type),
            state: state)
        let isLeader = waiting.withLock { waiting in
            if waiting[loadKey] != nil { return false }
            waiting[loadKey] = []
            return true
        }
        guard !isLeader else { return try lead(loadKey, body) }
        let outcome = await withCheckedContinuation { continuation in
            let isLate = waiting.withLock { waiting in
                guard waiting[loadKey] != nil else { return true }
                waiting[loadKey]!.append(continuation)
                return false
            }
            // The leader has finished between the two looks: its answer may be out of date by
            // now, so this task loads for itself.
            if isLate { continuation.resume(returning: Result { try body() }.map { $0 }) }
        }
        return try outcome.get() as? Value
    }

    private func lead<Value: Sendable>(_ loadKey: LoadKey, _ body: () throws -> Value?) throws
        -> Value?
    {
        let outcome = Result { try body() }
        let followers = waiting.withLock { $0.removeValue(forKey: loadKey) } ?? []
        for follower in followers { follower.resume(returning: outcome.map { $0 }) }
        return try outcome.get()
    }
}
