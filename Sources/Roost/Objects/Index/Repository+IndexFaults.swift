import RoostEngine
import RoostFormat

/// What one index is at a moment.
package struct IndexState: Sendable {
    package enum Progress: Sendable { case building, built, failed, unmarked }
    package let name: String
    package let progress: Progress
    /// What of it contradicts the objects; empty where nothing does.
    package var faults: [String] = []
}

extension Repository {
    /// The names of the indexes that the type declares.
    package var declaredIndexNames: [String] { indexes?.declared.map(\.name) ?? [] }

    /// Compares each declared index that the catalog has with the objects, at one moment. One that is
    /// built has just their entries; one that is being built has those of the objects that it has passed,
    /// of the others some, and none that is wrong.
    ///
    /// Reads every object and every entry, and keeps the entries' keys in memory.
    package func indexStates() throws -> [IndexState] {
        guard let indexes else { return [] }
        let view = try dictionary.workspace.engine.view()
        defer { view.close() }
        let root = try IndexCatalog.readRoot(view)
        return try indexes.declared.compactMap { index in
            let shape = try indexes.shape(index)
            let listed = root.indexes.first {
                $0.isOf(dictionary.name) && $0.name == index.name && $0.shape == shape
            }
            guard let listed else { return nil }
            return try state(of: IndexSet<Item>.Active(index, listed.number), view)
        }
    }

    private func state(of active: IndexSet<Item>.Active, _ view: EngineView) throws -> IndexState {
        let name = active.index.name
        switch try IndexCatalog.progress(active.mark, view) {
        case nil: return IndexState(name: name, progress: .unmarked)
        case .failed: return IndexState(name: name, progress: .failed)
        case .built:
            let faults = try faults(of: active, isPassed: { _ in true }, view)
            return IndexState(name: name, progress: .built, faults: faults)
        case .building(let last):
            let faults = try faults(
                of: active, isPassed: { key in last.map { !bytes($0, precede: key) } ?? false },
                view)
            return IndexState(name: name, progress: .building, faults: faults)
        }
    }

    private func faults(
        of active: IndexSet<Item>.Active, isPassed: ([UInt8]) -> Bool, _ view: EngineView
    ) throws -> [String] {
        let found = try entries(of: active, view)
        var faults: [String] = []
        // Several of one key where a value that is to be unique was there twice before the index.
        var expected: [[UInt8]: [[UInt8]]] = [:]
        let name = try dictionary.checkedName()
        let scan = try view.scan(RecordRange(name), .ascending, limit: .max)
        while let recordKey = scan.recordKey {
            let key = Array(recordKey[name.prefix.count...])
            let item = try scan.withValue { stored in
                try key.withUnsafeBytes { try decode(stored, $0) }
            }
            for entry in try withUnsafePointer(to: item, { try active.index.entries(of: $0) }) {
                let value = entry.isSole ? key : []
                expected[entry.key(key), default: []].append(value)
                if isPassed(key), found[entry.key(key)] != value {
                    faults.append("\(String(decoding: key, as: UTF8.self)) has no entry")
                }
            }
            try scan.moveToNext()
        }
        for (key, value) in found where expected[key]?.contains(value) != true {
            faults.append("an entry of \(String(decoding: value, as: UTF8.self)) is of no object")
        }
        return faults
    }

    /// The keys of an index's entries, each with the object's key where it is the value.
    private func entries(
        of active: IndexSet<Item>.Active, _ view: EngineView
    ) throws -> [[UInt8]: [UInt8]] {
        var entries: [[UInt8]: [UInt8]] = [:]
        let scan = try view.scan(RecordRange(active.entries), .ascending, limit: .max)
        while let recordKey = scan.recordKey {
            let key = Array(recordKey[active.entries.prefix.count...])
            entries[key] = try scan.withValue { indexedObjectKey(inValue: $0) }
            try scan.moveToNext()
        }
        return entries
    }
}
