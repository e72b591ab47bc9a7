import RoostEngine
import RoostFormat
import RoostIO

/// A change of one object that is made at once: what it reads, and what it puts and removes, the index
/// entries with it. docs/decisions/0202.
///
/// - Each of the calls returns `nil` where the change is for a transaction to make, which also says what is
///   wrong with it: a taken identifier or value, an index that is to keep values unique and is not
///   complete, be it that it cannot be, an object that expires or does not decode.
/// - It does what `Transaction` does in its extension for objects. A change of one of the two is one of both.
/// - It is of no type of object, as the runtime looks such a type up at each change; its calls are all of one
///   repository, the one that it was begun for.
struct ObjectChange: ~Copyable {
    private let indexes: WrittenIndexes?
    private let name: DictionaryName
    private(set) var batch: CheckedBatch

    private init(
        indexes: WrittenIndexes?, name: DictionaryName, batch: consuming CheckedBatch
    ) {
        self.indexes = indexes
        self.name = name
        self.batch = batch
    }

    /// A change that is still to be made; `nil` where none can be made at once now.
    static func begin<Item>(_ repository: Repository<Item>) throws -> ObjectChange? {
        let name = try repository.dictionary.checkedName()
        let engine = repository.dictionary.workspace.engine
        // Before the guards are looked at: those of a later set may be in force.
        let indexes = try repository.indexes?.current().written
        if let indexes, indexes.areMissing { return nil }
        let kept = indexes?.kept ?? repository.noMarks
        guard let generation = kept.generation(of: engine.guards, name) else { return nil }
        let batch = CheckedBatch(engine, guardGeneration: generation)
        return ObjectChange(indexes: indexes, name: name, batch: batch)
    }

    mutating func insert<Item>(
        _ item: Item, in repository: Repository<Item>
    ) throws -> Void? {
        let key = repository.key(of: item.id)
        let recordKey = name.prefix + Array(key.utf8)
        guard try batch.withValue(of: recordKey, { $0 == nil }) ?? false else { return nil }
        return try put(item, key, before: nil, repository)
    }

    mutating func save<Item>(
        _ item: Item, in repository: Repository<Item>
    ) throws -> Void? {
        let key = repository.key(of: item.id)
        guard let before = try earlier(key, repository) else { return nil }
        return try withPointer(to: before) { try put(item, key, before: $0, repository) }
    }

    mutating func update<Item, Result>(
        _ id: Item.ID, in repository: Repository<Item>, _ body: (inout Item) throws -> Result
    ) throws -> Result?? {
        let key = repository.key(of: id)
        guard let before = try earlier(key, repository) else { return nil }
        guard let old = before else { return .some(nil) }
        var item = old
        if isReference(Item.self) {
            guard let another = try earlier(key, repository), let another else { return nil }
            item = another
        }
        let result = try body(&item)
        try repository.checkIdentifier(old, item, key)
        return try withUnsafePointer(to: old) {
            try put(item, key, before: $0, repository)
        }.map { result }
    }

    mutating func delete<Item>(
        _ id: Item.ID, in repository: Repository<Item>
    ) throws -> Void? {
        let key = repository.key(of: id)
        guard let before = try earlier(key, repository) else { return nil }
        guard let before else { return () }
        let objectKey = Array(key.utf8)
        let isWritten = try withUnsafePointer(to: before) { try writeEntries($0, nil, objectKey) }
        guard isWritten else { return nil }
        batch.write(nil, name.prefix, objectKey)
        return batch.isDeclined ? nil : ()
    }

    // MARK: Within

    /// The object that is there, if any; `nil` where that is declined.
    private mutating func earlier<Item>(
        _ key: String, _ repository: Repository<Item>
    ) throws -> Item?? {
        do {
            return try batch.withValue(of: name.prefix + Array(key.utf8)) { stored in
                try stored.map {
                    try repository.dictionary.decode(stored: $0, key: key, repository.codec)
                }
            }
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            return nil
        }
    }

    private mutating func put<Item>(
        _ item: Item, _ key: String, before: UnsafePointer<Item>?,
        _ repository: Repository<Item>
    ) throws -> Void? {
        let value = try repository.encoded(item)
        if let error = checkSizes(key: key, value: value) { throw error }
        let objectKey = Array(key.utf8)
        if let indexes, !indexes.all.isEmpty {
            let new = try repository.entries(ofStored: value, key, indexes)
            guard try writeEntries(before, new, objectKey) else { return nil }
        }
        batch.write(value, name.prefix, objectKey)
        return batch.isDeclined ? nil : ()
    }

    /// Writes what changes of the entries; `false` where that is declined.
    private mutating func writeEntries(
        _ old: UnsafeRawPointer?, _ new: [IndexEntries]?, _ objectKey: [UInt8]
    ) throws -> Bool {
        guard let indexes else { return true }
        for change in try indexes.changes(from: old, to: new, objectKey) {
            let (index, entry) = (change.index, change.entry)
            if entry.isSole {
                guard try isComplete(index) else { return false }
                if change.isAdded, try !isFree(entry, index, objectKey) { return false }
            }
            batch.write(
                change.isAdded ? entry.value(objectKey) : nil, index.entries.prefix, entry.form,
                entry.isSole ? [] : objectKey)
        }
        return true
    }

    /// Whether an index has the entries of all objects. Of one that cannot be built a transaction finds out whose those are
    /// that it has.
    private mutating func isComplete(_ index: WrittenIndex) throws -> Bool {
        try batch.withValue(of: index.mark) { stored in
            switch stored.flatMap({ IndexCatalog.Progress(stored: $0) }) {
            case .built: true
            case .building, .failed, nil: false
            }
        } ?? false
    }

    /// Whether no other object has a value that is to be unique.
    private mutating func isFree(
        _ entry: IndexEntry, _ index: WrittenIndex, _ objectKey: [UInt8]
    ) throws -> Bool {
        try batch.withValue(of: index.entries.prefix + entry.form) { stored in
            stored.map { indexedObjectKey(inValue: $0) == objectKey } ?? true
        } ?? false
    }
}

/// Calls `body` with where a value stands, if there is one.
func withPointer<Value, Result>(
    to value: Value?, _ body: (UnsafePointer<Value>?) throws -> Result
) rethrows -> Result {
    guard let value else { return try body(nil) }
    return try withUnsafePointer(to: value) { try body($0) }
}

extension Repository {
    /// That an update of an object leaves it its identifier, by the bytes of its key. The object may stand under
    /// another key than its identifier's, where it was written round the repository.
    func checkIdentifier(_ before: Item, _ after: Item, _ key: String) throws {
        let newKey = self.key(of: after.id).utf8
        guard newKey.elementsEqual(key.utf8) || newKey.elementsEqual(self.key(of: before.id).utf8)
        else {
            throw RoostError(.conflict, "an update of \"\(key)\" may not change its identifier")
        }
    }

    /// How often a change is tried anew that others are in the way of, before it takes its place among them.
    private static var tryCount: Int { 3 }

    /// Makes a change at once; `nil`, with nothing changed, where it is for a transaction to make.
    nonisolated(nonsending) func changeAtOnce<Result: Sendable>(
        _ durability: Durability?, _ make: (inout ObjectChange) throws -> Result?
    ) async throws -> Result? {
        let engine = dictionary.workspace.engine
        guard engine.takesChangesAtOnce(durability) else { return nil }
        guard var change = try ObjectChange.begin(self), let result = try make(&change) else {
            return nil
        }
        for _ in 1...Self.tryCount {
            if engine.configuration.pausesBetweenSteps { await Task.yield() }
            switch try engine.commitAtOnce(change.batch, durability: durability) {
            case .committed(let sequence):
                if Engine.isTurnOfOthers(behind: sequence) { await Task.yield() }
                return result
            case .overtaken: return nil
            case .blocked: await Task.yield()
            }
        }
        return nil
    }
}
