import Roost

/// Finds a page of the objects of a dictionary that a condition holds for, in an order, after a cursor.
///
/// - Members and indexes go together as in `ObjectSearch`.
/// - A page costs at most `readLimit` objects and index entries, however large the dictionary is. One that
///   is not full by then is shorter, and its cursor goes on after what was read.
/// - An order comes from an index that has it. Where none has, the first `readLimit` objects by their keys
///   are sorted, and a note says that there are more.
package struct ObjectPages {
    package struct Page {
        package var objects: [StoredObject] = []
        /// `nil` where there are no more.
        package var next: ObjectCursor?
        /// What a person has to know to read the page rightly.
        package var warnings: [String] = []
    }

    package let condition: ObjectCondition?
    package let order: [ObjectOrderTerm]
    package let limit: Int
    package let readLimit: Int

    /// What was done.
    package private(set) var way = ""
    package private(set) var notes: [String] = []
    package private(set) var entryCount = 0
    package private(set) var objectCount = 0
    private var missingPaths: Set<ObjectCondition.MemberPath>
    /// Told of each object that is read, how many they are by then; what it throws ends the search.
    package var onRead: (_ objectCount: Int) throws -> Void = { _ in }

    package init(
        condition: ObjectCondition?, order: [ObjectOrderTerm], limit: Int, readLimit: Int
    ) {
        self.condition = condition
        self.order = order
        self.limit = limit
        self.readLimit = readLimit
        missingPaths = (condition?.paths ?? []).union(order.map(\.path))
    }

    /// Members that were asked for and that no object that was read has.
    package var unknownPaths: [String] {
        objectCount == 0 ? [] : missingPaths.map(\.description).sorted()
    }

    /// An index whose fields are not what the objects have stored under these names.
    private struct OtherFields: Error { var index: String }

    /// - Throws: `.conflict` where the cursor is of another order, or of an index that is gone;
    ///   `.typeMismatch` at what is no object with named fields.
    package mutating func page(
        of repository: StoredRepository, after cursor: ObjectCursor?
    ) throws -> Page {
        var indexes = repository.indexes
        while true {
            do { return try attempt(repository, indexes, cursor) } catch let other as OtherFields {
                indexes.removeAll { $0.name == other.index }
                note("index \"\(other.index)\" is of other fields than those of these names")
            }
        }
    }

    private mutating func attempt(
        _ repository: StoredRepository, _ indexes: [StoredIndex], _ cursor: ObjectCursor?
    ) throws -> Page {
        if let (range, keys) = try found(by: indexes, in: repository) {
            way = "index \"\(range.index.name)\""
            entryCount = keys.count
            let objects = KeyedObjects(repository, keys, range)
            return order.isEmpty
                ? try inKeyOrder(repository, cursor, objects)
                : try sorted(repository, cursor, objects)
        }
        entryCount = 0
        // Pages go on as the first one began, where that found an index to be of other fields.
        if let term = order.first, order.count == 1, cursor?.isOfValues != true,
            let index = indexes.first(where: { Self.has($0, term) })
        {
            way = "index \"\(index.name)\" in its order"
            return try inIndexOrder(repository, cursor, index, term)
        }
        way = "every object"
        return order.isEmpty
            ? try inKeyOrder(repository, cursor, nil) : try sorted(repository, cursor, nil)
    }

    private mutating func matches(_ object: StoredObject) throws -> Bool {
        objectCount += 1
        try onRead(objectCount)
        for path in missingPaths where path.value(in: object.tree) != nil {
            missingPaths.remove(path)
        }
        return condition?.matches(object.tree) ?? true
    }

    private mutating func note(_ text: String) {
        if !notes.contains(text) { notes.append(text) }
    }

    private var isReadLimitReached: Bool { objectCount >= readLimit }

    private static let otherCursor = RoostError(
        .conflict, "the place of the page is of another order or index: begin with the first page")

    // MARK: By keys

    /// The objects that an index found, by the bytes of their keys.
    private struct KeyedObjects {
        let repository: StoredRepository
        let keys: [String]
        let range: ObjectIndexRange

        init(_ repository: StoredRepository, _ keys: [String], _ range: ObjectIndexRange) {
            self.repository = repository
            self.range = range
            self.keys = keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        }

        func forEach(
            behind last: String?, _ body: (_ key: String, _ object: StoredObject) throws -> Bool
        ) throws {
            for key in keys {
                if let last, !last.utf8.lexicographicallyPrecedes(key.utf8) { continue }
                guard let stored = try repository.object(key) else { continue }
                let object = try StoredObject(key, stored, in: repository)
                guard let forms = object.forms(in: range.shape),
                    try repository.hasEntries(forms, key, in: range.index)
                else { throw OtherFields(index: range.index.name) }
                guard try body(key, object) else { return }
            }
        }
    }

    private func forEachObject(
        _ repository: StoredRepository, _ found: KeyedObjects?, behind last: String?,
        _ body: (_ key: String, _ object: StoredObject) throws -> Bool
    ) throws {
        if let found { return try found.forEach(behind: last, body) }
        try repository.forEachObject(behind: last) { key, stored in
            try body(key, StoredObject(key, stored, in: repository))
        }
    }

    private mutating func inKeyOrder(
        _ repository: StoredRepository, _ cursor: ObjectCursor?, _ found: KeyedObjects?
    ) throws -> Page {
        var last: String?
        switch cursor {
        case nil: break
        case .key(let key): last = key
        default: throw Self.otherCursor
        }
        objectCount = 0
        var page = Page()
        var search = self
        try forEachObject(repository, found, behind: last) { key, object in
            if search.isReadLimitReached {
                page.next = last.map { .key($0) }
                page.warnings.append(search.cutNote)
                return false
            }
            let isFound = try search.matches(object)
            if isFound, page.objects.count == search.limit {
                page.next = page.objects.last.map { .key($0.key) }
                return false
            }
            if isFound { page.objects.append(object) }
            last = key
            return true
        }
        self = search
        return page
    }

    private var cutNote: String {
        "\(readLimit) objects were read; the next page goes on behind them"
    }

    // MARK: Sorted

    private mutating func sorted(
        _ repository: StoredRepository, _ cursor: ObjectCursor?, _ found: KeyedObjects?
    ) throws -> Page {
        var start: FirstObjects.Place?
        switch cursor {
        case nil: break
        case .values(let values, let key) where values.count == order.count:
            start = FirstObjects.Place(values: values, key: key)
        default: throw Self.otherCursor
        }
        objectCount = 0
        var first = FirstObjects(order: order, limit: limit + 1, behind: start)
        var page = Page()
        var search = self
        try forEachObject(repository, found, behind: nil) { _, object in
            if search.isReadLimitReached {
                page.warnings.append(search.unsortedNote)
                return false
            }
            if try search.matches(object) { first.add(object) }
            return true
        }
        self = search
        way += ", sorted"
        if found == nil { note("no index has the order") }
        page.objects = first.sorted()
        if page.objects.count > limit {
            page.objects.removeLast()
            page.next = page.objects.last.map {
                .values(FirstObjects.Place($0, order).values, key: $0.key)
            }
        }
        return page
    }

    private var unsortedNote: String {
        let names = order.map(\.path.description).joined(separator: ", ")
        return
            "not all objects are here: no index has the order by \(names), and so only the first "
            + "\(readLimit) objects by their keys were read and sorted"
    }

    // MARK: By an index

    /// The keys of an index's entries that have every object that the condition can hold for, where they are
    /// few enough to be looked up.
    private mutating func found(
        by indexes: [StoredIndex], in repository: StoredRepository
    ) throws -> (range: ObjectIndexRange, keys: [String])? {
        guard let condition else { return nil }
        var best: (range: ObjectIndexRange, keys: [String])?
        var most = readLimit
        for index in indexes {
            if index.state != .built { note("index \"\(index.name)\" is not built") }
            guard let range = ObjectIndexRange(index, condition),
                let keys = try range.objectKeys(in: repository, upTo: most)
            else { continue }
            best = (range, keys)
            most = keys.count - 1
        }
        guard let best else {
            note("no index leaves at most \(readLimit) objects")
            return nil
        }
        guard try best.range.agrees(with: repository) else {
            throw OtherFields(index: best.range.index.name)
        }
        return best
    }

    /// Whether the entries of an index are in the order of a member.
    private static func has(_ index: StoredIndex, _ term: ObjectOrderTerm) -> Bool {
        guard index.state == .built, let shape = index.shape, !shape.isPartial,
            shape.isOfStoredFields, let field = shape.fields.first, !field.isEach
        else { return false }
        return ObjectCondition.MemberPath(field.path) == term.path
    }

    private mutating func inIndexOrder(
        _ repository: StoredRepository, _ cursor: ObjectCursor?, _ index: StoredIndex,
        _ term: ObjectOrderTerm
    ) throws -> Page {
        var last: [UInt8]?
        switch cursor {
        case nil: break
        case .entry(index.name, let key): last = key
        default: throw Self.otherCursor
        }
        guard let shape = index.shape, let field = shape.fields.first else {
            throw OtherFields(index: index.name)
        }
        let order: ScanOrder =
            field.isDescending == term.isDescending ? .ascending : .descending
        objectCount = 0
        entryCount = 0
        var page = Page()
        var lastFound: [UInt8]?
        var search = self
        // The first entry that is greater has one more byte.
        let lower: [UInt8] = order == .ascending ? last.map { $0 + [0] } ?? [] : []
        let upper = order == .descending ? last : nil
        try repository.forEachEntry(of: index, from: lower, below: upper, order) { entry in
            guard let entry else { throw OtherFields(index: index.name) }
            if search.isReadLimitReached {
                page.next = last.map { .entry(index: index.name, key: $0) }
                page.warnings.append(search.cutNote)
                return false
            }
            search.entryCount += 1
            guard let stored = try repository.object(entry.objectKey) else {
                throw OtherFields(index: index.name)
            }
            let object = try StoredObject(entry.objectKey, stored, in: repository)
            guard object.hasForm(entry.form, in: shape) == true else {
                throw OtherFields(index: index.name)
            }
            let isFound = try search.matches(object)
            if isFound, page.objects.count == search.limit {
                page.next = lastFound.map { .entry(index: index.name, key: $0) }
                return false
            }
            if isFound {
                page.objects.append(object)
                lastFound = entry.key
            }
            last = entry.key
            return true
        }
        self = search
        return page
    }
}
