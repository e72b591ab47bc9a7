import Roost
import RoostIO

/// An entry that is written once all objects of a call are changed.
struct AwaitedSharedEntry {
    let key: [UInt8]
    let value: [UInt8]
    let objectKey: [UInt8]
    let notUnique: (_ other: [UInt8]) -> RoostError
}

extension SharedTransaction {
    /// Changes many objects as one: their values have to be unique once all are changed, whatever they are between.
    /// Where it fails none of them is changed.
    nonisolated(nonsending) func changeTogether<Item>(
        _ items: [(String, Item)], in repository: SharedRepository<Item>
    ) async throws {
        awaitedEntries = AwaitedEntries()
        defer { awaitedEntries = nil }
        try await asOne {
            for (key, item) in items { try await change(key, to: item, in: repository) }
            for entry in awaitedEntries?.all ?? [] {
                if let other = try await holder(entry.key, entry.objectKey) {
                    throw entry.notUnique(other)
                }
                try write(entry.value, forKey: entry.key)
            }
        }
    }
}
