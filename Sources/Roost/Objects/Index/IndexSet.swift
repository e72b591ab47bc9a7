import RoostEngine
import RoostFormat

/// The indexes of one dictionary that are written with each object, at one time. Whether one of them is
/// complete its mark says.
final class IndexSet<Item: Sendable>: Sendable {
    /// A class, so that handing one on costs one reference.
    final class Active: Sendable {
        let index: Index<Item>
        let maker: EntryMaker<Item>
        let number: UInt64
        let entries: DictionaryName
        let mark: [UInt8]

        init(_ index: Index<Item>, _ number: UInt64) {
            self.index = index
            maker = index.maker
            self.number = number
            entries = IndexCatalog.entries(number)
            mark = IndexCatalog.mark(number)
        }

        var name: String { maker.name }

        func entries(of object: UnsafePointer<Item>) throws -> IndexEntries {
            try maker.entries(of: object)
        }

        func awaited(_ entry: IndexEntry, _ objectKey: [UInt8]) -> AwaitedEntry {
            .init(indexName: name, entries: entries, entry: entry, objectKey: objectKey)
        }
    }

    let active: [Active]
    /// The marks of `active`, which a write that changes their entries keeps.
    var marks: Set<[UInt8]> { kept.marks }
    let kept: KeptMarks
    /// `nil` where it takes the object to make an entry.
    let storedEntries: StoredIndexEntries<Item>?
    /// The declared ones that are not among `active` yet.
    let missing: [Index<Item>]
    /// The first of these that is to keep values unique.
    let missingUnique: Index<Item>?

    init(_ active: [Active], missing: [Index<Item>] = []) {
        self.active = active
        self.missing = missing
        missingUnique = missing.first { $0.isUnique }
        kept = KeptMarks(Set(active.map(\.mark)))
        storedEntries = StoredIndexEntries(active)
    }
}
