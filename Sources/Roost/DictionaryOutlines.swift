import RoostEngine
import RoostFormat

/// A dictionary as a tool lists it.
package struct DictionaryOutline: Sendable {
    package var name: String
    /// Its records in snapshots, those that were overwritten or removed since included.
    package var snapshotRecordCount: UInt64
    /// About what they take on disk.
    package var snapshotSizeBytes: UInt64
    package var indexes: [IndexOutline]
}

/// An index of a repository with what snapshots say of its entries.
package struct IndexOutline: Sendable {
    package var index: StoredIndex
    package var entryRecordCount: UInt64
    package var snapshotSizeBytes: UInt64
}

extension Workspace {
    /// The dictionaries with what snapshots say of them, in the order of their names' bytes. Counts no
    /// keys: costs as ``dictionaryNames`` and a search in each snapshot for each.
    package func dictionaryOutlines() throws -> [DictionaryOutline] {
        let view = try engine.view()
        defer { view.close() }
        let indexes = try StoredIndex.all(view)
        return try view.dictionaries().map { name in
            let figures = try view.coldFigures(of: name)
            return DictionaryOutline(
                name: name.name, snapshotRecordCount: figures.recordCount,
                snapshotSizeBytes: figures.sizeBytes,
                indexes: try indexes.filter { $0.isOf(name.name) }
                    .map { index in
                        let figures = try view.coldFigures(of: index.entries)
                        return IndexOutline(
                            index: index, entryRecordCount: figures.recordCount,
                            snapshotSizeBytes: figures.sizeBytes)
                    })
        }
    }

    /// How many keys are live, those of indexes included; costs as counting each dictionary.
    package func liveKeyCount() throws -> Int {
        let view = try engine.view()
        defer { view.close() }
        var names = try view.dictionaries()
        for index in try IndexCatalog.readRoot(view).indexes {
            names.append(IndexCatalog.entries(index.number))
        }
        return try names.reduce(0) { try $0 + view.count(of: $1) }
    }
}
