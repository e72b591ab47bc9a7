import Foundation
import Roost
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// How often ranges were counted, and how often by sums.
private struct Told {
    var bySums = 0
    var counted = 0
    var all = 0
}

extension EngineView {
    /// Counts a range in each way that there is, and expects the same of all.
    fileprivate func expectEqualCounts(
        _ range: RecordRange, _ told: inout Told, _ comment: @autoclosure () -> Comment
    ) throws {
        let scan = try scan(range)
        var expected = 0
        while scan.recordKey != nil {
            expected += 1
            try scan.moveToNext()
        }
        told.all += 1
        let orders = keyOrders
        if cold.tiers.isEmpty, orders.count == 1,
            let sum = try orders[0].countChange(in: range, self)
        {
            #expect(sum == expected, comment())
        }
        if try orders.contains(where: { try $0.countChange(in: range, self) != nil }) {
            told.bySums += 1
        }
        guard let count = try count(in: range) else { return }
        told.counted += 1
        #expect(count == expected, comment())
    }
}

private func randomRange(
    _ random: inout SeededGenerator, of name: String, keyCount: Int
) throws -> RecordRange {
    let bounds = [random.below(keyCount), random.below(keyCount)].sorted()
    return RecordRange(
        try #require(DictionaryName(name)),
        lower: random.once(in: 3) ? [] : Array("k\(bounds[0])".utf8),
        upper: random.once(in: 3) ? nil : Array("k\(bounds[1])".utf8))
}

/// The sums that a count of a range takes are those of a scan, whatever was written since they were made.
@Suite(.timeLimit(.minutes(10))) struct RangeSumTests {
    @Test(arguments: 0..<runCount(3, whole: 6))
    func sumsAreThoseOfScans(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: [1, 4, 16][round % 3], memoryBudgetBytes: 0))
        let keyCount = [30, 600, 3000][round % 3]
        let hasFlushes = (round + round / 3) % 2 == 1
        let names = ["d", "dd"]
        var views: [EngineView] = []
        var told = Told()
        for step in 0..<runCount(80, whole: 150) {
            let dictionary = workspace.dictionary(names[random.below(2)])
            switch random.below(12) {
            case 0..<4:
                let count = 1 + random.below(random.once(in: 6) ? 600 : 40)
                try await dictionary.setAll(
                    (0..<count).map { _ in ("k\(random.below(keyCount))", random.below(9)) })
            case 4..<9:
                for _ in 0..<random.below(30) {
                    try await dictionary.removeValue(forKey: "k\(random.below(keyCount))")
                }
            case 9 where hasFlushes && random.once(in: 3): try await workspace.engine.flush()
            case 9 where hasFlushes && random.once(in: 2): try await workspace.compact()
            case 10 where random.once(in: 8): try await dictionary.removeAll()
            case 11 where random.once(in: 20) && step > 100:
                try await workspace.dictionary("dd").set(
                    1, forKey: "k\(random.below(keyCount))",
                    expiresIn: random.once(in: 2) ? .zero : .seconds(600))
            default: views.append(try workspace.engine.view())
            }
            if views.count > 3 { views.remove(at: random.below(3)).close() }
            for view in views + [try workspace.engine.view()] {
                for _ in 0..<3 {
                    let range = try randomRange(
                        &random, of: names[random.below(2)], keyCount: keyCount)
                    try view.expectEqualCounts(range, &told, "seed \(seed), step \(step)")
                }
            }
        }
        print("counted: \(told.counted) of \(told.all), by sums \(told.bySums), seed \(seed)")
        #expect(told.bySums > 30, "\(told)")
    }

    /// What is written between a view's begin and its count is not in the count.
    @Test(arguments: 0..<2) func sumsHoldBesideWriters(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: [1, 16][round % 2], memoryBudgetBytes: 0))
        let keyCount = 2000
        let dictionary = workspace.dictionary("d")
        try await dictionary.setAll((0..<keyCount).map { ("k\($0)", $0) })
        let told = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<2 {
                group.addTask {
                    var random = SeededGenerator(seed: seed &+ UInt64(100 + writer))
                    while !Task.isCancelled {
                        let key = "k\(random.below(keyCount))"
                        if random.once(in: 2) {
                            try await dictionary.removeValue(forKey: key)
                        } else {
                            try await dictionary.set(1, forKey: key)
                        }
                        // A write that waits for nothing gives its thread to nobody.
                        await Task.yield()
                        if random.once(in: 500), round > 1 { try await workspace.engine.flush() }
                    }
                }
            }
            var random = SeededGenerator(seed: seed)
            var told = Told()
            for step in 0..<400 {
                let view = try workspace.engine.view()
                defer { view.close() }
                if random.once(in: 3) { await Task.yield() }
                let range = try randomRange(&random, of: "d", keyCount: keyCount)
                try view.expectEqualCounts(range, &told, "seed \(seed), step \(step)")
            }
            group.cancelAll()
            return told
        }
        print("beside writers: \(told), seed \(seed)")
        #expect(told.bySums > 20, "\(told)")
    }

    /// A transaction counts what it has changed itself.
    @Test(arguments: 0..<3) func transactionsCountTheirOwnChanges(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 4, memoryBudgetBytes: 0))
        let keyCount = 300
        let dictionary = workspace.dictionary("d")
        let name = try #require(DictionaryName("d"))
        var counted = 0
        for step in 0..<60 {
            try await dictionary.setAll(
                (0..<random.below(30)).map { _ in ("k\(random.below(keyCount))", 1) })
            for _ in 0..<random.below(20) {
                try await dictionary.removeValue(forKey: "k\(random.below(keyCount))")
            }
            if round > 2, random.once(in: 8) { try await workspace.compact() }
            var transaction = EngineTransaction(workspace.engine)
            defer { transaction.close() }
            for _ in 0..<random.below(20) {
                if random.once(in: 2) {
                    try transaction.remove("k\(random.below(keyCount))", in: name)
                } else {
                    try transaction.put(
                        .init(kind: 1, payload: .bytes([1])), forKey: "k\(random.below(keyCount))",
                        in: name)
                }
                if random.once(in: 60) { try transaction.clear(name) }
                let range = try randomRange(&random, of: "d", keyCount: keyCount)
                var expected = 0
                try transaction.scan(range, .ascending, limit: .max) { _, _ in
                    expected += 1
                    return true
                }
                guard let count = try transaction.count(in: range) else { continue }
                counted += 1
                #expect(count == expected, "seed \(seed), step \(step)")
            }
        }
        #expect(counted > 100, "\(counted), seed \(seed)")
    }

    /// Somebody who adds to what a transaction has counted makes it begin anew.
    @Test func aCountInATransactionIsReadSet() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        let dictionary = workspace.dictionary("d")
        try await dictionary.setAll((0..<200).map { ("k\($0)", $0) })
        let name = try #require(DictionaryName("d"))
        for _ in 0..<4 { _ = try workspace.engine.view().count(in: RecordRange(name)) }
        var transaction = EngineTransaction(workspace.engine)
        defer { transaction.close() }
        #expect(try transaction.count(in: RecordRange(name)) == 200)
        #expect(transaction.reads?.ranges == [RecordRange(name)])
    }

    @Test func sumsOfARunAreThoseOfItsKeys() {
        var random = SeededGenerator(seed: testSeed())
        for count in [1, 63, 64, 65, 128, 1000] {
            let run = OrderedRun(
                shared: [], words: (0..<count).map { UInt64($0) },
                locations: Array(repeating: 0, count: count))
            func randomKey() -> CountedKey { CountedKey(rawValue: UInt8(random.below(8))) }
            var keys = (0..<count).map { _ in randomKey() }
            var counted = CountedRun(run, keys)
            for _ in 0..<200 {
                let (place, key) = (random.below(count), randomKey())
                keys[place] = key
                counted.set(key, at: place)
                let end = random.below(count + 1)
                #expect(counted.change(before: end) == keys[..<end].reduce(0) { $0 + $1.change })
            }
        }
    }
}
