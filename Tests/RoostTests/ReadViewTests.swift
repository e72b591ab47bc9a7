import Roost
import RoostTestSupport
import Testing

/// A read view is one moment of the whole workspace, whatever happens to it meanwhile.
@Suite struct ReadViewTests {
    @Test func aViewSeesItsMomentThroughWritesFlushesAndMerges() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: path)
            let users = workspace.dictionary("users")
            for number in 0..<50 { try await users.set(number, forKey: "u\(number)") }
            try await workspace.compact()
            for number in 25..<75 { try await users.set(number + 1000, forKey: "u\(number)") }
            try await users.removeValue(forKey: "u0")
            let view = try workspace.readView()
            let expected = (1..<25).map { ("u\($0)", $0) } + (25..<75).map { ("u\($0)", $0 + 1000) }
            func check(_ comment: Comment) throws {
                for (key, value) in expected {
                    #expect(try view.value(forKey: key, in: users) == value, comment)
                }
                #expect(try !view.contains("u0", in: users), comment)
                #expect(try !view.contains("new", in: users), comment)
                #expect(try view.count(of: users) == expected.count, comment)
                #expect(try view.keys(of: users) == expected.map(\.0).sorted(), comment)
            }
            try check("at once")
            for number in 0..<100 { try await users.set(-1, forKey: "u\(number)") }
            try await users.set(1, forKey: "new")
            try check("after overwriting")
            try await workspace.compact()
            try check("after a flush")
            for number in 0..<100 { try await users.removeValue(forKey: "u\(number)") }
            try await workspace.compact()
            try check("after a merge")
            try await users.removeAll()
            try await workspace.compact()
            try check("after removing all")
            view.close()
            #expect(throws: RoostError.self) {
                try view.value(forKey: "u1", as: Int.self, in: users)
            }
            #expect(try users.count == 0)
            try await workspace.close()
        }
    }

    @Test func aViewHoldsABatchWholeOrNotAtAll() async throws {
        let workspace = try await Workspace.inMemory()
        let pairs = workspace.dictionary("pairs")
        func set(_ number: Int) async throws {
            try await workspace.write(durability: number % 3 == 0 ? .synced : .process) { batch in
                for key in 0..<10 { batch.set(number, forKey: "k\(key)", in: pairs) }
            }
        }
        try await set(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for number in 1...300 { try await set(number) } }
            group.addTask { for _ in 0..<5 { try await workspace.compact() } }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<300 {
                        let values = try workspace.read { view in
                            try (0..<10).map {
                                try view.value(forKey: "k\($0)", as: Int.self, in: pairs)
                            }
                        }
                        #expect(Set(values).count == 1, "\(values)")
                        await Task.yield()
                    }
                }
            }
            try await group.waitForAll()
        }
        try await workspace.close()
    }

    @Test func statisticsShowAViewThatWasForgotten() async throws {
        let workspace = try await Workspace.inMemory()
        #expect(workspace.statistics.liveReadViewCount == 0)
        var view: ReadView? = try workspace.readView()
        let other = try workspace.readView()
        try await Task.sleep(for: .milliseconds(5))
        #expect(workspace.statistics.liveReadViewCount == 2)
        #expect(try #require(workspace.statistics.oldestReadViewAge) >= .milliseconds(5))
        #expect(view != nil)
        view = nil
        #expect(workspace.statistics.liveReadViewCount == 1)
        other.close()
        other.close()
        #expect(workspace.statistics.liveReadViewCount == 0)
        #expect(workspace.statistics.oldestReadViewAge == nil)
        try await workspace.close()
    }

    /// Views that begin and end in any order, each compared with what the workspace held when it
    /// began.
    @Test(arguments: 0..<4)
    func viewsOfDifferentMomentsDoNotDisturbEachOther(round: Int) async throws {
        var random = SeededGenerator(seed: testSeed() &+ UInt64(round))
        let workspace = try await Workspace.inMemory(configuration: .init(shardCount: 2))
        let dictionary = workspace.dictionary("d")
        var content: [String: Int] = [:]
        var views: [(view: ReadView, content: [String: Int])] = []
        for step in 0..<400 {
            let key = "\(random.below(30))"
            switch random.below(20) {
            case 0..<9:
                try await dictionary.set(step, forKey: key)
                content[key] = step
            case 9..<12:
                try await dictionary.removeValue(forKey: key)
                content[key] = nil
            case 12:
                try await dictionary.removeAll()
                content.removeAll()
            case 13: try await workspace.compact()
            case 14, 15: views.append((try workspace.readView(), content))
            case 16 where !views.isEmpty: views.remove(at: random.below(views.count)).view.close()
            default:
                guard let (view, content) = views.randomElement(using: &random) else { continue }
                for key in (0..<30).map(String.init) {
                    let value = try view.value(forKey: key, as: Int.self, in: dictionary)
                    #expect(value == content[key], "step \(step)")
                }
                #expect(try view.keys(of: dictionary) == content.keys.sorted(), "step \(step)")
                #expect(try view.count(of: dictionary) == content.count, "step \(step)")
            }
        }
        try await workspace.close()
    }
}
