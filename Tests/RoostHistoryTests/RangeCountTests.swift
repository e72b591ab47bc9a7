import Foundation
import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

/// A count of a range without a scan is that of a scan: through flushes, merges, clears, deadlines, in views of
/// earlier moments, while tables hold keys that were overwritten and removed.
@Suite(.timeLimit(.minutes(10))) struct RangeCountTests {
    @Test(arguments: 0..<6) func countsAreThoseOfScans(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: [1, 4, 16][round % 3], memoryBudgetBytes: 0))
        let names = ["d", "dd"]
        let keyCount = [40, 900][round % 2]
        var views: [EngineView] = []
        var told = 0
        var untold = 0
        for step in 0..<160 {
            let dictionary = workspace.dictionary(names[random.below(2)])
            switch random.below(12) {
            case 0..<5:
                let count = 1 + random.below(60)
                try await dictionary.setAll(
                    (0..<count).map { _ in ("k\(random.below(keyCount))", random.below(9)) })
            case 5..<8:
                for _ in 0..<random.below(20) {
                    try await dictionary.removeValue(forKey: "k\(random.below(keyCount))")
                }
            case 8:
                // One of them alone: where a deadline is among what was flushed, only a scan tells.
                try await workspace.dictionary("dd").set(
                    1, forKey: "k\(random.below(keyCount))",
                    expiresIn: random.once(in: 2) ? .zero : .seconds(600))
            case 9 where random.once(in: 4): try await dictionary.removeAll()
            case 10 where random.once(in: 3): try await workspace.engine.flush()
            case 10 where random.once(in: 3): try await workspace.compact()
            default: views.append(try workspace.engine.view())
            }
            if views.count > 3 { views.remove(at: random.below(3)).close() }
            for view in views + [try workspace.engine.view()] where step % 3 == 0 {
                for _ in 0..<4 {
                    let bounds = [random.below(keyCount), random.below(keyCount)].sorted()
                    let range = RecordRange(
                        try #require(DictionaryName(names[random.below(2)])),
                        lower: random.once(in: 4) ? [] : Array("k\(bounds[0])".utf8),
                        upper: random.once(in: 4) ? nil : Array("k\(bounds[1])".utf8))
                    let scan = try view.scan(range)
                    var expected = 0
                    while scan.recordKey != nil {
                        expected += 1
                        try scan.moveToNext()
                    }
                    guard let count = try view.count(in: range) else {
                        untold += 1
                        continue
                    }
                    told += 1
                    #expect(count == expected, "seed \(seed), step \(step)")
                }
            }
        }
        print("ranges counted: \(told), left to a scan: \(untold), seed \(seed)")
        #expect(told > 20, "\(told) counted, \(untold) left to a scan")
    }
}
