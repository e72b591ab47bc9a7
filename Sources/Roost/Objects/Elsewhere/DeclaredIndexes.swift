import RoostFormat
import RoostIO

/// The indexes that a type declares, in bytes: for repositories whose objects another engine keeps.
///
/// An index is known by its place in the declaration. Where its entries stand, and whether there is one for each
/// object, is the caller's to know.
package struct DeclaredIndexes<Item: Sendable>: Sendable {
    let active: [IndexSet<Item>.Active]

    /// `nil` where the type declares none.
    package init?() {
        guard let type = Item.self as? any Indexed.Type else { return nil }
        let declared: [Index<Item>] = ObjectIndexRegistry.declared(type)
        guard !declared.isEmpty else { return nil }
        checkNames(of: declared)
        active = declared.enumerated().map { .init($0.element, UInt64($0.offset)) }
    }

    package var places: Range<Int> { active.indices }
    package func name(at place: Int) -> String { active[place].index.name }
    /// What tells it from others of its name.
    package func shape(at place: Int) -> String { active[place].index.shape }
    /// Whether an entry's value, and not its key, may name the object.
    package func hasKeysInValues(at place: Int) -> Bool { active[place].index.isUnique }

    /// What an index keeps of one object, or of one of its elements.
    package struct Entry: Hashable, Sendable {
        /// After what the entries of the index begin with.
        package let key: [UInt8]
        /// As it is stored, with its kind.
        package let value: [UInt8]
        /// Whether no other object may have it.
        package let isSole: Bool

        fileprivate init(_ entry: IndexEntry, _ objectKey: [UInt8]) {
            key = entry.key(objectKey)
            value = [ValueKind.bytes.rawValue] + (entry.isSole ? objectKey : [])
            isSole = entry.isSole
        }
    }

    /// The entries of an object, each once.
    ///
    /// - Throws: `.valueTooLarge` where a value that is to be unique is cut off; what a predicate in the index's
    ///   condition throws.
    package func entries(
        of item: Item, _ objectKey: [UInt8], at place: Int
    ) throws -> [Entry] {
        let entries = try withUnsafePointer(to: item) {
            try active[place].index.entries(of: $0)
        }
        return entries.map { Entry($0, objectKey) }
    }

    /// The entries that an index has of an object which is there: none where none can be made of it, as of one that was
    /// stored before there was the index.
    package func entries(
        ofEarlier item: Item, _ objectKey: [UInt8], at place: Int
    ) throws -> [Entry] {
        let entries = try withUnsafePointer(to: item) {
            try active[place].index.maker.entries(ofEarlier: $0)
        }
        return entries.all.map { Entry($0, objectKey) }
    }

    /// The key of the object that an entry names; `nil` where the bytes are no entry of the index.
    package func objectKey(ofEntry key: [UInt8], _ value: [UInt8], at place: Int) -> [UInt8]? {
        let index = active[place].index
        guard let end = key.withUnsafeBytes({ index.parse($0)?.formEnd }) else { return nil }
        let isInKey = end < key.count || !index.isUnique
        return isInKey ? Array(key[end...]) : Self.objectKey(inValue: value)
    }

    /// The key of the object that an entry's value names.
    package static func objectKey(inValue stored: [UInt8]) -> [UInt8] {
        stored.withUnsafeBytes { indexedObjectKey(inValue: $0) }
    }

    /// What is thrown where another object has the value that an index keeps unique.
    package func notUnique(at place: Int, _ key: [UInt8], _ other: [UInt8]) -> RoostError {
        NotUnique.error(
            name(at: place), String(decoding: key, as: UTF8.self),
            String(decoding: other, as: UTF8.self))
    }
}
