import Roost
import RoostTestSupport
import Synchronization
import Testing

/// Scans keep the log's keys in order from one to the next. Whatever was written between two, and
/// whatever became of the log, each gives what a sorted dictionary would.
@Suite struct OrderedScanTests {
    /// What is in a workspace's dictionaries, and the same in the workspace.
    private struct Content {
        let dictionaries: [WorkspaceDictionary]
        var values: [[String: Int]]
        var random: SeededGenerator
        var last = 0

        mutating func newKey() -> String {
            let number = random.below(12_000)
            switch random.below(8) {
            case 0: return "\(number)"
            case 1: return "user\u{ff}\(number)"
            case 2: return String(repeating: "k", count: random.below(20))
            default: return "user-\(1_000_000 + number)"
            }
        }

        /// Sets or removes some keys, in one batch or one by one.
        mutating func write(_ count: Int, in workspace: Workspace) async throws {
            let index = random.below(dictionaries.count)
            let users = dictionaries[index]
            var pairs: [(String, Int)] = []
            for _ in 0..<count {
                last += 1
                pairs.append((newKey(), last))
            }
            for (key, value) in pairs { values[index][key] = value }
            if pairs.count > 1_000 || random.once(in: 2) {
                try await users.setAll(pairs)
            } else {
                for (key, value) in pairs {
                    if random.once(in: 6) {
                        users.enqueue(value, forKey: key)
                    } else {
                        try await users.set(value, forKey: key)
                    }
                }
            }
            if random.once(in: 3), let (removed, _) = pairs.randomElement(using: &random) {
                try await users.removeValue(forKey: removed)
                values[index][removed] = nil
            }
        }

        /// None of the keys has another form that Swift takes for the same, so its order is that of
        /// their bytes.
        func sorted(_ index: Int) -> [(key: String, value: Int)] {
            values[index].sorted { $0.key < $1.key }
        }
    }

    private static func check(
        _ found: [(key: String, value: Int)],
        _ expected: some Collection<(key: String, value: Int)>,
        _ comment: Comment
    ) {
        #expect(found.elementsEqual(expected, by: ==), comment)
    }

    @Test(arguments: 0..<3)
    func aScanBetweenWritesGivesWhatASortedDictionaryWould(round: Int) async throws {
        let seed = testSeed() &+ UInt64(round)
        var random = SeededGenerator(seed: seed)
        let workspace = try await Workspace.inMemory(
            configuration: .init(shardCount: 1 << random.below(3)))
        var content = Content(
            dictionaries: ["users", "user"].map { workspace.dictionary($0) }, values: [[:], [:]],
            random: random)
        var views: [(view: ReadView, content: Content)] = []
        for step in 0..<40 {
            let counts = [1, 3, 40, 700, 6_000]
            try await content.write(counts[min(random.below(5), random.below(5))], in: workspace)
            if random.once(in: 25) { try await workspace.compact() }
            if random.once(in: 10) { views.append((try workspace.readView(), content)) }
            if random.once(in: 20) { views.popLast()?.view.close() }
            let index = random.below(2)
            let comment: Comment = "seed \(seed) step \(step)"
            let users = content.dictionaries[index]
            let begin = content.newKey()
            let limit = random.once(in: 8) ? 100_000 : random.below(60)
            let sorted = content.sorted(index)
            let split = sorted.firstIndex { $0.key >= begin } ?? sorted.endIndex
            let ahead = try await users.entries(in: begin..., as: Int.self, limit: limit).first(
                .max)
            Self.check(ahead, sorted[split...].prefix(limit), comment)
            let back = try await users.entries(
                in: ..<begin, as: Int.self, limit: limit, order: .descending
            ).first(.max)
            Self.check(back, sorted[..<split].reversed().prefix(limit), comment)
            if let (view, old) = views.randomElement(using: &random) {
                let entries = try view.entries(of: users, as: Int.self, limit: limit)
                Self.check(
                    try await entries.first(.max), old.sorted(index).prefix(limit), comment)
            }
        }
        for (view, _) in views { view.close() }
        try await workspace.close()
    }

    @Test func aScanThatHasBegunGoesOnWhenItsViewIsClosed() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        let keys = (0..<5_000).map { "\(10_000 + $0)" }
        try await numbers.setAll(keys.map { ($0, 1) })
        let view = try workspace.readView()
        var iterator = try view.entries(of: numbers, as: Int.self).makeAsyncIterator()
        var found = [try #require(try await iterator.next())]
        view.close()
        try await numbers.setAll(keys.map { ($0, 2) })
        try await numbers.removeAll()
        try await workspace.compact()
        #expect(workspace.statistics.liveReadViewCount == 1)
        while let entry = try await iterator.next() { found.append(entry) }
        #expect(found.map(\.key) == keys)
        #expect(found.allSatisfy { $0.value == 1 })
        #expect(workspace.statistics.liveReadViewCount == 0)
        try await workspace.close()
    }

    @Test func scansAndWritersAtOnceSeeEachBatchWhole() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        let pairs = workspace.dictionary("pairs")
        @Sendable func set(_ round: Int) async throws {
            try await pairs.setAll((0..<20).map { ("\(round * 20 + $0)", round) })
            try await pairs.setAll((0..<20).map { ("fixed\($0)", round) })
        }
        try await set(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for round in 1...150 { try await set(round) } }
            group.addTask { for _ in 0..<4 { try await workspace.compact() } }
            for order in [ScanOrder.ascending, .descending, .ascending] {
                group.addTask {
                    for _ in 0..<25 {
                        let rounds = try await pairs.entries(
                            prefix: "fixed", as: Int.self, order: order
                        ).first(.max).map(\.value)
                        #expect(rounds.count == 20 && Set(rounds).count == 1)
                        let all = try await pairs.keys(prefix: "", order: order).first(.max)
                        #expect(all.count % 20 == 0 && Set(all).count == all.count)
                        #expect(
                            all
                                == all.sorted { left, right in
                                    order == .ascending ? left < right : left > right
                                })
                    }
                }
            }
            try await group.waitForAll()
        }
        try await workspace.close()
    }

    /// The first scan of a dictionary collects its keys from tables that are written to meanwhile.
    @Test func aDictionarysFirstScanShowsNoKeyThatCameBehindItsView() async throws {
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 4))
        for round in 0..<8 {
            let numbers = workspace.dictionary("numbers\(round)")
            try await numbers.setAll((0..<2_000).map { ("key\($0)", 0) })
            let isDone = Atomic(false)
            // Also where something throws.
            defer { isDone.store(true, ordering: .relaxed) }
            async let writing: Void = {
                var last = 0
                while !isDone.load(ordering: .relaxed) {
                    last += 1
                    try await numbers.set(last, forKey: "new\(last)")
                    await Task.yield()
                }
            }()
            while try !numbers.contains("new1") { await Task.yield() }
            let view = try workspace.readView()
            let found = try await view.entries(of: numbers, as: Int.self).first(.max)
            isDone.store(true, ordering: .relaxed)
            for (key, value) in found {
                #expect(try view.value(forKey: key, as: Int.self, in: numbers) == value)
            }
            #expect(try view.count(of: numbers) == found.count)
            view.close()
            try await writing
        }
        try await workspace.close()
    }
}
