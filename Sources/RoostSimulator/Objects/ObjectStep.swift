import Roost
import RoostSimulation

/// What a run of objects does next.
enum ObjectStep: Sendable {
    case save(SimulatedItem)
    case insert(SimulatedItem)
    case update(Int, SimulatedItem)
    case delete(Int)
    case saveAll([SimulatedItem])
    case deleteAll(SimulatedQuery)
    case updateAll(SimulatedQuery, rank: Int)
    /// Moves a match to another identifier, if there is one.
    case transact(SimulatedQuery, SimulatedItem)
    /// Round the repository.
    case set(SimulatedItem)
    case enqueue(SimulatedItem)
    case removeValue(Int)
    case removeAll
    case reindex
    case query(SimulatedQuery)
    case wait(Duration)
    case compact

    init(_ random: inout SimulationRandom, idCount: Int) {
        let id = random.below(idCount)
        let item = SimulatedItem(id: id, &random)
        switch random.below(50) {
        case ..<10: self = .save(item)
        case ..<14: self = .insert(item)
        case ..<18: self = .update(id, item)
        case ..<22: self = .delete(id)
        case ..<25:
            self = .saveAll(
                (0..<(1 + random.below(20))).map { _ in
                    SimulatedItem(id: random.below(idCount), &random)
                })
        case ..<27: self = .deleteAll(SimulatedQuery(&random))
        case ..<29: self = .updateAll(SimulatedQuery(&random), rank: random.below(6))
        case ..<32: self = .transact(SimulatedQuery(&random), item)
        case 32: self = .set(item)
        case 33: self = random.once(in: 3) ? .enqueue(item) : .removeValue(id)
        case 34: self = random.once(in: 3) ? .removeAll : .reindex
        case ..<42: self = .query(SimulatedQuery(&random))
        case ..<47: self = .wait(.milliseconds(1 + random.below(20)))
        default: self = .compact
        }
    }

    /// Whether it was an update that was made at once, without a view, as far as that can be told.
    func perform(on items: Repository<SimulatedItem>) async throws -> Bool {
        var isMadeAtOnce = false
        switch self {
        case .save(let item): try await items.save(item)
        case .insert(let item): try await items.insert(item)
        case .update(let id, let item):
            try await items.update(id) { old in
                old.rank = item.rank
                old.name = item.name
                old.slug = item.slug
                isMadeAtOnce = items.dictionary.workspace.statistics.liveReadViewCount == 0
            }
        case .delete(let id): try await items.delete(id)
        case .saveAll(let all): try await items.saveAll(all)
        case .deleteAll(let query): try await items.where(query.condition).limit(4).deleteAll()
        case .updateAll(let query, let rank):
            try await items.where(query.condition).updateAll { $0.rank = rank }
        case .transact(let query, let item):
            try await items.dictionary.workspace.transaction { transaction in
                guard var found = try transaction.first(items.where(query.condition)) else {
                    return
                }
                try transaction.delete(found.id, in: items)
                found.id = item.id
                try transaction.save(found, in: items)
            }
        case .set(let item):
            try await items.dictionary.set(item, forKey: items.key(of: item.id))
        case .enqueue(let item): items.dictionary.enqueue(item, forKey: items.key(of: item.id))
        case .removeValue(let id):
            try await items.dictionary.removeValue(forKey: items.key(of: id))
        case .removeAll: try await items.dictionary.removeAll()
        case .reindex: try await items.reindex()
        case .query, .wait, .compact: break
        }
        return isMadeAtOnce
    }
}
