import Roost
import RoostTestSupport
import Testing

/// Ordered scans: prefixes and ranges, both ways, limits, over all that a key can lie in.
@Suite struct ScanTests {
    @Test(arguments: 0..<4)
    func aScanGivesWhatASortedDictionaryWould(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 1 << random.below(4)))
        let users = workspace.dictionary("users")
        var content: [String: Int] = [:]
        try await workspace.dictionary("user").set(0, forKey: "z")
        try await workspace.dictionary("userz").set(0, forKey: "a")
        for step in 0..<600 {
            let key = Self.key(&random)
            if random.once(in: 5) {
                try await users.removeValue(forKey: key)
                content[key] = nil
            } else {
                try await users.set(step, forKey: key)
                content[key] = step
            }
            if random.once(in: 150) { try await workspace.compact() }
            guard random.once(in: 12) else { continue }
            let sorted = content.sorted {
                Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8))
            }
            let prefix = String(Self.key(&random).prefix(random.below(4)))
            let lower = Self.key(&random)
            let upper = Self.key(&random)
            let limit = random.once(in: 2) ? nil : random.below(20)
            for order in [ScanOrder.ascending, .descending] {
                let directed = order == .ascending ? sorted : sorted.reversed()
                let comment: Comment = "seed \(seed) step \(step) \(order) limit \(limit ?? -1)"
                var found: [String] = []
                for try await (key, value) in users.entries(
                    prefix: prefix, as: Int.self, limit: limit, order: order)
                {
                    #expect(content[key] == value, comment)
                    found.append(key)
                }
                let expected = directed.map(\.key).filter { $0.utf8.starts(with: prefix.utf8) }
                #expect(found == Array(expected.prefix(limit ?? .max)), comment)
                guard lower < upper else { continue }
                found = []
                for try await key in users.keys(in: lower..<upper, limit: limit, order: order) {
                    found.append(key)
                }
                let inRange = directed.map(\.key).filter {
                    Self.isLess($0, upper) && !Self.isLess($0, lower)
                }
                #expect(found == Array(inRange.prefix(limit ?? .max)), comment)
            }
        }
        try await workspace.close()
    }

    private static func key(_ random: inout SeededGenerator) -> String {
        let alphabet = ["a", "b", "\u{e9}", "\0", "zz", "longer-piece-of-a-key-"]
        return (0..<random.below(5)).map { _ in alphabet[random.below(6)] }.joined()
    }

    private static func isLess(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }

    @Test func everyKindOfRangeEndsWhereItSays() async throws {
        let workspace = try await Workspace.inMemory()
        let letters = workspace.dictionary("letters")
        try await letters.setAll(["a", "b", "ba", "c", "d"].map { ($0, 1) })
        for isCold in [false, true] {
            if isCold { try await workspace.compact() }
            func keys(_ sequence: KeySequence) async throws -> [String] {
                try await sequence.reduce(into: []) { $0.append($1) }
            }
            #expect(try await keys(letters.keys(in: "a"..<"c")) == ["a", "b", "ba"])
            #expect(try await keys(letters.keys(in: "b"..."c")) == ["b", "ba", "c"])
            #expect(try await keys(letters.keys(in: "c"...)) == ["c", "d"])
            #expect(try await keys(letters.keys(in: ..<"b")) == ["a"])
            #expect(try await keys(letters.keys(in: ..."b", order: .descending)) == ["b", "a"])
            #expect(try await keys(letters.keys(prefix: "b", limit: 1)) == ["b"])
            #expect(try await keys(letters.keys(prefix: "x")) == [])
            #expect(try await keys(letters.keys(prefix: "", limit: 0)) == [])
        }
        try await workspace.close()
    }

    @Test func aScanIsOfTheMomentAtWhichItBegan() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        try await numbers.setAll((0..<2_000).map { ("\(10_000 + $0)", $0) })
        var found: [Int] = []
        for try await (_, value) in numbers.entries(as: Int.self) {
            if found.isEmpty {
                try await numbers.setAll((0..<3_000).map { ("\(10_000 + $0)", -1) })
                try await workspace.compact()
                try await numbers.removeAll()
            }
            found.append(value)
        }
        #expect(found == Array(0..<2_000))
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
    }

    @Test func aScanThatIsLeftEarlyLetsGoOfItsView() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        try await numbers.setAll((0..<2_000).map { ("\($0)", $0) })
        func firstKey() async throws -> String? {
            for try await key in numbers.keys(prefix: "") { return key }
            return nil
        }
        #expect(try await firstKey() == "0")
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
        await #expect(throws: RoostError.self) { try await firstKey() }
    }

    @Test func aValueOfAnotherTypeEndsAScanWithItsError() async throws {
        let workspace = try await Workspace.inMemory()
        let mixed = workspace.dictionary("mixed")
        try await mixed.set(1, forKey: "a")
        try await mixed.set("two", forKey: "b")
        var iterator = mixed.entries(as: Int.self).makeAsyncIterator()
        #expect(try await iterator.next()?.value == 1)
        do {
            _ = try await iterator.next()
            Issue.record("a String was read as an Int")
        } catch let error as RoostError { #expect(error.code == .typeMismatch) }
        #expect(try await iterator.next() == nil)
        try await workspace.close()
    }
}
