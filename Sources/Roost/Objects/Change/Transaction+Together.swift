import RoostEngine
import RoostFormat

/// An entry that is written once all objects of a call are changed.
struct AwaitedEntry {
    let index: WrittenIndex
    let entry: IndexEntry
    let objectKey: [UInt8]
    /// Of the object.
    let deadline: Deadline
    /// Where the attempt has written the objects by their keys, of which entries do not tell then: whether another object has
    /// the value as the attempt has left it.
    var isHeld: ((inout Transaction, AwaitedEntry, _ other: [UInt8]) throws -> Bool)?

    var entries: DictionaryName { index.entries }
    var recordKey: [UInt8] { entries.prefix + entry.form }
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
                awaited.entry.value(awaited.objectKey).with(deadline: awaited.deadline),
                in: awaited.entries, awaited.entry.form, [])
        }
    }

    /// That no other object has the value.
    mutating func checkFree(_ awaited: AwaitedEntry) throws {
        guard let other = try holder(of: awaited), other != awaited.objectKey else { return }
        if let isHeld = awaited.isHeld, try !isHeld(&self, awaited, other) { return }
        throw NotUnique.error(
            awaited.index.name, String(decoding: awaited.objectKey, as: UTF8.self),
            String(decoding: other, as: UTF8.self))
    }

    /// The key of the object that has the value, as the attempt has left it; `nil` where none has.
    mutating func holder(of awaited: AwaitedEntry) throws -> [UInt8]? {
        try attempt.withValue(recordKey: awaited.recordKey, in: awaited.entries) {
            $0.map { indexedObjectKey(inValue: $0) }
        }
    }
}
