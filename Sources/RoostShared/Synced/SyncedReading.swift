import Roost
import RoostIO

/// Reads objects as they are there, for several tasks.
struct SyncedReading<Item: Codable & Sendable>: Sendable {
    let shared: SharedDictionary
    let origins: SharedDictionary
    let form: ValueForm<Item>

    /// An object and, with `withOrigin`, what it was in the store before this one; of one revision. Where the engine gives
    /// that one up between the two reads, both are made again.
    func object(_ key: String, withOrigin: Bool) async throws -> SyncedThere<Item> {
        let deadline = shared.workspace.callEnd
        return try await readingAgain(until: deadline) {
            try await object(key, withOrigin: withOrigin, before: deadline)
        }
    }

    private func object(
        _ key: String, withOrigin: Bool, before deadline: ContinuousClock.Instant
    ) async throws -> SyncedThere<Item> {
        let connection = shared.connection
        let (record, revision) = try await connection.record(
            try shared.engineKey(key), before: deadline)
        var there = SyncedThere<Item>(
            item: Result { try shared.value(of: record, key, form) },
            stored: connection.live(record)?.value, version: record?.revision ?? 0,
            revision: revision)
        if withOrigin, let originKey = originKey(key) {
            let (origin, _) = try await connection.record(
                originKey, at: revision, before: deadline)
            there.origin = try origins.value(of: origin, key, .codable())
            there.originVersion = origin?.revision ?? 0
        }
        return there
    }

    /// Where the origin of an object is; `nil` where the object's key is so long that the engine does not take it.
    func originKey(_ key: String) -> [UInt8]? {
        let originKey = origins.start + Array(key.utf8)
        return originKey.count <= shared.connection.engine.limits.keySizeBytes ? originKey : nil
    }
}
