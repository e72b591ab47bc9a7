import Roost
import RoostTestSupport
import Testing

/// Pages and `forEachEntry`: ordered scans that do not suspend.
@Suite struct PageTests {
    private struct User: Codable, Equatable { var name: String }

    @Test func pagesFollowEachOtherWithoutAGapOrAnOverlapInEitherOrder() async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1 << random.below(6)))
            for round in 0..<4 {
                let users = workspace.dictionary("users")
                try await users.setAll(
                    (0..<80).map { _ in
                        let key = "\(["eu/", "us/", ""][random.below(3)])\(random.below(300))"
                        return (key, User(name: key))
                    })
                if round == 1 { try await workspace.compact() }
                if round == 2 {
                    try await workspace.close()
                    workspace = try await Workspace.open(
                        at: path, configuration: .init(shardCount: 1 << random.below(6)))
                }
                try check(workspace, random.below(9) + 1, seed)
            }
            try await workspace.close()
        }
    }

    private func check(_ workspace: Workspace, _ limit: Int, _ seed: UInt64) throws {
        let users = workspace.dictionary("users")
        let all = try users.keys
        for order in [ScanOrder.ascending, .descending] {
            for prefix in ["eu/", ""] {
                let keys = all.filter { $0.hasPrefix(prefix) }
                let expected = order == .ascending ? keys : keys.reversed()
                var found: [String] = []
                while true {
                    let page = try users.page(
                        prefix: prefix, after: found.last, as: User.self, limit: limit,
                        order: order)
                    #expect(page.allSatisfy { $0.key == $0.value.name })
                    found += page.map(\.key)
                    if page.count < limit { break }
                }
                #expect(found == expected, "seed \(seed), \(order) from \"\(prefix)\"")
                var visited: [String] = []
                try workspace.read { view in
                    try view.forEachEntry(of: users, prefix: prefix, as: User.self, order: order) {
                        key, _ in visited.append(key)
                    }
                }
                #expect(visited == expected, "seed \(seed)")
            }
        }
    }

    @Test func aPageOfNothingIsEmptyAndAnAfterOutsideOfThePrefixCutsAsTheOrderSays() async throws {
        let workspace = try await Workspace.inMemory()
        let numbers = workspace.dictionary("numbers")
        #expect(try numbers.page(as: Int.self, limit: 5).isEmpty)
        for (index, key) in ["a/1", "b/1", "b/2", "c/1"].enumerated() {
            try await numbers.set(index, forKey: key)
        }
        func keys(after key: String?, limit: Int = 9, _ order: ScanOrder = .ascending) throws
            -> [String]
        {
            try numbers.page(prefix: "b/", after: key, as: Int.self, limit: limit, order: order)
                .map(\.key)
        }
        #expect(try keys(after: nil, limit: 0) == [])
        #expect(try keys(after: "a/9") == ["b/1", "b/2"])
        #expect(try keys(after: "c") == [])
        #expect(try keys(after: "b/1") == ["b/2"])
        #expect(try keys(after: "c", .descending) == ["b/2", "b/1"])
        #expect(try keys(after: "a", .descending) == [])
        try await workspace.close()
        #expect(throws: RoostError.self) { try keys(after: nil) }
    }

    @Test func aValueOfAnotherTypeIsAnErrorAndTheOthersStay() async throws {
        let workspace = try await Workspace.inMemory()
        let mixed = workspace.dictionary("mixed")
        try await mixed.set(1, forKey: "a")
        try await mixed.set("text", forKey: "b")
        #expect(try mixed.page(as: Int.self, limit: 1).map(\.value) == [1])
        #expect {
            try mixed.page(as: Int.self, limit: 2)
        } throws: {
            ($0 as? RoostError)?.code == .typeMismatch
        }
        try await workspace.close()
    }
}
