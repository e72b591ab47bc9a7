import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@testable import RoostEngine

/// The shards' tables share one order of their keys. Whichever of them are frozen or were put back,
/// each view's scan gives what a sorted dictionary would.
@Suite struct KeyOrderTests {
    private struct Seen {
        let view: EngineView
        let values: [String: UInt64]
    }

    private struct Run {
        let engine: Engine
        let name = DictionaryName("d")!
        var random: SeededGenerator
        var values: [String: UInt64] = [:]
        var last: UInt64 = 0
        /// The flush that is under way: how many shards are frozen, and the order of the next tables.
        var frozenCount = 0
        var order = KeyOrder()
        var views: [Seen] = []

        mutating func key() -> String {
            let number = random.below(1_200)
            return random.once(in: 10) ? "\(number)" : "shared-by-nearly-all-\(number)"
        }

        mutating func write(_ count: Int) async throws {
            for _ in 0..<count {
                let key = key()
                last += 1
                let value: EncodedValue? =
                    random.once(in: 8)
                    ? nil : EncodedValue(kind: 7, payload: .inline(last, count: 8))
                _ = try await engine.write(value, key: key, name: name, durability: .process)
                values[key] = value.map { _ in last }
            }
        }

        /// What a flush does, a shard at a time.
        mutating func stepFlush() async throws {
            guard let log = engine.log else { return }
            if frozenCount == 0 { order = KeyOrder() }
            if frozenCount < engine.shards.count, !random.once(in: 6) {
                _ = await engine.shards[frozenCount].freeze(
                    through: log.lastSequence, next: order)
                frozenCount += 1
            } else if frozenCount > 0 {
                for shard in engine.shards { await shard.thaw() }
                frozenCount = 0
            } else {
                try await engine.compact()
            }
        }

        mutating func check(_ seen: Seen, _ comment: Comment) throws {
            let begin = key()
            let order: ScanOrder = random.once(in: 2) ? .ascending : .descending
            let limit = random.once(in: 4) ? Int.max : random.below(80)
            let range =
                order == .ascending
                ? RecordRange(name, lower: Array(begin.utf8), upper: nil)
                : RecordRange(name, lower: [], upper: Array(begin.utf8))
            let scan = try seen.view.scan(range, order, limit: limit)
            var found: [(String, UInt64)] = []
            while found.count < limit, let recordKey = scan.recordKey {
                let key = String(decoding: recordKey[name.prefix.count...], as: UTF8.self)
                found.append(
                    (key, try scan.value().loadUnaligned(fromByteOffset: 1, as: UInt64.self)))
                try scan.moveToNext()
            }
            let expected = seen.values
                .filter { order == .ascending ? $0.key >= begin : $0.key < begin }
                .sorted { order == .ascending ? $0.key < $1.key : $0.key > $1.key }
                .prefix(limit)
            #expect(found.elementsEqual(expected) { $0 == ($1.key, $1.value) }, comment)
        }
    }

    @Test(arguments: 0..<2)
    func aScanGivesWhatItsViewSawWhicheverTablesAreFrozenOrPutBack(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        var configuration = EngineConfiguration()
        configuration.shardCount = 1 << (1 + random.below(3))
        configuration.durability = .process
        let engine = try await Engine.open(
            at: "memory", fileSystem: MemoryFileSystem(), configuration: configuration)
        var run = Run(engine: engine, random: random)
        for step in 0..<90 {
            let comment: Comment = "seed \(seed) step \(step)"
            try await run.write([0, 1, 5, 40, 200][run.random.below(5)])
            if run.random.once(in: 2) { try await run.stepFlush() }
            if run.random.once(in: 4) {
                run.views.append(Seen(view: try engine.view(), values: run.values))
            }
            if run.views.count > 6 { run.views.remove(at: run.random.below(7)).view.close() }
            let now = Seen(view: try engine.view(), values: run.values)
            try run.check(now, comment)
            now.view.close()
            if let seen = run.views.randomElement(using: &run.random) {
                try run.check(seen, comment)
            }
        }
        for seen in run.views { seen.view.close() }
        for shard in engine.shards { await shard.thaw() }
        try await engine.close()
    }
}
