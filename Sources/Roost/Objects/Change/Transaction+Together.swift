import RoostEngine
import RoostFormat

/// The entries of values that are to be unique, which a call for many objects has still to write: once all of them are
/// changed, as until then another of them may have the value. docs/decisions/0248.
struct AwaitedEntries {
    struct Awaited {
        let indexName: String
        let entries: DictionaryName
        let entry: IndexEntry
        let objectKey: [UInt8]
    }

    private struct Place: Hashable {
        let recordKey: [UInt8]
        let objectKey: [UInt8]

        init(_ awaited: Awaited) {
            recordKey = awaited.entries.prefix + awaited.entry.form
            objectKey = awaited.objectKey
        }
    }

    private var indices: [Place: Int] = [:]
    private var awaited: [Awaited?] = []

    /// In the order in which they came.
    var all: [Awaited] { awaited.compactMap { $0 } }

    mutating func add(_ entry: Awaited) {
        indices[Place(entry)] = awaited.count
        awaited.append(entry)
    }

    /// Forgets an entry of an object that is changed once more; `false` where it is not awaited.
    mutating func remove(_ entry: Awaited) -> Bool {
        guard let index = indices.removeValue(forKey: Place(entry)) else { return false }
        awaited[index] = nil
        return true
    }
}

extension Transaction {
    /// Changes many objects as one: their values have to be unique once all are changed, whatever they are between. Where
    /// it fails none of them is changed.
    mutating func changeTogether<Result>(
        _ body: (inout Transaction) throws -> Result
    ) throws -> Result {
        let extent = attempt.extent
        awaitedEntries = AwaitedEntries()
        do {
            let result = try body(&self)
            try writeAwaitedEntries()
            return result
        } catch {
            awaitedEntries = nil
            attempt.takeBack(to: extent)
            throw error
        }
    }

    private mutating func writeAwaitedEntries() throws {
        guard let all = awaitedEntries?.all else { return }
        awaitedEntries = nil
        for awaited in all {
            try checkFree(awaited)
            try attempt.write(
                awaited.entry.value(awaited.objectKey), in: awaited.entries, awaited.entry.form, [])
        }
    }

    /// That no other object has the value.
    mutating func checkFree(_ awaited: AwaitedEntries.Awaited) throws {
        let other = try attempt.withValue(
            recordKey: awaited.entries.prefix + awaited.entry.form, in: awaited.entries
        ) { $0.map { indexedObjectKey(inValue: $0) } }
        guard let other, other != awaited.objectKey else { return }
        throw NotUnique.error(
            awaited.indexName, String(decoding: awaited.objectKey, as: UTF8.self),
            String(decoding: other, as: UTF8.self))
    }
}
