import RoostEngine
import RoostFormat
import RoostIO

/// A dictionary as a tool lists it.
package struct DictionaryOutline: Sendable {
    package var name: String
    /// Its records in snapshots, those that were overwritten or removed since included.
    package var snapshotRecordCount: UInt64 = 0
    /// About what they take on disk.
    package var snapshotSizeBytes: UInt64 = 0
    package var indexes: [IndexOutline] = []
    /// Why its first record, or what snapshots say of it, cannot be read: then the rest is what could be.
    package var problem: RoostError?
}

/// All dictionaries as a tool lists them.
package struct DictionaryOutlines: Sendable {
    package var dictionaries: [DictionaryOutline] = []
    /// Why nothing is known of the indexes.
    package var indexProblem: RoostError?
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
    ///
    /// - Throws: `.closed`, and what is wrong where not even the names can be read. What cannot be read of one
    ///   dictionary is its ``DictionaryOutline/problem``, and the others are as they are.
    package func dictionaryOutlines() throws -> DictionaryOutlines {
        let view = try engine.view()
        defer { view.close() }
        var outlines = DictionaryOutlines()
        var indexes: [StoredIndex] = []
        do { indexes = try StoredIndex.all(view) } catch let error as RoostError
            where error.isOfRecords
        { outlines.indexProblem = error }
        outlines.dictionaries = try view.dictionariesWithProblems().map { name, problem in
            var outline = DictionaryOutline(name: name.name, problem: problem)
            do { try outline.note(indexes, in: view, name) } catch let error as RoostError
                where error.isOfRecords
            { outline.problem = outline.problem ?? error }
            return outline
        }
        return outlines
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

extension DictionaryOutline {
    /// What snapshots say of it, and of those of `indexes` that are its.
    fileprivate mutating func note(
        _ indexes: [StoredIndex], in view: EngineView, _ dictionary: DictionaryName
    ) throws {
        let figures = try view.coldFigures(of: dictionary)
        snapshotRecordCount = figures.recordCount
        snapshotSizeBytes = figures.sizeBytes
        self.indexes = try indexes.filter { $0.isOf(name) }.map { index in
            let figures = try view.coldFigures(of: index.entries)
            return IndexOutline(
                index: index, entryRecordCount: figures.recordCount,
                snapshotSizeBytes: figures.sizeBytes)
        }
    }
}

extension EngineView {
    /// The dictionaries that have a key, and those of which that cannot be read.
    fileprivate func dictionariesWithProblems() throws -> [(DictionaryName, RoostError?)] {
        do { return try dictionaries().map { ($0, nil) } } catch let error as RoostError
            where error.isOfRecords
        {}
        // The walk over all of them ends at the first that cannot be read: each is looked at by itself.
        return try recordedDictionaryNames().compactMap { bytes in
            guard let name = DictionaryName(String(decoding: bytes, as: UTF8.self)) else {
                return nil
            }
            do { return try scan(name).recordKey == nil ? nil : (name, nil) } catch let error
                as RoostError where error.isOfRecords
            { return (name, error) }
        }
    }
}

extension RoostError {
    /// Whether it is of what was read, and others may be sound.
    fileprivate var isOfRecords: Bool { code == .corrupt || code == .io }
}
