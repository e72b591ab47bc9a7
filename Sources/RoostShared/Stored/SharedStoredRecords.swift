import Roost
import RoostFormat
import RoostIO

/// Walks the records of a shared workspace as they are stored, all of one revision: the dictionaries,
/// and the keys in each, in the order of their bytes; or both against it. Holds a page of records.
///
/// - `revision` is set by the first request, and every later one is made at it.
/// - `names` are the dictionaries that were not begun, the next one last.
package final class SharedStoredRecords {
    private let workspace: SharedWorkspace
    private let range: StoredRange
    private var names: [String]?
    private var current: (name: String, scan: SharedScan)?
    private var remaining: Int
    package private(set) var revision: UInt64?

    package init(_ workspace: SharedWorkspace, _ range: StoredRange = StoredRange()) {
        self.workspace = workspace
        self.range = range
        remaining = range.limit
    }

    /// The next record; `nil` after the last.
    ///
    /// - Throws: `.compacted` where the engine keeps the revision no longer, and what reading throws.
    package nonisolated(nonsending) func next() async throws -> StoredRecord? {
        if names == nil { try await begin() }
        while remaining > 0 {
            guard let (name, scan) = current ?? nextScan() else { return nil }
            current = (name, scan)
            if let record = try await scan.next() {
                remaining -= 1
                let key = scan.key(of: record)
                let value = try workspace.dictionary(name).storedValue(record.value, key)
                return StoredRecord(dictionary: name, key: key, value: value)
            }
            revision = scan.revision ?? revision
            current = nil
        }
        return nil
    }

    private nonisolated(nonsending) func begin() async throws {
        if let name = range.dictionary {
            names = [name]
            return
        }
        let (found, revision) = try await workspace.storedDictionaryNames()
        self.revision = revision
        names = range.order == .ascending ? found.reversed() : found
    }

    private func nextScan() -> (name: String, scan: SharedScan)? {
        guard let name = names?.popLast() else { return nil }
        var selection = KeySelection(
            prefix: range.prefix, limit: remaining == .max ? nil : remaining, order: range.order)
        if let from = range.from {
            let lower = Array(from.utf8)
            if selection.bounds.lower.lexicographicallyPrecedes(lower) {
                selection.bounds.lower = lower
            }
        }
        if let below = range.below {
            let upper = Array(below.utf8)
            if selection.bounds.upper.map({ upper.lexicographicallyPrecedes($0) }) ?? true {
                selection.bounds.upper = upper
            }
        }
        let dictionary = workspace.dictionary(name)
        return (name, SharedScan(dictionary, selection, isKeysOnly: false, at: revision))
    }
}

extension SharedWorkspace {
    /// The names of the dictionaries that have a record, in the order of their bytes, and the revision that they are
    /// of. One request for each.
    package func storedDictionaryNames() async throws -> (names: [String], revision: UInt64) {
        var names: [String] = []
        var range = connection.keys.everything
        var revision: UInt64?
        while true {
            var read = SharedRead(range, at: revision, limit: 1)
            read.isKeysOnly = true
            let page = try await connection.read(read, before: callEnd)
            revision = page.revision
            guard let key = page.records.first?.key else { break }
            if let (name, _) = connection.keys.dictionary(of: key) { names.append(name) }
            range.lower = connection.keys.end(ofDictionaryWith: key)
            if range.isEmpty { break }
        }
        names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return (names, revision ?? 0)
    }

    /// Sets records as they are stored, in as few commits as the engine's limits allow, one after another. A
    /// record that has expired is removed, and of several of one key the last one counts.
    ///
    /// - Throws: what a commit throws; those before it are made then.
    package func writeStored(_ records: [StoredRecord]) async throws {
        // Before, so that what takes indexes away needs no room in the commits.
        for name in Self.names(of: records[...]) {
            try await connection.dropIndexes(of: name, before: callEnd)
        }
        var commit = SharedCommit()
        var places: [[UInt8]: Int] = [:]
        var first = 0
        for (number, record) in records.enumerated() {
            let operation = try operation(record)
            let place = places[operation.key] ?? commit.operations.count
            var larger = commit
            if place < commit.operations.count {
                larger.operations[place] = operation.change
            } else {
                larger.operations.append(operation.change)
            }
            if !commit.operations.isEmpty, !hasRoom(for: larger) {
                try await make(commit, Self.names(of: records[first..<number]))
                first = number
                commit = SharedCommit(operations: [operation.change])
                places = [operation.key: 0]
            } else {
                commit = larger
                places[operation.key] = place
            }
        }
        guard !commit.operations.isEmpty else { return }
        try await make(commit, Self.names(of: records[first...]))
    }

    /// Asks the engine nothing.
    ///
    /// - Throws: `.keyTooLarge`, `.tooLarge` where the engine does not take the record alone in a commit;
    ///   `.encodingFailed` where its bytes make no sense.
    package func checkStored(_ record: StoredRecord) throws {
        try connection.checkLimits(SharedCommit(operations: [try operation(record).change]))
    }

    /// Each once, by its bytes.
    private static func names(of records: ArraySlice<StoredRecord>) -> [String] {
        Set(records.map { Array($0.dictionary.utf8) }).map { String(decoding: $0, as: UTF8.self) }
    }

    private func make(_ commit: SharedCommit, _ names: [String]) async throws {
        try await connection.write(commit.operations, byKeysOf: names, before: callEnd)
    }

    /// With the mark that each commit leaves.
    private func hasRoom(for commit: SharedCommit) -> Bool {
        commit.operationCount + 2 <= limits.operationCount
            && commit.sizeBytes + 1024 <= limits.commitSizeBytes
    }

    private func operation(
        _ record: StoredRecord
    ) throws -> (key: [UInt8], change: SharedOperation) {
        let key = try dictionary(record.dictionary).engineKey(record.key)
        let stored = [record.value.kind] + record.value.payload
        guard stored.withUnsafeBytes({ ValueHeader($0) }) != nil else {
            throw RoostError(
                .encodingFailed,
                "\"\(record.key)\" in \"\(record.dictionary)\" has a kind and payload that make no sense"
            )
        }
        let deadline = connection.clock.deadline(of: stored)
        guard deadline != .never else {
            return (key, .put(key: key, value: stored, expiresIn: nil))
        }
        let now = connection.clock.milliseconds
        guard deadline.milliseconds > now else { return (key, .remove(key: key)) }
        let rest = Duration.milliseconds(deadline.milliseconds - now)
        return (key, .put(key: key, value: stored, expiresIn: rest))
    }
}
