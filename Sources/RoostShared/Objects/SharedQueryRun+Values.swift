import Roost
import RoostIO

// What is made of all matches, in any order, without holding their objects: and where the entries of an index tell values
// apart, with one object of each.

extension SharedQueryRun {
    /// Calls `body` with what is made of each match. Of all matches it holds a piece at a time, and they come in any order; of
    /// those that a limit or an offset leaves, and in a transaction that has changed some, what was made of all is held.
    nonisolated(nonsending) func forEach(_ body: (Made) throws -> Void) async throws {
        guard terms.isWhole, !source.hasChanges else {
            for match in try await page() { try body(match.made) }
            return
        }
        var unordered = query
        unordered.terms.removeOrders()
        try await SharedQueryRun(unordered, source, make).forEachUnordered(body)
    }

    private nonisolated(nonsending) func forEachUnordered(
        _ body: (Made) throws -> Void
    ) async throws {
        let (way, revision) = try await choose(isCounting: false)
        switch way {
        case .nothing: return
        case .keys(let keys):
            _ = try await forEachPiece(ofKeys: keys) { matches in
                for match in matches { try body(match.made) }
                return true
            }
        case .scan(let ranges):
            _ = try await forEachRecord(ranges, isKeysOnly: false, at: revision) { record in
                if let match = try match(record) { try body(match.made) }
                return true
            }
        case .entries(let plan, let catalog):
            let entries = SharedEntries(repository, plan, catalog, source, at: revision)
            var seen: Set<[UInt8]> = []
            while let page = try await entries.next() {
                var keys = page.map(\.objectKey)
                if plan.mayRepeat { keys = keys.filter { seen.insert($0).inserted } }
                for match in try await objects(keys, at: entries.revision) { try body(match.made) }
            }
            entries.guardRanges()
        }
    }

    /// Whether the matches are read in the query's order, so that the first of them costs no more than what is before it.
    nonisolated(nonsending) func comesInOrder() async throws -> Bool {
        switch try await choose(isCounting: false).way {
        case .nothing: true
        case .keys, .scan: terms.keyOrder != nil
        case .entries(let plan, _): plan.isOrdered
        }
    }
}

/// Entries of an index whose first fields, or whose element, have one form.
private struct SharedGroup {
    let form: [UInt8]
    /// Whether several values may have the form.
    let isTruncated: Bool
    /// The key of the first object.
    let objectKey: [UInt8]
    var count = 1
}

extension SharedQueryRun {
    /// Calls `body` with each value by which an index tells the matches apart, and with how many they are where they are
    /// counted, from its entries and one object of each value. `false`, and nothing is read, where no index does.
    ///
    /// - Parameters:
    ///   - paths: What the index is to have: fields, or one whose elements.
    ///   - values: Those of what was made of an object that have a form.
    nonisolated(nonsending) func forEachGroup<Value: Equatable>(
        by paths: [FieldPath], isCounting: Bool,
        _ values: (_ made: Made, _ form: [UInt8]) -> [Value],
        _ body: (_ value: Value, _ count: Int) -> Void
    ) async throws -> Bool {
        guard terms.isWhole, !terms.isImpossible, !source.hasChanges,
            let indexes = repository.indexes
        else { return false }
        let (catalog, revision) = try await source.catalog()
        let built = catalog.listed(indexes).filter(\.index.isBuilt).map(\.place)
        guard let groups = indexes.groups(terms, usable: Set(built), by: paths) else {
            return false
        }
        func entries(_ plan: EntryPlan<Item>) -> SharedEntries<Item> {
            SharedEntries(repository, plan, catalog, source, at: revision)
        }
        var rest = try await read(groups, entries(groups.plan), isCounting: isCounting)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(64)
            rest = rest.dropFirst(piece.count)
            let keys = Set(piece.lazy.filter { !$0.isTruncated }.map(\.objectKey))
            var made: [[UInt8]: Made] = [:]
            for match in try await objects(Array(keys), at: revision ?? 0) {
                made[match.key] = match.made
            }
            for group in piece {
                if !group.isTruncated, let made = made[group.objectKey],
                    let value = values(made, group.form).first, value == value
                {
                    body(value, group.count)
                    continue
                }
                let all = entries(groups.plan(ofGroup: group.form))
                while let page = try await all.next() {
                    for match in try await objects(page.map(\.objectKey), at: all.revision) {
                        for value in values(match.made, group.form) { body(value, 1) }
                    }
                }
            }
        }
        return true
    }

    /// The groups, in the order of the index. Where they are not counted, what a page has not of its last one is passed by.
    private nonisolated(nonsending) func read(
        _ groups: EntryGroups<Item>, _ entries: SharedEntries<Item>, isCounting: Bool
    ) async throws -> [SharedGroup] {
        var found: [SharedGroup] = []
        while let page = try await entries.next() {
            // Of one that is not counted the object is read, which says that it stays.
            if isCounting { entries.guardEach(page) }
            for entry in page {
                let (form, isTruncated) = try groups.form(ofEntry: entry.key)
                if form == found.last?.form {
                    found[found.count - 1].count += 1
                } else {
                    found.append(
                        SharedGroup(
                            form: form, isTruncated: isTruncated, objectKey: entry.objectKey))
                }
            }
            if !isCounting, let last = found.last {
                entries.skip(to: groups.end(ofGroup: last.form))
            }
        }
        entries.guardRanges()
        return found
    }
}
