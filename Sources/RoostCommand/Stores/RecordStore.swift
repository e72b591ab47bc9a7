import Roost

/// Records as they are stored, in a workspace's files or in a cluster: what the commands that work on
/// either ask for.
protocol RecordStore: Sendable {
    /// The dictionaries that have a key, in the order of their names' bytes.
    func dictionaryNames() async throws -> [String]

    /// The value of a key, or `nil`.
    func value(forKey key: String, in dictionary: String) async throws -> StoredValue?

    /// The records of a range, all of one moment.
    func records(_ range: StoredRange) async throws -> any RecordCursor

    /// How many records a walk of the range gives; `nil` where only the walk tells.
    func recordCount(of range: StoredRange) async throws -> Int?

    /// Throws what `write` throws of a record that the store takes in no case, as one beyond its limits.
    func check(_ record: StoredRecord) throws

    /// Sets records. Returns once a crash of this process takes nothing back; more than the store takes at
    /// once is written in several steps, and where one fails those before it stay.
    func write(_ records: [StoredRecord]) async throws

    /// Returns once what was written is as safe as the store can have it.
    func synchronize() async throws

    /// Removes a key.
    func remove(_ key: String, from dictionary: String) async throws

    /// Sizes and counts, as `stat` prints them.
    func figures() async throws -> [JSONValue.Member]
}

/// Steps through records in order. For one user at a time.
protocol RecordCursor: AnyObject {
    /// The next record; `nil` after the last.
    nonisolated(nonsending) func next() async throws -> StoredRecord?
}

extension RecordStore {
    /// What a line holds, or a workspace in files has, is within the limits of one.
    func check(_ record: StoredRecord) {}

    /// - Throws: `Failure` where no key is in the dictionary that was named: its name may be a mistake.
    func require(_ dictionary: String?) async throws {
        guard let dictionary else { return }
        // By bytes, as names are.
        guard
            try await !dictionaryNames().contains(where: { $0.utf8.elementsEqual(dictionary.utf8) })
        else { return }
        throw Failure(
            .notFound, "there is no dictionary \"\(dictionary)\" (keys lists those that there are)")
    }

    /// How many keys a dictionary has at one moment.
    func count(of dictionary: String) async throws -> Int {
        let range = StoredRange(dictionary: dictionary)
        if let count = try await recordCount(of: range) { return count }
        let cursor = try await records(range)
        var count = 0
        while try await cursor.next() != nil { count += 1 }
        return count
    }
}
