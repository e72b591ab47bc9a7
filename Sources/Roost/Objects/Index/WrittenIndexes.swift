import RoostEngine
import RoostFormat

/// An index that is written with each object of a dictionary. Of no type of object, as what is of a type that the
/// compiler does not know the runtime looks up at each change.
final class WrittenIndex: Sendable {
    let maker: EntryMaker
    let number: UInt64
    let entries: DictionaryName
    let mark: [UInt8]

    init(maker: EntryMaker, number: UInt64) {
        self.maker = maker
        self.number = number
        entries = IndexCatalog.entries(number)
        mark = IndexCatalog.mark(number)
    }

    var name: String { maker.name }

    func awaited(
        _ entry: IndexEntry, _ objectKey: [UInt8], until deadline: Deadline
    ) -> AwaitedEntry {
        .init(index: self, entry: entry, objectKey: objectKey, deadline: deadline)
    }
}

/// The indexes of an `IndexSet`, for those who write.
///
/// - An object is handed on as where it stands, and is one of the set's type.
final class WrittenIndexes: Sendable {
    let all: [WrittenIndex]
    /// Their marks, which a write that changes their entries keeps.
    let kept: KeptMarks
    /// `nil` where it takes the object to make an entry.
    let storedEntries: StoredIndexEntries?
    /// Whether there are declared ones that are not written yet.
    let areMissing: Bool
    /// The first of these that is to keep values unique.
    let missingUniqueName: String?

    init(
        _ all: [WrittenIndex], _ storedEntries: StoredIndexEntries?, areMissing: Bool,
        missingUniqueName: String?
    ) {
        self.all = all
        self.storedEntries = storedEntries
        self.areMissing = areMissing
        self.missingUniqueName = missingUniqueName
        kept = KeptMarks(Set(all.map(\.mark)))
    }
}
