import Roost

/// Finds the objects of a dictionary that a condition holds for, in an order.
///
/// - Members go by the names under which they are stored. An index goes by the type's properties, so one
///   is used only where each object that is read by it, and some others, have stored under these names
///   what the index says.
/// - Without an order the objects come by the bytes of their keys, and so do those that it does not tell
///   apart; with one, as many as the limit asks for are in memory, or all.
package struct ObjectSearch {
    package let condition: ObjectCondition?
    package let order: [ObjectOrderTerm]
    package let limit: Int

    /// What was done, for `--explain`.
    package private(set) var way = "every object"
    package private(set) var notes: [String] = []
    package private(set) var entryCount = 0
    package private(set) var objectCount = 0
    private var missingPaths: Set<ObjectCondition.MemberPath>
    /// Told of each object that is read, how many they are by then; what it throws ends the search.
    package var onRead: (_ objectCount: Int) throws -> Void = { _ in }

    /// - Parameter shown: Members that are asked for beside those of the condition and the order.
    package init(
        condition: ObjectCondition?, order: [ObjectOrderTerm], limit: Int,
        shown: [ObjectCondition.MemberPath] = []
    ) {
        self.condition = condition
        self.order = order
        self.limit = limit
        missingPaths = (condition?.paths ?? []).union(order.map(\.path)).union(shown)
    }

    /// Members that were asked for and that no object has.
    package var unknownPaths: [String] {
        objectCount == 0 ? [] : missingPaths.map(\.description).sorted()
    }

    package mutating func run(
        _ repository: StoredRepository, _ body: (StoredObject) throws -> Void
    ) throws {
        if limit == 0 { return }
        var found = FirstObjects(order: order, limit: limit)
        if let keys = try keysByIndex(repository) {
            for key in keys {
                guard let stored = try repository.object(key) else { continue }
                let object = try StoredObject(key, stored, in: repository)
                if try matches(object) { found.add(object) }
            }
        } else {
            try repository.forEachObject { key, stored in
                let object = try StoredObject(key, stored, in: repository)
                guard try matches(object) else { return true }
                guard order.isEmpty else {
                    found.add(object)
                    return true
                }
                try body(object)
                found.passedCount += 1
                return found.passedCount < limit
            }
        }
        for object in found.sorted() { try body(object) }
    }

    private mutating func matches(_ object: StoredObject) throws -> Bool {
        objectCount += 1
        try onRead(objectCount)
        for path in missingPaths where path.value(in: object.tree) != nil {
            missingPaths.remove(path)
        }
        return condition?.matches(object.tree) ?? true
    }

    // MARK: By an index

    /// The keys of the objects to be read, in the order of their bytes; `nil` where all are to be.
    private mutating func keysByIndex(_ repository: StoredRepository) throws -> [String]? {
        guard let condition else { return nil }
        var best: (range: ObjectIndexRange, keys: [String])?
        // An object that is found by its key costs about as two of a scan.
        var most = try repository.objectCount() / 2
        for index in repository.indexes {
            guard let range = ObjectIndexRange(index, condition) else {
                if index.state != .built { notes.append("index \"\(index.name)\" is not built") }
                continue
            }
            guard let keys = try range.objectKeys(in: repository, upTo: most) else { continue }
            best = (range, keys)
            most = keys.count - 1
        }
        guard let best else {
            notes.append("no index leaves half of them out")
            return nil
        }
        guard try agrees(best.range, best.keys, repository) else {
            notes.append(
                "index \"\(best.range.index.name)\" is of other fields than those of these names")
            return nil
        }
        way = "index \"\(best.range.index.name)\""
        entryCount = best.keys.count
        return best.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func agrees(
        _ range: ObjectIndexRange, _ keys: [String], _ repository: StoredRepository
    ) throws -> Bool {
        guard try range.agrees(with: repository) else { return false }
        return try keys.allSatisfy { key in
            guard let stored = try repository.object(key) else { return true }
            guard let forms = StoredObject(key, stored)?.forms(in: range.shape) else {
                return false
            }
            return try repository.hasEntries(forms, key, in: range.index)
        }
    }
}

/// A member that objects are ordered by.
package struct ObjectOrderTerm: Equatable {
    package var path: ObjectCondition.MemberPath
    package var isDescending: Bool

    /// "-priority,title": a minus sign turns the order of a member around.
    package static func terms(_ text: String) throws(ConditionError) -> [ObjectOrderTerm] {
        var terms: [ObjectOrderTerm] = []
        var column = 1
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.drop { $0 == "-" }
            guard !name.isEmpty, part.count - name.count <= 1, !name.contains(where: \.isWhitespace)
            else { throw ConditionError(column: column, reason: "expected a member's name") }
            terms.append(
                ObjectOrderTerm(path: .init(String(name)), isDescending: part.hasPrefix("-")))
            column += part.count + 1
        }
        return terms
    }
}
