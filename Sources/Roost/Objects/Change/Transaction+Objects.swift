import RoostEngine
import RoostFormat
import RoostIO

// Objects in a transaction. What changes one changes its entries with it; what is wrong with a change
// is found before anything of it is in the batch, so that the body may go on.

extension Transaction {
    /// The object with this identifier, or `nil`. That there is none is remembered as well.
    ///
    /// - Throws: as `value(forKey:as:in:)`.
    public mutating func find<Item>(
        _ id: Item.ID, in repository: Repository<Item>
    ) throws -> Item? {
        try object(repository.key(of: id), repository)
    }

    /// The objects with these identifiers, in the order of `ids`, without those that are not there, which is remembered
    /// as well.
    ///
    /// - Throws: as `find(_:in:)`, for any of them.
    public mutating func find<Item>(
        by ids: some Sequence<Item.ID>, in repository: Repository<Item>
    ) throws -> [Item] {
        var found: [Item] = []
        for id in ids {
            if let item = try find(id, in: repository) { found.append(item) }
        }
        return found
    }

    /// Stores an object whose identifier has none yet.
    ///
    /// - Throws: `.alreadyExists`, `.notUnique`, and then nothing is changed; as `save`.
    public mutating func insert<Item>(_ item: Item, in repository: Repository<Item>) throws {
        try insert(item, in: repository, until: .never)
    }

    mutating func insert<Item>(
        _ item: Item, in repository: Repository<Item>, until deadline: Deadline
    ) throws {
        let key = repository.key(of: item.id)
        if try contains(key, in: repository.dictionary) {
            throw RoostError(
                .alreadyExists, "\"\(key)\" is in \"\(repository.dictionary.name)\" already")
        }
        try put(item, key, nil, .absent, repository, until: deadline)
    }

    /// Stores an object, in the place of the one with its identifier if there is one.
    ///
    /// - Throws: `.notUnique`, `.encodingFailed`, `.keyTooLarge`, `.valueTooLarge`, `.decodingFailed`
    ///   where the type does not decode what it has encoded and that takes the object to make its index entries
    ///   (`StoredFields`); and then nothing is changed.
    public mutating func save<Item>(_ item: Item, in repository: Repository<Item>) throws {
        try save(item, in: repository, until: .never)
    }

    mutating func save<Item>(
        _ item: Item, in repository: Repository<Item>, until deadline: Deadline
    ) throws {
        let key = repository.key(of: item.id)
        var earlier = Earlier.absent
        let before = try earlierObject(key, repository, &earlier)
        try withPointer(to: before) {
            try put(item, key, $0, earlier, repository, until: deadline)
        }
    }

    /// Stores many objects. Values that are to be unique are so once all are stored: objects may swap them.
    ///
    /// - Throws: as `save(_:in:)`, for any of them; then none of them is stored, and the transaction's body may go on.
    public mutating func saveAll<Item>(
        _ items: some Sequence<Item>, in repository: Repository<Item>
    ) throws {
        try changeTogether { transaction in
            for item in items { try transaction.save(item, in: repository) }
        }
    }

    /// Changes an object; returns what `body` returned, or `nil` where there is no object.
    ///
    /// `keepsExpiry` says whether an object that expires goes when it would have gone; as
    /// ``Repository/update(_:keepsExpiry:durability:_:)``.
    ///
    /// - Throws: what `body` throws; `.conflict` where it changes the identifier; as `save`.
    @discardableResult
    public mutating func update<Item, Result>(
        _ id: Item.ID, in repository: Repository<Item>, keepsExpiry: Bool = false,
        _ body: (inout Item) throws -> Result
    ) throws -> Result? {
        try update(key: repository.key(of: id), repository, keepsExpiry: keepsExpiry, body)
    }

    @discardableResult
    mutating func update<Item, Result>(
        key: String, _ repository: Repository<Item>, keepsExpiry: Bool,
        _ body: (inout Item) throws -> Result
    ) throws -> Result? {
        guard let found = try storedObject(key, repository) else { return nil }
        var item = found.item
        // What `body` changes may not be what says which entries there were.
        let before =
            isReference(Item.self) ? try object(key, repository) ?? item : item
        let result = try body(&item)
        try repository.checkIdentifier(before, item, key)
        try withUnsafePointer(to: before) {
            try put(
                item, key, $0, found.deadline == .never ? .object : .expiring, repository,
                until: keepsExpiry ? found.deadline : .never)
        }
        return result
    }

    /// Removes the object with this identifier; `false` where there is none.
    ///
    /// - Throws: as `contains(_:in:)` and `removeValue(forKey:in:)`; `.conflict` where the dictionary has the
    ///   indexes of another type while the workspace is open.
    @discardableResult
    public mutating func delete<Item>(
        _ id: Item.ID, in repository: Repository<Item>
    ) throws -> Bool {
        try delete(key: repository.key(of: id), repository)
    }

    mutating func delete<Item>(key: String, _ repository: Repository<Item>) throws -> Bool {
        guard let indexes = try writtenIndexes(of: repository), !indexes.all.isEmpty else {
            let isThere = try contains(key, in: repository.dictionary)
            if isThere { try removeValue(forKey: key, in: repository.dictionary) }
            return isThere
        }
        var earlier = Earlier.absent
        let before = try earlierObject(key, repository, &earlier)
        if earlier == .absent { return false }
        try withPointer(to: before) { try change(nil, nil, key, $0, earlier, repository, indexes) }
        return true
    }

    // MARK: Within

    /// The indexes that this attempt writes of a repository; `nil` where it declares none.
    mutating func indexSet<Item>(of repository: Repository<Item>) throws -> IndexSet<Item>? {
        _ = try writtenIndexes(of: repository)
        return repository.indexes.flatMap {
            indexSets[ObjectIdentifier($0)]?.set as? IndexSet<Item>
        }
    }

    /// As `indexSet`, for those who write.
    private mutating func writtenIndexes<Item>(
        of repository: Repository<Item>
    ) throws -> WrittenIndexes? {
        guard let indexes = repository.indexes else { return nil }
        let identifier = ObjectIdentifier(indexes)
        if let known = indexSets[identifier] { return known.written }
        let set = try indexes.current()
        indexSets[identifier] = (set, set.written)
        return set.written
    }

    mutating func object<Item>(_ key: String, _ repository: Repository<Item>) throws -> Item? {
        try storedObject(key, repository)?.item
    }

    private mutating func storedObject<Item>(
        _ key: String, _ repository: Repository<Item>
    ) throws -> (item: Item, deadline: Deadline)? {
        let name = try checkedName(repository.dictionary)
        return try attempt.withValue(key, name: name) { stored in
            try stored.map {
                let item = try repository.dictionary.decode(
                    stored: $0, key: key, repository.codec)
                return (item, ValueHeader($0)?.deadline ?? .never)
            }
        }
    }

    /// What stands under a key before it is changed. The object goes beside it: a value that had it would be of a type
    /// that the runtime looks up for each change.
    enum Earlier {
        case absent
        case object
        /// Its entries expire too: all of them are written anew.
        case expiring
        /// It does not decode, so nobody knows its entries: the indexes have to be built anew.
        case unreadable
    }

    private mutating func earlierObject<Item>(
        _ key: String, _ repository: Repository<Item>, _ earlier: inout Earlier
    ) throws -> Item? {
        earlier = .absent
        guard let indexes = try writtenIndexes(of: repository), !indexes.all.isEmpty else {
            return nil
        }
        do {
            guard let found = try storedObject(key, repository) else { return nil }
            earlier = found.deadline == .never ? .object : .expiring
            return found.item
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            earlier = .unreadable
            return nil
        }
    }

    private mutating func put<Item>(
        _ item: Item, _ key: String, _ before: UnsafePointer<Item>?, _ earlier: Earlier,
        _ repository: Repository<Item>, until deadline: Deadline = .never
    ) throws {
        let value = try repository.encoded(item)
            .with(deadline: deadline)
        if let error = checkSizes(key: key, value: value) { throw error }
        let indexes = try writtenIndexes(of: repository)
        if let name = indexes?.missingUniqueName { throw noteIncomplete(name, repository) }
        guard let indexes, !indexes.all.isEmpty else {
            return try put(value, key, repository.dictionary)
        }
        let entries = try repository.entries(ofStored: value, key, indexes)
        try change(entries, value, key, before, earlier, repository, indexes, until: deadline)
    }

    /// Puts, or without one removes, an object with its entries.
    private mutating func change<Item>(
        _ entries: [IndexEntries]?, _ value: EncodedValue?, _ key: String,
        _ before: UnsafePointer<Item>?, _ earlier: Earlier, _ repository: Repository<Item>,
        _ indexes: WrittenIndexes, until deadline: Deadline = .never
    ) throws {
        let name = try checkedName(repository.dictionary)
        let objectKey = Array(key.utf8)
        guard earlier == .unreadable else {
            // An entry expires with its object, so that those that stay are written too.
            let changes = try indexes.changes(
                from: before, expires: earlier == .expiring || deadline != .never, to: entries,
                objectKey)
            let isHeld = attempt.hasPlainChanges(of: name) ? Self.holding(in: repository) : nil
            try checkUnique(changes, objectKey, repository, isHeld)
            let extent = attempt.extent
            do {
                try write(changes, objectKey, earlier, until: deadline, isHeld)
                try attempt.write(value, in: name, objectKey)
            } catch {
                attempt.takeBack(to: extent)
                throw error
            }
            return keep(indexes)
        }
        guard let value else { return try attempt.remove(key, in: name) }
        try attempt.put(value, forKey: key, in: name)
    }

    private typealias Holding = (inout Transaction, AwaitedEntry, [UInt8]) throws -> Bool

    /// Whether an object has a value that is to be unique, by what it is itself.
    private static func holding<Item>(in repository: Repository<Item>) -> Holding {
        { transaction, awaited, other in
            var earlier = Earlier.absent
            let item = try transaction.earlierObject(
                String(decoding: other, as: UTF8.self), repository, &earlier)
            guard let item else { return false }
            return try withUnsafePointer(to: item) {
                try awaited.index.maker.entries(ofEarlier: $0).contains(awaited.entry)
            }
        }
    }

    private mutating func write(
        _ changes: [IndexChange], _ objectKey: [UInt8], _ earlier: Earlier,
        until deadline: Deadline, _ isHeld: Holding?
    ) throws {
        for change in changes {
            let entry = change.entry
            if entry.isSole, awaitedEntries != nil {
                var awaited = change.index.awaited(entry, objectKey, until: deadline)
                awaited.isHeld = isHeld
                if try isAwaited(change, awaited) { continue }
            }
            // A clock that was set back before an opening shows an object again that had expired: another may have its value.
            let mayBeOfAnother = earlier == .expiring || failedMarks.contains(change.index.mark)
            if entry.isSole, !change.isAdded, mayBeOfAnother,
                try holder(of: change.index.awaited(entry, objectKey, until: .never)) != objectKey
            {
                continue
            }
            let value = change.isAdded ? entry.value(objectKey).with(deadline: deadline) : nil
            try attempt.write(
                value, in: change.index.entries, entry.form, entry.isSole ? [] : objectKey)
        }
    }

    /// Says that the batch keeps the indexes of a set, as all that it writes of one repository does.
    private mutating func keep(_ indexes: WrittenIndexes) {
        guard lastKept !== indexes else { return }
        lastKept = indexes
        attempt.keep(indexes.kept.marks)
    }

    /// That the values to be unique are, and that those which go are the object's own: while the index is
    /// built, another object may have the value too, and the entry be of that. Where it cannot be built that stays so
    /// (`failedMarks`).
    private mutating func checkUnique<Item>(
        _ changes: [IndexChange], _ objectKey: [UInt8], _ repository: Repository<Item>,
        _ isHeld: Holding?
    ) throws {
        for change in changes where change.entry.isSole {
            try checkComplete(change.index, repository)
            if change.isAdded, awaitedEntries == nil {
                var added = change.index.awaited(change.entry, objectKey, until: .never)
                added.isHeld = isHeld
                try checkFree(added)
            }
        }
    }

    /// Whether a change of an entry is made once all objects of the call are changed.
    private mutating func isAwaited(
        _ change: IndexChange, _ entry: AwaitedEntry
    ) throws -> Bool {
        guard change.isAdded else {
            guard awaitedEntries?.remove(entry.recordKey, of: entry.objectKey) == true else {
                return false
            }
            // Of an object that expires what it had before is awaited too, and goes from where it stands. What another
            // has stays.
            return try holder(of: entry) != entry.objectKey
        }
        awaitedEntries?.add(entry, entry.recordKey, of: entry.objectKey)
        return true
    }
}

extension Transaction {
    /// That an index has the entries of all objects, so that a value which is not in it is not taken.
    ///
    /// - Throws: where it is still to be built; the transaction then waits for that and begins anew.
    private mutating func checkComplete<Item>(
        _ index: WrittenIndex, _ repository: Repository<Item>
    ) throws {
        guard !completeMarks.contains(index.mark) else { return }
        let progress = try attempt.withValue(recordKey: index.mark, in: IndexCatalog.name) {
            $0.flatMap { IndexCatalog.Progress(stored: $0) }
        }
        switch progress {
        // Nobody has looked yet whether it is of another declaration: whoever adopts it does so.
        case .built where !isKnownToAgree(index, repository):
            throw noteIncomplete(index.name, repository)
        case .built: completeMarks.insert(index.mark)
        // Two objects have one value already, for instance.
        case .failed:
            completeMarks.insert(index.mark)
            failedMarks.insert(index.mark)
        case .building, nil:
            throw noteIncomplete(index.name, repository)
        }
    }

    private func isKnownToAgree<Item>(
        _ index: WrittenIndex, _ repository: Repository<Item>
    ) -> Bool {
        repository.indexes?.looks.answer(of: index.number) == true
    }

    /// Has the transaction wait for the indexes and begin anew. The error ends this attempt.
    private mutating func noteIncomplete<Item>(
        _ name: String, _ repository: Repository<Item>
    ) -> RoostError {
        let indexes = repository.indexes
        let incomplete = IncompleteIndex { try await indexes?.built() }
        incompleteIndex = incomplete
        return RoostError(
            .conflict, "index \"\(name)\" is to keep values unique and is being built",
            cause: incomplete)
    }
}

/// What an attempt needs before it can be made.
struct IncompleteIndex: Error {
    /// Returns once it is there, or cannot be.
    let wait: @Sendable () async throws -> Void
}
