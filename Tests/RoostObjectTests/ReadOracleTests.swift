import Foundation
import RoostTestSupport
import Testing

@testable import Roost

private typealias WholeSample = Sample<WholeForm>

/// Reads that are observed, beside the same reads made anew after each of some hundred random changes: where these give
/// something else, the observed one is due; `ROOST_READ_CHANGES` for more.
@Suite(.timeLimit(.minutes(60))) struct ReadOracleTests {
    private static var changeCount: Int {
        ProcessInfo.processInfo.environment["ROOST_READ_CHANGES"].flatMap { Int($0) } ?? 200
    }

    @Test func aReadThatWouldGiveSomethingElseIsDue() async throws {
        var random = SeededGenerator(seed: testSeed())
        var remaining = Self.changeCount
        var figures = Figures()
        while remaining > 0 {
            let count = min(remaining, 100)
            try await runWorkspace(count, SeededGenerator(seed: random.next()), &figures)
            remaining -= count
        }
        print("reads that changed: \(figures.changed), due in vain: \(figures.dueInVain)")
        #expect(figures.changed > 0)
    }

    struct Figures {
        var changed = 0
        var dueInVain = 0
    }

    private func runWorkspace(
        _ count: Int, _ generator: SeededGenerator, _ figures: inout Figures
    ) async throws {
        var random = generator
        let declared = WholeSample.all.map(\.name).filter {
            $0 != WholeSample.uniqueName && random.once(in: 2)
        }
        // Indexes are built in the background, which may make a read due at any time.
        let isBuilding = !random.once(in: 3)
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 4, clock: .settable(time)))
        let samples = DeclaredIndexes.$names.withValue(isBuilding ? Set(declared) : []) {
            workspace.samples(WholeForm.self)
        }
        for id in 0..<random.below(120) { try await samples.save(random.sample(id: id)) }
        try await samples.indexesBuilt()
        let notes = workspace.dictionary("notes")
        for number in 0..<20 { try await notes.set("\(number)", forKey: "k\(number)") }
        var observed: [ObservedRead] = []
        for _ in 0..<12 { observed.append(ObservedRead(samples, notes, &random)) }
        for _ in 0..<count {
            try await change(samples, notes, time, &random)
            if random.once(in: 12) {
                observed[random.below(observed.count)] = ObservedRead(samples, notes, &random)
            }
            for index in observed.indices {
                try observed[index].check(workspace, isBuilding: isBuilding, &figures)
            }
        }
        try await workspace.close()
        for read in observed { #expect(read.observation.isEnded) }
    }

    private func change(
        _ samples: Repository<WholeSample>, _ notes: WorkspaceDictionary, _ time: SettableTime,
        _ random: inout SeededGenerator
    ) async throws {
        let id = random.below(120)
        let key = "k\(random.below(30))"
        switch random.below(40) {
        case 0: try await samples.dictionary.removeAll()
        case 1: try await notes.removeAll()
        case 2: try await samples.dictionary.workspace.compact()
        case 3:
            let sample: WholeSample = random.sample(id: id)
            try await samples.dictionary.set(sample, forKey: samples.key(of: id))
        case 4: try await samples.dictionary.removeValue(forKey: samples.key(of: id))
        case 5: time.advance(by: .seconds(random.below(30)))
        case 6: try await samples.save(random.sample(id: id), expiresIn: .seconds(20))
        case 7: try await notes.set("soon", forKey: key, expiresIn: .seconds(20))
        case 8: try await samples.indexesBuilt()
        case 9: _ = try await samples.where { $0.color == .red }.updateAll { $0.number = 3 }
        case 10..<16: try await notes.set("\(random.below(9))", forKey: key)
        case 16..<18: try await notes.removeValue(forKey: key)
        case 18..<24: try await samples.delete(id)
        case 24..<30: _ = try await samples.update(id) { $0.isDone.toggle() }
        default: try await samples.save(random.sample(id: id))
        }
    }
}

/// A read, and what it gave the last time.
private struct ObservedRead {
    let name: String
    let read: @Sendable (ReadView) throws -> String
    let observation: ReadObservation
    private var last: String?

    init(
        _ samples: Repository<WholeSample>, _ notes: WorkspaceDictionary,
        _ random: inout SeededGenerator
    ) {
        let one = Self.made(samples, notes, &random)
        // Some are of two.
        let other = random.once(in: 4) ? Self.made(samples, notes, &random) : nil
        name = one.name + (other.map { " and " + $0.name } ?? "")
        read = { view in
            try one.read(view) + (try other.map { try $0.read(view) } ?? "")
        }
        observation = ReadObservation(notes.workspace) {}
    }

    mutating func check(
        _ workspace: Workspace, isBuilding: Bool, _ figures: inout ReadOracleTests.Figures
    ) throws {
        let fresh = Result { try workspace.read { try read($0) } }
        let expected = Self.told(fresh)
        if last != nil, !observation.isDue {
            #expect(last == expected, "\(name)")
            return
        }
        let seen = Self.told(observation.read { try read($0) }.result)
        #expect(seen == expected, "\(name)")
        if last != nil, last == seen { figures.dueInVain += 1 } else { figures.changed += 1 }
        last = seen
        #expect(isBuilding || !observation.isDue, "\(name)")
    }

    private static func told(_ result: Result<String, any Error>) -> String {
        switch result {
        case .success(let text): text
        // Which index is used does not say what is wrong, nor where.
        case .failure(let error): "\((error as? RoostError)?.code as Any)"
        }
    }

    private typealias Made = (name: String, read: @Sendable (ReadView) throws -> String)

    private static func made(
        _ samples: Repository<WholeSample>, _ notes: WorkspaceDictionary,
        _ random: inout SeededGenerator
    ) -> Made {
        let condition: PairedCondition<WholeForm> = random.condition(depth: 2)
        var query = samples.where(condition.condition)
        if random.once(in: 2) { query = random.order().apply(query) }
        if random.once(in: 3) { query = query.limit(random.below(6)) }
        if random.once(in: 5) { query = query.offset(random.below(6)) }
        return random.once(in: 2)
            ? ofObjects(query, samples, random.below(120), random.below(13))
            : ofKeys(notes, random.below(30), random.below(10))
    }

    private static func ofObjects(
        _ query: Query<WholeSample>, _ samples: Repository<WholeSample>, _ id: Int, _ kind: Int
    ) -> Made {
        switch kind {
        case 0: ("count", { "\(try $0.count(of: query))" })
        case 1: ("fetch", { "\(try $0.fetch(query).map(\.id))" })
        case 2: ("first", { "\(String(describing: try $0.first(query)?.id))" })
        case 3: ("isEmpty", { "\(try $0.isEmpty(query))" })
        case 4: ("max", { "\(String(describing: try $0.max(of: \.quota, in: query)))" })
        case 5: ("min", { "\(String(describing: try $0.min(of: \.number, in: query)))" })
        case 6:
            (
                "groups",
                { view in
                    let counts = try view.counts(of: query.grouped(by: \.color))
                    return "\(counts.sorted { $0.key.rawValue < $1.key.rawValue })"
                }
            )
        case 7: ("distinct", { "\(try $0.distinct(\.number, in: query))" })
        case 8: ("all", { "\(try $0.count(of: samples))" })
        case 10: ("values", { "\(try $0.values(of: \.number, in: query))" })
        case 11: ("average", { "\(String(describing: try $0.average(of: \.quota, in: query)))" })
        case 9: ("find", { "\(String(describing: try $0.find(id, in: samples)?.number))" })
        default: ("page", { "\(try $0.page(of: query, after: nil, limit: 4).items.map(\.id))" })
        }
    }

    private static func ofKeys(
        _ notes: WorkspaceDictionary, _ number: Int, _ kind: Int
    ) -> Made {
        let key = "k\(number)"
        switch kind {
        case 0:
            return (
                "value",
                { "\(String(describing: try $0.value(forKey: key, as: String.self, in: notes)))" }
            )
        case 1: return ("contains", { "\(try $0.contains(key, in: notes))" })
        case 2: return ("count of keys", { "\(try $0.count(of: notes))" })
        case 3: return ("keys", { "\(try $0.keys(of: notes, prefix: "k1"))" })
        case 4:
            return (
                "last keys", { "\(try $0.keys(of: notes, limit: 3, order: .descending))" }
            )
        case 5:
            return (
                "range", { "\(try $0.keys(of: notes, in: key..<"k9", limit: number % 4))" }
            )
        case 6:
            return (
                "bytes",
                { view in
                    var sum = 0
                    let order: ScanOrder = number % 2 == 0 ? .ascending : .descending
                    try view.forEachBytes(
                        of: notes, prefix: "k", limit: 1 + number % 5, order: order
                    ) {
                        sum = sum * 31 + $0.byteCount * 7 + Int($1.unsafeLoad(as: UInt8.self))
                    }
                    return "\(sum)"
                }
            )
        case 7:
            return (
                "page of keys",
                { "\(try $0.page(of: notes, after: key, as: String.self, limit: 3))" }
            )
        case 8:
            return (
                "until one is found",
                { view in
                    struct Found: Error {}
                    var seen: [String] = []
                    do {
                        try view.forEachEntry(of: notes, as: String.self) { key, value in
                            seen.append(key)
                            if value == "3" { throw Found() }
                        }
                    } catch is Found {}
                    return "\(seen)"
                }
            )
        default:
            // What it looks at next depends on what it finds.
            return (
                "a way",
                { view in
                    var key = key
                    var seen: [String] = []
                    while seen.count < 4,
                        let next = try view.value(forKey: key, as: String.self, in: notes)
                    {
                        seen.append(next)
                        key = "k\(next)"
                    }
                    return "\(seen)"
                }
            )
        }
    }
}
