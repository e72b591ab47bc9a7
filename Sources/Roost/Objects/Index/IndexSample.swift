import RoostEngine
import RoostFormat
import RoostIO

/// Looks at some of an index whether it has what the declaration makes of the objects now. Its shape does not tell that: a
/// property may compute something else by now, a closure in `where` say something else, and a stored property be read from
/// another key or field, or with another default. docs/decisions/0253 and 0264.
///
/// - Some entries are compared with the entries of their objects, and the entries of some objects with those that are
///   there: what was left out and what is too much are found from different sides.
/// - An object or entry that cannot be read says nothing: whoever needs it is told.
struct IndexSample<Item: Sendable> {
    /// Both ends have what is rare: where most objects have `nil`, the others are last.
    private static var endCount: Int { 4 }
    private static var betweenCount: Int { 8 }
    private static var objectCount: Int { 16 }
    /// Of an object with more elements only so many are looked for.
    private static var entryCount: Int { 32 }

    private let active: IndexSet<Item>.Active
    private let objects: IndexedObjects<Item>
    private var name: DictionaryName { objects.name }
    private let view: EngineView

    init(
        _ active: IndexSet<Item>.Active, _ objects: IndexedObjects<Item>, _ view: EngineView
    ) {
        self.active = active
        self.objects = objects
        self.view = view
    }

    /// Whether all that was looked at agrees. Makes at most 32 objects.
    func agrees(_ progress: IndexCatalog.Progress) throws -> Bool {
        let entryKeys = try unlessUnreadable {
            try SpreadKeys(active.entries, view).keys(
                endCount: Self.endCount, betweenCount: Self.betweenCount)
        }
        for key in entryKeys ?? [] {
            if try unlessUnreadable({ try agrees(entryKey: key) }) == false { return false }
        }
        for key in try objectKeys(progress) {
            if try unlessUnreadable({ try agrees(objectKey: key) }) == false { return false }
        }
        return true
    }

    /// Of an index that is being built, of objects that it has passed.
    private func objectKeys(_ progress: IndexCatalog.Progress) throws -> [[UInt8]] {
        var limit: [UInt8]?
        switch progress {
        case .built: break
        case .building(let last?): limit = last
        case .building(nil), .failed: return []
        }
        return try unlessUnreadable {
            try SpreadKeys(name, view).keys(
                endCount: 1, betweenCount: Self.objectCount - 2, through: limit)
        } ?? []
    }

    private func agrees(entryKey: [UInt8]) throws -> Bool {
        guard
            let entry = try view.find(
                recordKey: active.entries.prefix + entryKey, in: active.entries)
        else { return true }
        let (valueKey, deadline) = try entry.withBytes {
            (indexedObjectKey(inValue: $0), ValueHeader($0)?.deadline ?? .never)
        }
        let formEnd = entryKey.withUnsafeBytes { active.index.parse($0)?.formEnd }
        guard let formEnd else { return false }
        let isSole = active.index.isUnique && formEnd == entryKey.count
        // An object's key stands in one place.
        guard isSole || valueKey.isEmpty else { return false }
        let objectKey = isSole ? valueKey : Array(entryKey[formEnd...])
        guard let object = try object(objectKey) else { return !isLive(deadline) }
        guard let entries = entries(of: object.item) else { return false }
        let form = Array(entryKey[..<formEnd])
        if entries.contains(IndexEntry(form: form, isSole: isSole)) { return true }
        // An empty key looks the same in both places.
        return objectKey.isEmpty && entries.contains(IndexEntry(form: form, isSole: !isSole))
    }

    private func agrees(objectKey: [UInt8]) throws -> Bool {
        guard let object = try object(objectKey) else { return true }
        guard let entries = entries(of: object.item) else { return false }
        for entry in entries.all.prefix(Self.entryCount) {
            let recordKey = active.entries.prefix + entry.key(objectKey)
            guard let found = try view.find(recordKey: recordKey, in: active.entries) else {
                // Both expire at one instant, which may be just now.
                return !isLive(object.deadline)
            }
            let valueKey = try found.withBytes { indexedObjectKey(inValue: $0) }
            if valueKey != (entry.isSole ? objectKey : []) { return false }
        }
        return true
    }

    private func isLive(_ deadline: Deadline) -> Bool {
        objects.engine.clock.isLive(deadline)
    }

    private func object(_ key: [UInt8]) throws -> (item: Item, deadline: Deadline)? {
        guard let found = try view.find(recordKey: name.prefix + key, in: name) else { return nil }
        return try found.withBytes { stored in
            let text = String(decoding: key, as: UTF8.self)
            let item = try objects.decode(stored, key: text)
            return (item, ValueHeader(stored)?.deadline ?? .never)
        }
    }

    /// `nil` where the declaration makes none: then the index, which was built, is of another one. The building says
    /// what is wrong.
    private func entries(of item: Item) -> IndexEntries? {
        do { return try withUnsafePointer(to: item) { try active.entries(of: $0) } } catch {
            return nil
        }
    }

    private func unlessUnreadable<Result>(_ body: () throws -> Result) throws -> Result? {
        do { return try body() } catch let error as RoostError
            where error.code != .closed && error.code != .cancelled
        {
            return nil
        }
    }
}
