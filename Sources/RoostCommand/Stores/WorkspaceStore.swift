import Roost

/// A workspace in files.
struct WorkspaceStore: RecordStore {
    let workspace: Workspace

    func dictionaryNames() throws -> [String] { try workspace.dictionaryNames }

    func value(forKey key: String, in dictionary: String) throws -> StoredValue? {
        try workspace.dictionary(dictionary).storedValue(forKey: key)
    }

    func records(_ range: StoredRange) throws -> any RecordCursor {
        try StoredRecords(workspace, range)
    }

    func recordCount(of range: StoredRange) throws -> Int? {
        guard range.prefix.isEmpty, range.from == nil, range.below == nil else { return nil }
        let names = try range.dictionary.map { [$0] } ?? workspace.dictionaryNames
        return try names.reduce(0) { try $0 + workspace.dictionary($1).count }
    }

    func write(_ records: [StoredRecord]) async throws {
        try await workspace.write(durability: .process) { batch in
            for record in records {
                batch.setStored(
                    record.value, forKey: record.key, in: workspace.dictionary(record.dictionary))
            }
        }
    }

    func synchronize() async throws { try await workspace.synchronize() }

    func remove(_ key: String, from dictionary: String) async throws {
        try await workspace.dictionary(dictionary).removeValue(forKey: key, durability: .process)
    }

    func figures() throws -> [JSONValue.Member] { try StatCommand.collect(workspace) }
}

extension StoredRecords: RecordCursor {}
