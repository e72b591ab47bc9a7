import Roost
import RoostIO

/// The entries of values that are to be unique, which a call for many objects has still to write: once all of them are
/// changed, as until then another of them may have the value. docs/decisions/0248.
struct AwaitedSharedEntries {
    struct Awaited {
        let key: [UInt8]
        let value: [UInt8]
        let objectKey: [UInt8]
        let notUnique: (_ other: [UInt8]) -> RoostError
    }

    private struct Place: Hashable {
        let key: [UInt8]
        let objectKey: [UInt8]
    }

    private var indices: [Place: Int] = [:]
    private var awaited: [Awaited?] = []

    /// In the order in which they came.
    var all: [Awaited] { awaited.compactMap { $0 } }

    mutating func add(_ entry: Awaited) {
        indices[Place(key: entry.key, objectKey: entry.objectKey)] = awaited.count
        awaited.append(entry)
    }

    /// Forgets an entry of an object that is changed once more; `false` where it is not awaited.
    mutating func remove(_ key: [UInt8], _ objectKey: [UInt8]) -> Bool {
        guard let index = indices.removeValue(forKey: Place(key: key, objectKey: objectKey)) else {
            return false
        }
        awaited[index] = nil
        return true
    }

    /// Forgets all of an index that is not there any more.
    mutating func removeAll(in range: SharedKeyRange) {
        for (place, index) in indices where range.contains(place.key) {
            indices[place] = nil
            awaited[index] = nil
        }
    }
}

extension SharedTransaction {
    /// Changes many objects as one: their values have to be unique once all are changed, whatever they are between.
    /// Where it fails the transaction should be left.
    nonisolated(nonsending) func changeTogether<Item>(
        _ items: [(String, Item)], in repository: SharedRepository<Item>
    ) async throws {
        awaitedEntries = AwaitedSharedEntries()
        defer { awaitedEntries = nil }
        for (key, item) in items { try await change(key, to: item, in: repository) }
        for entry in awaitedEntries?.all ?? [] {
            if let other = try await holder(entry.key, entry.objectKey) {
                throw entry.notUnique(other)
            }
            try write(entry.value, forKey: entry.key)
        }
    }
}
