import Roost
import RoostTestSupport
import Testing

/// `count` is exact whatever the keys lie in, and reads no records of what was compacted.
@Suite struct CountTests {
    @Test(arguments: 0..<4)
    func theCountIsThatOfTheKeys(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { path in
            // So little that flushes come by themselves, and leave several snapshots a shard.
            let configuration = Workspace.Configuration(shardCount: 2, memoryBudgetBytes: 0)
            var workspace = try await Workspace.open(at: path, configuration: configuration)
            var content: [Set<String>] = [[], []]
            for step in 0..<250 {
                let which = random.below(2)
                let dictionary = workspace.dictionary(which == 0 ? "a" : "ab")
                switch random.below(30) {
                case 0:
                    try await dictionary.removeAll()
                    content[which] = []
                case 1: try await workspace.compact()
                case 2:
                    try await workspace.close()
                    workspace = try await Workspace.open(at: path, configuration: configuration)
                case 3..<10:
                    let key = "\(random.below(40))"
                    try await dictionary.removeValue(forKey: key)
                    content[which].remove(key)
                default:
                    let keys = (0..<random.below(6)).map { _ in "\(random.below(40))" }
                    let value = [UInt8](repeating: UInt8(step % 250), count: 40_000)
                    try await dictionary.setAll(keys.map { ($0, value) })
                    content[which].formUnion(keys)
                }
                for (name, keys) in zip(["a", "ab"], content) {
                    let dictionary = workspace.dictionary(name)
                    #expect(try dictionary.count == keys.count, "seed \(seed) step \(step)")
                    #expect(try dictionary.keys == keys.sorted(), "seed \(seed) step \(step)")
                }
            }
            let report = try await workspace.verify()
            #expect(report.isSound, "\(report.damages)")
            try await workspace.close()
        }
    }

    @Test func enqueuedWritesCountAtOnce() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        try await numbers.setAll((0..<10).map { ("\($0)", $0) })
        try await workspace.compact()
        try await numbers.set(1, forKey: "in the log")
        for number in 5..<15 { try numbers.enqueue(number, forKey: "\(number)").get() }
        #expect(try numbers.count == 16)
        #expect(try numbers.keys.count == 16)
        try await workspace.synchronize()
        #expect(try numbers.count == 16)
        try await workspace.close()
    }
}
