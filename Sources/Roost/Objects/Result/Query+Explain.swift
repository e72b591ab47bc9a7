import RoostEngine

extension Query {
    /// How the query is answered: runs it, and says which index it used and what it read.
    ///
    ///     index "color-priority", color = "red", priority > 100: 132 entries, 132 objects read
    public func explain() throws -> String {
        let view = try repository.dictionary.workspace.engine.view()
        defer { view.close() }
        var source = ViewSource(view: view)
        var run = try QueryRun(self, &source)
        try forEach(&run, &source) { _, _ in }
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

extension QueryPlan {
    fileprivate func description(of query: Query<Item>) -> String
    where Item: Identifiable & Sendable, Item.ID: Sendable {
        var parts: [String]
        switch followed {
        case .nothing: return "nothing can match \(query.condition)"
        case .scan:
            parts = [query.readsFields ? "every object by its fields" : "every object"]
        case .entries(let all):
            var names: [String] = []
            for ranges in all where !names.contains(ranges.active.index.name) {
                names.append(ranges.active.index.name)
            }
            parts = [names.map { "index \"\($0)\"" }.joined(separator: " and ")]
        case .ordered(let order): parts = ["index \"\(order.ranges.active.index.name)\" in order"]
        }
        if case .always(true) = query.condition {} else { parts.append("\(query.condition)") }
        if !query.orders.isEmpty {
            if case .ordered = followed {} else { parts.append("sorted") }
        }
        return parts.joined(separator: ", ")
    }
}
