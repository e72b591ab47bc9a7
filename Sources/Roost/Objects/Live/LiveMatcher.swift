/// The live results of a repository, found by the objects that they may be about.
///
/// Each is entered by one field that its condition compares: by the values that the field may have where
/// these are single ones, else by their ranges; for "one or the other" by a field of each. A condition
/// that says of no field what it may be is asked for each object.
struct LiveMatcher {
    typealias Match = AnyLiveResult

    private var fields: [LiveField] = []
    private var others: [UInt64: Match] = [:]

    mutating func add<Item>(_ result: LiveResult<Item>) {
        guard let entries = LiveEntry.entries(of: result.query.condition) else {
            others[result.id] = result
            return
        }
        let repository = result.query.repository
        // No form can be made of a field after all.
        guard entries.allSatisfy({ place(of: $0.path, repository) != nil }) else {
            fields.removeAll(where: \.isEmpty)
            others[result.id] = result
            return
        }
        for entry in entries {
            if let place = place(of: entry.path, repository) { fields[place].add(entry, result) }
        }
    }

    mutating func remove<Item>(_ result: LiveResult<Item>) {
        guard others.removeValue(forKey: result.id) == nil else { return }
        for entry in LiveEntry.entries(of: result.query.condition) ?? [] {
            guard let place = fields.firstIndex(where: { $0.path == entry.path }) else { continue }
            fields[place].remove(entry, result.id)
        }
        fields.removeAll(where: \.isEmpty)
    }

    /// Calls `body` with each result whose condition the object matches, and `failed` where that cannot
    /// be said: a predicate may throw. `object` is of the repository's type, and `number` that of the look-up.
    func forEachMatch(
        _ object: UnsafeRawPointer, _ number: UInt64, _ body: (Match) -> Void,
        failed: (Match, any Error) -> Void
    ) {
        func ask(_ result: Match) {
            do { if try result.matches(object) { body(result) } } catch {
                failed(result, error)
            }
        }
        if !others.isEmpty { for result in others.values { ask(result) } }
        for place in fields.indices {
            fields[place].forEachCandidate(object) { result in
                guard result.foundBy != number else { return }
                result.foundBy = number
                ask(result)
            }
        }
    }

    /// Whether any result may be about the object with these stored bytes; `false` only where they say that
    /// none is.
    func mayMatch(_ stored: UnsafeRawBufferPointer) -> Bool {
        // Where they stand, as a copy of one costs a reference for each of its parts.
        let isFound = fields.withUnsafeBufferPointer { fields in
            fields.indices.contains { fields[$0].mayMatch(stored) }
        }
        if isFound { return true }
        return !others.isEmpty && others.values.contains { $0.mayMatch(stored) }
    }

    private mutating func place<Item>(
        of path: FieldPath, _ repository: Repository<Item>
    ) -> Int? {
        if let place = fields.firstIndex(where: { $0.path == path }) { return place }
        guard let field = LiveField(path, repository) else { return nil }
        fields.append(field)
        return fields.count - 1
    }
}

/// By what a live result is found: values that a field of a match may have.
struct LiveEntry: Equatable {
    let path: FieldPath
    let interval: IndexRegion.Interval

    /// One of them has the field of each match; `nil` where nothing of the kind is known.
    static func entries<Item>(of condition: ConditionNode<Item>) -> [LiveEntry]? {
        if case .any(let parts) = condition {
            var union: [LiveEntry] = []
            for part in parts {
                guard let entries = entries(of: part) else { return nil }
                for entry in entries where !union.contains(entry) { union.append(entry) }
            }
            return union
        }
        if case .always(false) = condition { return [] }
        var best: (entries: [LiveEntry], cost: Int)?
        for part in condition.conjuncts {
            guard let (entries, cost) = entriesAndCost(of: part, in: condition) else { continue }
            if cost < best?.cost ?? .max { best = (entries, cost) }
        }
        return best?.entries
    }

    /// The entries by the field that a part of a condition compares. The cost says how much they let
    /// through: single values are best, then ranges with two ends.
    private static func entriesAndCost<Item>(
        of part: ConditionNode<Item>, in condition: ConditionNode<Item>
    ) -> (entries: [LiveEntry], cost: Int)? {
        switch part {
        case .term(let term):
            guard let path = term.path, term.region != nil else { return nil }
            let region = condition.region(of: path)
            guard !region.isEverything else { return nil }
            let entries = region.intervals.map { LiveEntry(path: path, interval: $0) }
            return (entries, region.intervals.reduce(0) { $0 + cost($1) })
        case .any:
            guard let entries = entries(of: part) else { return nil }
            return (entries, entries.reduce(0) { $0 + cost($1.interval) })
        case .not, .all, .always: return nil
        }
    }

    private static func cost(_ interval: IndexRegion.Interval) -> Int {
        if interval.isPoint { return 1 }
        return interval.upper == nil || interval.lower.isEmpty ? 100_000 : 1_000
    }
}

/// The results that are entered by one field.
struct LiveField {
    typealias Match = AnyLiveResult

    let path: FieldPath
    private let forms: FieldForms
    private let storedForm: StoredFieldForm?
    private var points: [[UInt8]: [UInt64: Match]] = [:]
    private var ranges = IntervalTree<Match>()

    /// `nil` where the field's values have no form.
    init?<Item>(_ path: FieldPath, _ repository: Repository<Item>) {
        guard let forms = fieldForms(path, of: Item.self) else { return nil }
        self.path = path
        self.forms = forms
        storedForm = StoredFieldForm(path, repository)
    }

    var isEmpty: Bool { points.isEmpty && ranges.isEmpty }

    mutating func add(_ entry: LiveEntry, _ result: Match) {
        if entry.interval.isPoint {
            points[entry.interval.lower, default: [:]][result.id] = result
        } else {
            ranges.insert(entry.interval, result.id, result)
        }
    }

    mutating func remove(_ entry: LiveEntry, _ id: UInt64) {
        guard entry.interval.isPoint else { return ranges.remove(entry.interval, id) }
        points[entry.interval.lower]?[id] = nil
        if points[entry.interval.lower]?.isEmpty == true { points[entry.interval.lower] = nil }
    }

    /// As `LiveMatcher.mayMatch`.
    func mayMatch(_ stored: UnsafeRawBufferPointer) -> Bool {
        guard let form = storedForm?.form(stored) else { return true }
        if !points.isEmpty, let found = points[form] {
            for result in found.values where result.mayMatch(stored) { return true }
        }
        return ranges.contains(form) { $0.mayMatch(stored) }
    }

    func forEachCandidate(_ object: UnsafeRawPointer, _ body: (Match) -> Void) {
        forms(object) { form in
            if !points.isEmpty, let found = points[form] {
                for result in found.values { body(result) }
            }
            ranges.forEach(containing: form, body)
        }
    }
}

// MARK: The forms of a field

/// Calls a closure with the form of the field of an object that stands there, or of each of its elements.
private typealias FieldForms = (_ object: UnsafeRawPointer, ([UInt8]) -> Void) -> Void

/// `nil` where it has none. By the type at run time, as conditions have their regions.
private func fieldForms<Root>(_ path: FieldPath, of root: Root.Type) -> FieldForms? {
    let type = Swift.type(of: path.keyPath).valueType
    if path.isEach {
        guard let type = type as? any Collection.Type else { return nil }
        return elementForms(type, path, of: root)
    }
    guard let type = type as? any IndexRepresentable.Type else { return nil }
    return valueForms(type, path, of: root)
}

private func valueForms<Root, Value: IndexRepresentable>(
    _ type: Value.Type, _ path: FieldPath, of root: Root.Type
) -> FieldForms? {
    guard let keyPath = path.keyPath as? KeyPath<Root, Value> else { return nil }
    let access = FieldAccess(sendable(keyPath))
    return { object, body in
        body(IndexForm(access.value(of: object.assumingMemoryBound(to: Root.self))).bytes)
    }
}

private func elementForms<Root, Value: Collection>(
    _ type: Value.Type, _ path: FieldPath, of root: Root.Type
) -> FieldForms? {
    guard let element = Value.Element.self as? any IndexRepresentable.Type else { return nil }
    func forms<Element: IndexRepresentable>(_: Element.Type) -> FieldForms? {
        guard let keyPath = path.keyPath as? KeyPath<Root, Value> else { return nil }
        let access = FieldAccess(sendable(keyPath))
        return { object, body in
            for value in access.value(of: object.assumingMemoryBound(to: Root.self)) {
                // They are of one type, as `element` was found by a cast.
                if let value = value as? Element { body(IndexForm(value).bytes) }
            }
        }
    }
    return forms(element)
}
