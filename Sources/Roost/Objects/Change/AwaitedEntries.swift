/// The entries of values that are to be unique, which a call for many objects has still to write: once all of them are
/// changed, as until then another of them may have the value. docs/decisions/0248.
package struct AwaitedEntries<Entry> {
    private struct Place: Hashable {
        let key: [UInt8]
        let objectKey: [UInt8]
    }

    private var indices: [Place: Int] = [:]
    private var awaited: [Entry?] = []

    package init() {}

    /// In the order in which they came.
    package var all: [Entry] { awaited.compactMap { $0 } }

    /// - Parameter key: of the entry, among those of all indexes.
    package mutating func add(_ entry: Entry, _ key: [UInt8], of objectKey: [UInt8]) {
        indices[Place(key: key, objectKey: objectKey)] = awaited.count
        awaited.append(entry)
    }

    /// Forgets an entry of an object that is changed once more; `false` where it is not awaited.
    package mutating func remove(_ key: [UInt8], of objectKey: [UInt8]) -> Bool {
        guard let index = indices.removeValue(forKey: Place(key: key, objectKey: objectKey)) else {
            return false
        }
        awaited[index] = nil
        return true
    }

    /// Forgets those whose keys are so, as of an index that is not there any more.
    package mutating func removeAll(where isGone: (_ key: [UInt8]) -> Bool) {
        for (place, index) in indices where isGone(place.key) {
            indices[place] = nil
            awaited[index] = nil
        }
    }
}
