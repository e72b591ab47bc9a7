import RoostEngine

/// What answering a query by one plan reads, in the planner's unit: an object that is found by its key.
package struct PlanCost: Sendable, CustomStringConvertible {
    package let name: String
    package let entryCount: Int
    /// The objects that were found by their keys, and those that a scan passed.
    package let foundCount: Int
    package let scannedCount: Int

    package var cost: Double {
        Double(entryCount) * PlanWeights.entry + Double(foundCount)
            + Double(scannedCount) * PlanWeights.scannedObject
    }

    package var description: String {
        "\(name): \(entryCount) entries, \(foundCount) found, \(scannedCount) scanned"
    }
}

/// What reading costs, beside an object that is found by its key. docs/decisions/0082.
enum PlanWeights {
    static let scannedObject = 0.5
    static let entry = 0.1
}

extension Query {
    /// Answers the query in every way, the planner's first, and says what each reads: for tests of the
    /// planner.
    package func planCosts() throws -> (chosen: PlanCost, every: [PlanCost]) {
        let view = try repository.dictionary.workspace.engine.view()
        defer { view.close() }
        let planner = try QueryPlanner(self, view, showsIndexes: true, mayLook: true)
        return (
            try cost(of: planner.plan(), view),
            try planner.everyPlan().map { try cost(of: $0, view) }
        )
    }

    private func cost(of plan: QueryPlan<Item>, _ view: EngineView) throws -> PlanCost {
        var source = ViewSource(view: view)
        var run = try QueryRun(self, view, plan)
        try forEach(&run, &source, objectForm(in: run.name)) { _, _ in }
        return PlanCost(
            name: plan.name, entryCount: run.entriesRead,
            foundCount: run.objectsRead - run.objectsScanned, scannedCount: run.objectsScanned)
    }
}

extension QueryPlan {
    fileprivate var name: String { (attempt == nil ? "" : "attempt, else ") + accessName }

    private var accessName: String {
        switch access {
        case .nothing: "nothing"
        case .scan: "scan"
        case .keys(let keys): "\(keys.count) keys"
        case .entries(let all): "entries of " + all.map(\.active.index.name).joined(separator: ", ")
        case .ordered(let order): "order of \(order.ranges.active.index.name)"
        }
    }
}

extension QueryPlanner {
    /// Every way to answer the query, but for those that combine others.
    fileprivate func everyPlan() throws -> [QueryPlan<Item>] {
        var plans = [QueryPlan<Item>(access: .everything)]
        if let ranges = identifierRanges { plans.append(QueryPlan(access: .scan(ranges))) }
        for active in usable {
            guard let ranges = IndexRanges(active, query.condition) else { continue }
            if ranges.fieldCount > 0 { plans.append(QueryPlan(access: .entries([ranges]))) }
            if let order = IndexOrder(
                ranges, query.condition, Array(query.ordersBeforeKeys))
            {
                plans.append(QueryPlan(access: .ordered(order)))
            }
        }
        for case .any(let parts) in query.condition.conjuncts {
            if let union = try union(parts) {
                plans.append(QueryPlan(access: .entries(union.ranges)))
            }
        }
        return plans
    }
}
