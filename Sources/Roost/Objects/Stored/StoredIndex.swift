import RoostEngine
import RoostFormat
import RoostIO

/// An index of a workspace as it is stored, for tools.
package struct StoredIndex: Sendable {
    package enum State: Sendable, Equatable {
        case built
        /// Not complete: queries do without it.
        case building
        /// Taken away, by a write that went round it or by `reindex`: the program's next opening builds
        /// it anew.
        case marked
        case failed(String)
    }

    /// The dictionary that the objects are in.
    package let dictionary: String
    package let name: String
    package let shapeText: String
    /// `nil` where this version does not know it.
    package let shape: StoredIndexShape?
    package let state: State
    let number: UInt64

    var entries: DictionaryName { IndexCatalog.entries(number) }

    /// Whether it is of the dictionary with this name: not `==` of strings, which takes canonically equal
    /// names for one.
    package func isOf(_ dictionary: String) -> Bool {
        self.dictionary.utf8.elementsEqual(dictionary.utf8)
    }

    /// All indexes at the moment of a view, by dictionary and name.
    static func all(_ view: EngineView) throws -> [StoredIndex] {
        try IndexCatalog.readRoot(view).indexes.map { listed in
            let state: State =
                switch try IndexCatalog.progress(IndexCatalog.mark(listed.number), view) {
                case .built: .built
                case .building: .building
                case .failed(let reason): .failed(reason)
                case nil: .marked
                }
            return StoredIndex(
                dictionary: listed.dictionary, name: listed.name, shapeText: listed.shape,
                shape: StoredIndexShape(listed.shape), state: state, number: listed.number)
        }.sorted { one, other in
            if !one.isOf(other.dictionary) {
                return one.dictionary.utf8.lexicographicallyPrecedes(other.dictionary.utf8)
            }
            return one.name < other.name
        }
    }
}

extension Workspace {
    /// All indexes, of all dictionaries.
    package func storedIndexes() throws -> [StoredIndex] {
        let view = try engine.view()
        defer { view.close() }
        return try StoredIndex.all(view)
    }

    /// How many entries an index has, and how many bytes these are of. Costs a pass over them.
    package func size(of index: StoredIndex) throws -> (entryCount: Int, sizeBytes: Int) {
        let view = try engine.view()
        defer { view.close() }
        var (count, sizeBytes) = (0, 0)
        let scan = try view.scan(index.entries)
        while let recordKey = scan.recordKey {
            count += 1
            sizeBytes += recordKey.count + (try scan.value().count)
            try scan.moveToNext()
        }
        return (count, sizeBytes)
    }

    /// Has the program's next opening build indexes anew; queries do without them until then. On disk
    /// when it returns.
    package func markForBuilding(_ indexes: [StoredIndex]) async throws {
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for index in indexes {
            batch.write(nil, recordKey: IndexCatalog.mark(index.number), in: IndexCatalog.name)
        }
        _ = try await engine.commit(batch, durability: .synced)
    }
}
