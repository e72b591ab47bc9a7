import Roost
import RoostTestSupport

/// An object that says which call wrote it.
struct HistoryItem: Codable, Identifiable, Sendable, Equatable, Indexed {
    var id: Int
    var color: Int
    var call: Int

    @TaskLocal static var isIndexed = true
    static var indexes: [Index<HistoryItem>] { isIndexed ? [Index("color", \.color)] : [] }
}

/// Makes random calls on some objects and records what they saw.
///
/// To the checker each identifier is a key for each color, which has the call that wrote the object while
/// it is of that color, and is absent else. So a query for a color reads the keys of all identifiers, and
/// a match that somebody adds, changes or removes is a write of one of them.
struct ObjectHistoryCaller {
    let items: Repository<HistoryItem>
    /// Has each call that removes something, so that its place is known.
    let marks: WorkspaceDictionary
    let log: HistoryLog
    var random: SeededGenerator

    static let identifiers = 0..<5
    static let colors = 0..<3

    /// One call.
    mutating func step() async {
        switch random.below(23) {
        case 0..<3: await save()
        case 3..<5: await insert()
        case 5..<7: await update()
        case 7..<9: await delete()
        case 9..<11: await fetch()
        case 11: await fetchFirst()
        case 12: await lookAtView()
        case 13 where random.once(in: 12): await reindex()
        case 13..<16: await addWhereFew()
        case 16..<18: await changeMatches()
        case 18..<21: await addWhereNone()
        default: await moveFirst()
        }
    }

    private mutating func anyItem(_ call: Int = 0) -> HistoryItem {
        HistoryItem(
            id: random.below(Self.identifiers.count), color: random.below(Self.colors.count),
            call: call)
    }

    private func query(_ color: Int) -> Query<HistoryItem> { items.where { $0.color == color } }

    private func record(
        _ name: String, _ body: (inout RecordedCall) async throws -> Void
    ) async {
        var call = log.begin(name)
        do {
            try await body(&call)
            call.returned = log.tick()
            call.outcome = .committed
        } catch let error as RoostError where error.code == .alreadyExists {
            call.returned = log.tick()
            (call.reads, call.writes, call.outcome) = ([:], [:], .refused)
        } catch {
            call.contradiction = "an error without a reason: \(error)"
        }
        log.add(call)
    }

    // MARK: Writes

    private mutating func save() async {
        let item = anyItem()
        await record("save") { call in
            var item = item
            item.call = call.id
            call.write(item)
            try await items.save(item)
        }
    }

    private mutating func insert() async {
        let item = anyItem()
        await record("insert") { call in
            var item = item
            item.call = call.id
            try await items.insert(item)
            call.read(nil, id: item.id)
            call.write(item)
        }
    }

    private mutating func update() async {
        let changed = anyItem()
        await record("update") { call in
            let old = try await items.update(changed.id) { item in
                let old = item
                item = HistoryItem(id: changed.id, color: changed.color, call: call.id)
                return old
            }
            call.read(old, id: changed.id)
            if old != nil { call.write(.init(id: changed.id, color: changed.color, call: call.id)) }
        }
    }

    private mutating func delete() async {
        let (id, color) = (random.below(Self.identifiers.count), random.below(Self.colors.count))
        let isOfMatches = random.once(in: 2)
        await record(isOfMatches ? "deleteAll" : "delete") { call in
            let empty = call
            call = try await items.dictionary.workspace.transaction { transaction in
                var call = empty
                try transaction.set(call.id, forKey: "\(call.id)", in: marks)
                guard isOfMatches else {
                    call.read(try transaction.find(id, in: items), id: id)
                    try transaction.delete(id, in: items)
                    call.remove(id)
                    return call
                }
                let found = try transaction.fetch(query(color))
                call.read(found, color)
                if try transaction.deleteAll(query(color)) != found.count {
                    call.contradiction = "deleted others than were found"
                }
                for item in found { call.remove(item.id) }
                return call
            }
        }
    }

    /// Adds a match where there are fewer than two: two of these at once must not both find none.
    private mutating func addWhereFew() async {
        let item = anyItem()
        await record("add where few") { call in
            let empty = call
            call = try await items.dictionary.workspace.transaction { transaction in
                var call = empty
                let found = try transaction.fetch(query(item.color))
                call.read(found, item.color)
                if try transaction.count(of: query(item.color)) != found.count {
                    call.contradiction = "counted others than were found"
                }
                guard found.count < 2 else { return call }
                let added = HistoryItem(id: item.id, color: item.color, call: call.id)
                try transaction.save(added, in: items)
                call.write(added)
                return call
            }
        }
    }

    /// Adds a match where nothing but what is made of the matches says that there is none.
    private mutating func addWhereNone() async {
        let (item, kind) = (anyItem(), random.below(9))
        let color = item.color
        await record("add where none") { call in
            let empty = call
            call = try await items.dictionary.workspace.transaction { transaction in
                var call = empty
                guard try isAbsent(color, kind, &transaction) else { return call }
                call.read([], color)
                let added = HistoryItem(id: item.id, color: color, call: call.id)
                try transaction.save(added, in: items)
                call.write(added)
                return call
            }
        }
    }

    private func isAbsent(
        _ color: Int, _ kind: Int, _ transaction: inout Transaction
    ) throws -> Bool {
        let groups = items.grouped(by: \.color)
        switch kind {
        case 0: return try transaction.isEmpty(query(color))
        case 1: return try !transaction.distinct(\.color, in: items.all).contains(color)
        case 2: return try transaction.counts(of: groups)[color] == nil
        case 3: return try transaction.max(of: \.call, in: query(color)) == nil
        case 4: return try transaction.min(of: \.color, in: items.all).map { $0 > color } ?? true
        case 5: return try transaction.max(of: \.color, in: items.all).map { $0 < color } ?? true
        case 6:
            return try transaction.page(of: query(color), after: nil, limit: 3).items.isEmpty
        case 7: return try transaction.sums(of: \.call, in: groups)[color] == nil
        default:
            var isAbsent = true
            try transaction.forEach(items.order(by: \.call)) {
                if $0.color == color { isAbsent = false }
            }
            return isAbsent
        }
    }

    private mutating func changeMatches() async {
        let (color, other) = (random.below(Self.colors.count), random.below(Self.colors.count))
        await record("change matches") { call in
            let empty = call
            call = try await items.dictionary.workspace.transaction { transaction in
                var call = empty
                let found = try transaction.fetch(query(color))
                call.read(found, color)
                try transaction.updateAll(query(color)) { item in
                    item.color = other
                    item.call = empty.id
                }
                for item in found {
                    call.write(HistoryItem(id: item.id, color: other, call: call.id))
                }
                return call
            }
        }
    }

    /// Takes the first in an order away, and puts it after.
    private mutating func moveFirst() async {
        await record("move first") { call in
            let empty = call
            call = try await items.dictionary.workspace.transaction { transaction in
                var call = empty
                guard var first = try transaction.first(items.order(by: \.color)) else {
                    for color in Self.colors { call.read([], color) }
                    return call
                }
                call.readFirst(first)
                (first.color, first.call) = (Self.colors.upperBound - 1, call.id)
                try transaction.save(first, in: items)
                call.write(first)
                return call
            }
        }
    }

    // MARK: Reads

    private mutating func fetch() async {
        let color = random.below(Self.colors.count)
        await record("fetch") { call in call.read(try query(color).fetch(), color) }
    }

    private mutating func fetchFirst() async {
        await record("first") { call in
            guard let first = try items.order(by: \.color).first() else {
                for color in Self.colors { call.read([], color) }
                return
            }
            call.readFirst(first)
        }
    }

    private mutating func lookAtView() async {
        let (color, other) = (random.below(Self.colors.count), random.below(Self.colors.count))
        await record("view") { call in
            let view = try items.dictionary.workspace.readView()
            defer { view.close() }
            call.read(try view.fetch(query(color)), color)
            await Task.yield()
            let found = try view.fetch(query(other))
            call.read(found, other)
            if try view.distinct(\.color, in: items.all).contains(other) == found.isEmpty {
                call.contradiction = "the colors of a view are not those of its objects"
            }
            call.read(try view.find(0, in: items), id: 0)
        }
    }

    private func reindex() async { await record("reindex") { _ in try await items.reindex() } }

    /// What is there now, as a call of its own.
    func finalState() throws -> RecordedCall {
        var call = log.begin("final state")
        for color in Self.colors { call.read(try query(color).fetch(), color) }
        call.returned = log.tick()
        call.outcome = .committed
        return call
    }
}

extension RecordedCall {
    private static func key(_ id: Int, _ color: Int) -> String { "\(id)@\(color)" }

    mutating func write(_ item: HistoryItem) {
        for color in ObjectHistoryCaller.colors {
            writes[Self.key(item.id, color)] = color == item.color
        }
    }

    mutating func remove(_ id: Int) {
        for color in ObjectHistoryCaller.colors { writes[Self.key(id, color)] = false }
    }

    /// A query for a color gave these.
    mutating func read(_ found: [HistoryItem], _ color: Int) {
        for id in ObjectHistoryCaller.identifiers {
            let match = found.first { $0.id == id }
            note(Self.key(id, color), match.map { .written(by: $0.call) } ?? .absent)
        }
        if found.contains(where: { $0.color != color }) { contradiction = "no match: \(found)" }
    }

    /// The object of an identifier was this.
    mutating func read(_ item: HistoryItem?, id: Int) {
        for color in ObjectHistoryCaller.colors {
            let isOf = item?.color == color
            note(Self.key(id, color), isOf ? .written(by: item?.call ?? 0) : .absent)
        }
    }

    /// The first by color, and then by identifier.
    mutating func readFirst(_ item: HistoryItem) {
        for color in 0...item.color {
            for id in ObjectHistoryCaller.identifiers
            where color < item.color || id < item.id {
                note(Self.key(id, color), .absent)
            }
        }
        note(Self.key(item.id, item.color), .written(by: item.call))
    }
}
