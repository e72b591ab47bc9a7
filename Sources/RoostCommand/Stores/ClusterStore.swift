import Roost
import RoostShared

/// A workspace that an engine beyond this process keeps.
struct ClusterStore: RecordStore {
    let workspace: SharedWorkspace

    func dictionaryNames() async throws -> [String] {
        try await workspace.storedDictionaryNames().names
    }

    func value(forKey key: String, in dictionary: String) async throws -> StoredValue? {
        try await workspace.dictionary(dictionary).storedValue(forKey: key)
    }

    func records(_ range: StoredRange) -> any RecordCursor {
        SharedStoredRecords(workspace, range)
    }

    /// Counting reads all keys.
    func recordCount(of range: StoredRange) -> Int? { nil }

    func check(_ record: StoredRecord) throws { try workspace.checkStored(record) }

    func write(_ records: [StoredRecord]) async throws { try await workspace.writeStored(records) }

    /// What a commit has returned is acknowledged by the engine's quorum.
    func synchronize() {}

    func remove(_ key: String, from dictionary: String) async throws {
        try await workspace.dictionary(dictionary).remove(key: key)
    }

    func figures() async throws -> [JSONValue.Member] {
        let (names, revision) = try await workspace.storedDictionaryNames()
        var dictionaries: [JSONValue.Member] = []
        for name in names {
            let count = try await workspace.dictionary(name).count
            dictionaries.append(.init(name: name, value: .integer(count)))
        }
        let limits = workspace.limits
        return [
            .init(name: "namespace", value: .string(workspace.namespace)),
            .init(name: "dictionaries", value: .object(dictionaries)),
            .init(name: "revision", value: .integer(revision)),
            // Each commit has its mark besides what it was given.
            .init(name: "commitOperationLimit", value: .integer(limits.operationCount - 1)),
            .init(name: "commitSizeLimitBytes", value: .integer(limits.commitSizeBytes)),
            .init(name: "keySizeLimitBytes", value: .integer(limits.keySizeBytes)),
        ]
    }
}

extension SharedStoredRecords: RecordCursor {}
