import RoostEngine
import RoostFormat

/// The indexes of one dictionary that are written with each object, at one time. Whether one of them is
/// complete its mark says.
final class IndexSet<Item: Sendable>: Sendable {
    /// A class, so that handing one on costs one reference.
    final class Active: Sendable {
        let index: Index<Item>
        let written: WrittenIndex

        init(_ index: Index<Item>, _ number: UInt64) {
            self.index = index
            written = WrittenIndex(
                maker: index.maker, number: number, isToldByShape: index.isToldByShape)
        }

        var name: String { written.maker.name }
        var number: UInt64 { written.number }
        var entries: DictionaryName { written.entries }
        var mark: [UInt8] { written.mark }

        func entries(of object: UnsafePointer<Item>) throws -> IndexEntries {
            try written.maker.entries(of: object)
        }
    }

    let active: [Active]
    /// `active`, for those who write.
    let written: WrittenIndexes
    /// The marks of `active`, which a write that changes their entries keeps.
    var marks: Set<[UInt8]> { written.kept.marks }
    /// The declared ones that are not among `active` yet.
    let missing: [Index<Item>]

    init(_ active: [Active], missing: [Index<Item>] = []) {
        self.active = active
        self.missing = missing
        written = WrittenIndexes(
            active.map(\.written), StoredIndexEntries(active), areMissing: !missing.isEmpty,
            missingUniqueName: missing.first { $0.isUnique }?.name)
    }
}
