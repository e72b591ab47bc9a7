import Roost
import RoostIO

/// A dictionary's list of indexes, as one attempt found it and would leave it.
struct AttemptCatalog {
    let dictionary: String
    /// What had written it; the commit is guarded by it.
    let revision: UInt64
    var catalog: SharedIndexCatalog
    var isChanged = false
    /// Whether it was read at the attempt's revision, and is not only remembered.
    var isRead = false
}

extension SharedTransaction {
    /// The indexes of a dictionary. In a first attempt what is known of them counts, and the commit's guard finds out
    /// whether it is so.
    nonisolated(nonsending) func catalog(
        of dictionary: String
    ) async throws -> SharedIndexCatalog {
        let key = connection.keys.catalog(of: dictionary)
        if let seen = catalogs[key] { return seen.catalog }
        guard isFirst, let known = connection.catalogs[key] else {
            return try await catalogToRead(of: dictionary)
        }
        catalogs[key] = AttemptCatalog(
            dictionary: dictionary, revision: known.revision, catalog: known.catalog)
        return known.catalog
    }

    /// The indexes of a dictionary as they are at the attempt's revision, without those that the body has taken away: what
    /// is read by them is right even where nothing is committed.
    nonisolated(nonsending) func catalogToRead(
        of dictionary: String
    ) async throws -> SharedIndexCatalog {
        let key = connection.keys.catalog(of: dictionary)
        if let seen = catalogs[key], seen.isRead { return seen.catalog }
        let known = try await readCatalog(of: dictionary)
        var catalog = AttemptCatalog(
            dictionary: dictionary, revision: known.revision, catalog: known.catalog)
        if let seen = catalogs[key] {
            // What was remembered is no longer so.
            guard seen.revision == known.revision else {
                lose()
                throw AttemptLost()
            }
            catalog = seen
        }
        catalog.isRead = true
        catalogs[key] = catalog
        return catalog.catalog
    }

    /// What had written the list of a dictionary's indexes that the attempt rests on.
    func catalogRevision(of dictionary: String) -> UInt64? {
        catalogs[connection.keys.catalog(of: dictionary)]?.revision
    }

    /// Takes those indexes away of which `isDropped` says so: the commit does not keep them.
    nonisolated(nonsending) func dropIndexes(
        ofDictionary name: String,
        where isDropped: (SharedIndexCatalog.Listed) -> Bool = { _ in true }
    ) async throws {
        var catalog = try await catalog(of: name)
        let dropped = catalog.indexes.filter(isDropped)
        guard !dropped.isEmpty else { return }
        catalog.indexes.removeAll(where: isDropped)
        setCatalog(catalog, of: name)
        for index in dropped {
            let entries = connection.keys.entries(of: name, number: index.number)
            clear(entries)
            awaitedEntries?.removeAll { entries.contains($0) }
        }
    }

    /// Adds the lists that were changed to what is written.
    func finishCatalogs() throws {
        for (key, state) in catalogs where state.isChanged {
            try write(try state.catalog.stored(), forKey: key)
        }
    }

    /// Puts an object under `key`, or with none removes it, with its entries in all indexes that are listed and
    /// declared; one that is not declared here is taken away.
    ///
    /// - Throws: `.notUnique`; `.valueTooLarge` where a value that is to be unique is cut off; and then nothing is changed.
    nonisolated(nonsending) func change<Item>(
        _ key: String, to item: Item?, in repository: SharedRepository<Item>
    ) async throws {
        try await asOne { try await changeInSteps(key, to: item, in: repository) }
    }

    private nonisolated(nonsending) func changeInSteps<Item>(
        _ key: String, to item: Item?, in repository: SharedRepository<Item>
    ) async throws {
        let dictionary = repository.dictionary
        guard let indexes = repository.indexes else {
            guard let item else { return try removeValue(forKey: key, in: dictionary) }
            return try set(
                item, forKey: key, in: dictionary, expiresIn: nil, form: repository.form)
        }
        let engineKey = try engineKey(key, dictionary)
        let objectKey = Array(key.utf8)
        let before: Item?
        do { before = try await load(key, in: dictionary, form: repository.form) } catch let error
            as RoostError where error.code == .decodingFailed || error.code == .typeMismatch
        {
            // Nobody knows its entries.
            try await dropIndexes(ofDictionary: dictionary.name)
            before = nil
        }
        let hasEntries = try await hasEntries(engineKey)
        let declared = try await catalog(of: dictionary.name).listed(indexes)
        try await dropIndexes(ofDictionary: dictionary.name) { listed in
            !declared.contains { $0.index == listed }
        }
        let stored = try item.map { try dictionary.stored($0, repository.form) }
        // Of what everybody will read: a coding may keep less than it was given.
        let kept = try stored.map {
            try repository.form.value(ofStored: $0, key: key, in: try dictionary.checkedName())
        }
        // Entries that go with the commit are not kept, and what was taken away by keys has some still.
        for (place, listed) in losesIndexes(of: dictionary) ? [] : declared {
            let earlier = hasEntries ? before : nil
            let old =
                try earlier.map { try indexes.entries(ofEarlier: $0, objectKey, at: place) } ?? []
            let new = try kept.map { try indexes.entries(of: $0, objectKey, at: place) } ?? []
            let start = connection.keys.entries(of: dictionary.name, number: listed.number).lower
            try await changeEntries(
                start, from: old, to: new, objectKey, isBuilt: listed.isBuilt
            ) {
                indexes.notUnique(at: place, objectKey, $0)
            }
        }
        try write(stored, forKey: engineKey)
    }

    /// Whether an object that is there has entries in the indexes that are listed. One that expires has none: it was written by
    /// its key, and whoever has built an index since took it for expired already, by a clock that is ahead of this client's.
    private nonisolated(nonsending) func hasEntries(_ engineKey: [UInt8]) async throws -> Bool {
        guard let stored = try await stored(engineKey) else { return false }
        return connection.clock.deadline(of: stored) == .never
    }

    /// Writes what changes of an object's entries in one index, whose keys begin with `start`.
    private nonisolated(nonsending) func changeEntries<Item>(
        _ start: [UInt8], from old: [DeclaredIndexes<Item>.Entry],
        to new: [DeclaredIndexes<Item>.Entry], _ objectKey: [UInt8], isBuilt: Bool,
        _ notUnique: @escaping (_ other: [UInt8]) -> RoostError
    ) async throws {
        let added = new.filter { !old.contains($0) }
        if awaitedEntries == nil {
            for entry in added where entry.isSole {
                if let other = try await holder(start + entry.key, objectKey) {
                    throw notUnique(other)
                }
            }
        }
        for entry in old where !new.contains(entry) {
            let key = start + entry.key
            // A longer one was never written: the index could not be built.
            guard key.count <= connection.engine.limits.keySizeBytes else { continue }
            if entry.isSole, awaitedEntries?.remove(key, of: objectKey) == true { continue }
            if entry.isSole, !isBuilt, try await isOfAnother(key, objectKey) { continue }
            try write(nil, forKey: key)
        }
        for entry in added {
            let key = start + entry.key
            if entry.isSole, awaitedEntries != nil {
                awaitedEntries?.add(
                    .init(
                        key: key, value: entry.value, objectKey: objectKey, notUnique: notUnique),
                    key, of: objectKey)
            } else {
                try write(entry.value, forKey: key)
            }
        }
    }

    /// Whether a sole entry is another object's: until the index is built an object may have a value that it has no entry
    /// for, and another may have been given the value meanwhile.
    private nonisolated(nonsending) func isOfAnother(
        _ entryKey: [UInt8], _ objectKey: [UInt8]
    ) async throws -> Bool {
        guard let stored = try await stored(entryKey) else { return false }
        return DeclaredIndexes<Never>.objectKey(inValue: stored) != objectKey
    }

    /// The other object that has a sole entry; `nil` where none has.
    nonisolated(nonsending) func holder(
        _ entryKey: [UInt8], _ objectKey: [UInt8]
    ) async throws -> [UInt8]? {
        if assumeAbsent(entryKey) { return nil }
        guard let stored = try await stored(entryKey) else { return nil }
        let other = DeclaredIndexes<Never>.objectKey(inValue: stored)
        return other == objectKey ? nil : other
    }
}

// MARK: Objects

extension SharedTransaction {
    /// The object with this identifier, or `nil`. That there is none is a conflict with whoever makes one.
    ///
    /// - Throws: as `load(_:as:in:)`.
    public nonisolated(nonsending) func find<Item>(
        _ id: Item.ID, in repository: SharedRepository<Item>
    ) async throws -> Item? {
        try await load(repository.key(of: id), in: repository.dictionary, form: repository.form)
    }

    /// Stores an object whose identifier has none yet.
    ///
    /// - Throws: `.alreadyExists`, and then nothing is changed; as `save`.
    public nonisolated(nonsending) func insert<Item>(
        _ item: Item, in repository: SharedRepository<Item>
    ) async throws {
        let key = repository.key(of: item.id)
        guard try await !contains(key, in: repository.dictionary) else {
            throw RoostError(
                .alreadyExists, "\"\(key)\" in \"\(repository.dictionary.name)\" is there already")
        }
        try await change(key, to: item, in: repository)
    }

    /// Stores an object, in the place of the one with its identifier if there is one.
    ///
    /// - Throws: `.notUnique`, whose cause names the index and the other object; `.encodingFailed`, `.keyTooLarge`;
    ///   `.valueTooLarge` where a value that is to be unique is too long; `.decodingFailed` where the type does not decode
    ///   what it has encoded and has indexes; what reading from the engine throws. Then nothing is
    ///   changed, and the transaction's body may go on.
    public nonisolated(nonsending) func save<Item>(
        _ item: Item, in repository: SharedRepository<Item>
    ) async throws {
        try await change(repository.key(of: item.id), to: item, in: repository)
    }

    /// Removes the object with this identifier; that there is none is no error.
    ///
    /// - Throws: `.keyTooLarge`; of a type with indexes, what reading from the engine throws.
    public nonisolated(nonsending) func delete<Item>(
        _ id: Item.ID, in repository: SharedRepository<Item>
    ) async throws {
        try await change(repository.key(of: id), to: nil, in: repository)
    }
}
