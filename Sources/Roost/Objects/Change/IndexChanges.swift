import RoostEngine
import RoostFormat
import RoostIO

/// What a change of one object changes in one of its indexes.
struct IndexChange {
    let index: WrittenIndex
    let entry: IndexEntry
    /// Whether the entry comes; else it goes.
    let isAdded: Bool
}

extension WrittenIndexes {
    /// What changes in the indexes where the object `old` becomes one whose entries, in each index, are
    /// `new`; without one it comes or goes. Of entries that expire all are written anew.
    ///
    /// - Throws: `.keyTooLarge`.
    func changes(
        from old: UnsafeRawPointer?, expires: Bool = false, to new: [IndexEntries]?,
        _ objectKey: [UInt8]
    ) throws -> [IndexChange] {
        var changes: [IndexChange] = []
        changes.reserveCapacity(all.count * (old == nil || new == nil ? 1 : 2))
        for (place, index) in all.enumerated() {
            let before = try old.map { try index.maker.entries(ofEarlier: $0) } ?? .none
            let after = new?[place] ?? .none
            try after.forEach { entry in
                try checkIndexKeySize(entry.keySizeBytes(objectKey), index.name)
            }
            before.forEach { entry in
                guard !after.contains(entry) else { return }
                // A longer one was never written: the index could not be built.
                guard entry.keySizeBytes(objectKey) <= Limits.keySizeBytes else { return }
                changes.append(.init(index: index, entry: entry, isAdded: false))
            }
            after.forEach { entry in
                guard expires || !before.contains(entry) else { return }
                changes.append(.init(index: index, entry: entry, isAdded: true))
            }
        }
        return changes
    }
}

/// The entries of one object in one index: mostly one, which needs no array.
enum IndexEntries {
    case none
    case one(IndexEntry)
    case several([IndexEntry])

    @inline(__always)
    func forEach(_ body: (IndexEntry) throws -> Void) rethrows {
        switch self {
        case .none: break
        case .one(let entry): try body(entry)
        case .several(let entries): for entry in entries { try body(entry) }
        }
    }

    func contains(_ entry: IndexEntry) -> Bool {
        switch self {
        case .none: false
        case .one(let other): other == entry
        case .several(let entries): entries.contains(entry)
        }
    }

    var all: [IndexEntry] {
        switch self {
        case .none: []
        case .one(let entry): [entry]
        case .several(let entries): entries
        }
    }
}
