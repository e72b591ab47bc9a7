import RoostEngine

extension Query {
    /// How the query is answered: runs it, and says which index it used and what it read.
    ///
    ///     index "color-priority", color = "red", priority > 100: 132 entries, 132 objects read
    ///
    /// - Throws: as ``fetch()``.
    public func explain() throws -> String {
        try atOneMoment { try explain(&$0) }
    }

    func explain<Source: ObjectSource & ~Copyable>(_ source: inout Source) throws -> String {
        var run = try QueryRun(self, &source)
        if limitCount != 0 { try forEach(&run, &source, objectForm(in: run.name)) { _, _ in } }
        var text = run.plan.description(of: self)
        text += ": "
        if run.entriesRead > 0 { text += "\(run.entriesRead) entries, " }
        text += "\(run.objectsRead) objects read"
        for note in run.plan.notes { text += "; \(note)" }
        return text
    }
}

extension Query {
    /// Whether a scan makes only objects that match.
    fileprivate var readsFields: Bool {
        if case .always = condition { return false }
        return storedCondition != nil
    }
}

extension [IndexRegion.Interval] {
    fileprivate func scanDescription(_ readsFields: Bool) -> String {
        if self == IndexRegion.everything.intervals {
            return readsFields ? "every object by its fields" : "every object"
        }
        let ranges = count == 1 ? "a range of identifiers" : "\(count) ranges of identifiers"
        return readsFields ? "\(ranges), by fields" : ranges
    }
}

extension QueryPlan {
    fileprivate func description(of query: Query<Item>) -> String
    where Item: Identifiable & Sendable, Item.ID: Sendable {
        var parts: [String]
        var index: Index<Item>?
        switch followed {
        case .nothing: return "nothing can match \(query.condition)"
        case .scan(let ranges):
            parts = [ranges.scanDescription(query.readsFields)]
        case .keys(let keys):
            parts = [keys.count == 1 ? "one identifier" : "\(keys.count) identifiers"]
        case .entries(let all):
            var names: [String] = []
            for ranges in all where !names.contains(ranges.active.index.name) {
                names.append(ranges.active.index.name)
            }
            parts = [names.map { "index \"\($0)\"" }.joined(separator: " and ")]
            if names.count == 1 { index = all.first?.active.index }
        case .ordered(let order):
            index = order.ranges.active.index
            parts = ["index \"\(order.ranges.active.index.name)\" in order"]
        }
        if case .always(true) = query.condition {
        } else {
            parts.append("\(query.condition.inOrder(of: index))")
        }
        if query.keyOrder == nil {
            if case .ordered = followed {} else { parts.append("sorted") }
        }
        return parts.joined(separator: ", ")
    }
}

extension ConditionNode {
    /// With what an index says in the order of its fields, and the rest after that.
    fileprivate func inOrder(of index: Index<Root>?) -> ConditionNode {
        guard let index, case .all(let parts) = self else { return self }
        func place(_ part: ConditionNode) -> Int {
            var paths: [FieldPath?] = []
            part.forEachTerm { if !paths.contains($0.path) { paths.append($0.path) } }
            guard paths.count == 1, let path = paths[0] else { return .max }
            return index.fields.firstIndex { $0.path == path } ?? .max
        }
        let placed = parts.enumerated().map { (place($1), $0, $1) }
        return .all(placed.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map(\.2))
    }
}
