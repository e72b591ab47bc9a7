import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct ChangesTests {
    @Test(arguments: WorkspaceKind.allCases)
    func changesComeWithKeyValueAndVersion(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let users = workspace.dictionary("users")
            let other = workspace.dictionary("users2")
            let changes = users.changes(as: Int.self)
            let european = users.changes(prefix: "eu/", as: Int.self)
            let single = users.changes(forKey: "eu/b", as: Int.self)
            try await users.set(1, forKey: "eu/a")
            try await other.set(9, forKey: "eu/a")
            try await users.set(2, forKey: "us/a", durability: .synced)
            try await users.set(3, forKey: "eu/b")
            try await users.removeValue(forKey: "eu/a")
            #expect(
                try await changes.first(4) == [
                    .set(key: "eu/a", value: 1, version: 1),
                    .set(key: "us/a", value: 2, version: 3),
                    .set(key: "eu/b", value: 3, version: 4), .removed(key: "eu/a", version: 5),
                ])
            #expect(
                try await european.first(3) == [
                    .set(key: "eu/a", value: 1, version: 1),
                    .set(key: "eu/b", value: 3, version: 4),
                    .removed(key: "eu/a", version: 5),
                ])
            #expect(try await single.first(1) == [.set(key: "eu/b", value: 3, version: 4)])
        }
    }

    @Test(arguments: WorkspaceKind.allCases, [Durability.process, .synced])
    func aBatchComesTogetherAndEachKeyOnce(kind: WorkspaceKind, durability: Durability) async throws
    {
        try await kind.withWorkspace { workspace in
            let users = workspace.dictionary("users")
            try await users.set(0, forKey: "old")
            let changes = users.changes(as: Int.self)
            let old = users.changes(forKey: "old", as: Int.self)
            let again = users.changes(forKey: "7", as: Int.self)
            try await workspace.write(durability: durability) { batch in
                for key in 0..<40 { batch.set(key, forKey: "\(key)", in: users) }
                batch.set(-7, forKey: "7", in: users)
                batch.removeAll(in: users)
            }
            try await users.set(1, forKey: "next")
            let elements = try await changes.first(42)
            #expect(elements.first == .removedAll(version: 2))
            #expect(elements.dropLast().allSatisfy { $0.version == 2 })
            #expect(elements.last == .set(key: "next", value: 1, version: 3))
            #expect(elements.contains(.set(key: "7", value: -7, version: 2)))
            #expect(Set(elements.map { "\($0)" }).count == 42)
            #expect(try await old.first(1) == [.removed(key: "old", version: 2)])
            #expect(try await again.first(1) == [.set(key: "7", value: -7, version: 2)])
        }
    }

    @Test func aFullBufferCountsWhatItMisses() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users")
        let changes = users.changes(as: Int.self, bufferCapacity: 3)
        for number in 0..<10 { try await users.set(number, forKey: "\(number)") }
        try await users.setAll((0..<5).map { ("b\($0)", $0) })
        #expect(try await changes.first(4).last == .missed(count: 12))
        // With the room back, a batch comes whole, however large.
        try await users.setAll((0..<9).map { ("c\($0)", $0) })
        try await users.set(1, forKey: "d")
        let elements = try await changes.first(10)
        #expect(elements.dropLast().allSatisfy { $0.version == 12 })
        #expect(elements.last == .missed(count: 1))
        try await workspace.close()
    }

    @Test func aValueOfAnotherTypeIsToldAsUnreadable() async throws {
        let workspace = try await Workspace.inMemory()
        let users = workspace.dictionary("users")
        let failures = workspace.failures
        let changes = users.changes(as: Int.self)
        var updates = users.updates(of: "a", as: Int.self).makeAsyncIterator()
        #expect(await updates.next() == .some(nil))
        try await users.set("text", forKey: "a")
        guard case .unreadable(let key, let error, _) = try await changes.first(1).first else {
            Issue.record("not told as unreadable")
            return
        }
        #expect(key == "a" && error.code == .typeMismatch)
        async let next = updates.next()
        #expect(try await failures.first(1).first?.code == .typeMismatch)
        try await users.set(5, forKey: "a")
        #expect(await next == 5)
        try await workspace.close()
    }

    /// Writers of many shards at once: versions never go down, each key's changes are in order,
    /// and what is told leads to what is stored.
    @Test(arguments: WorkspaceKind.allCases)
    func changesOfConcurrentWritersComeInCommitOrder(kind: WorkspaceKind) async throws {
        let seed = testSeed()
        try await kind.withWorkspace(.init(durability: .process)) { workspace in
            let users = workspace.dictionary("users")
            let changes = users.changes(as: Int.self, bufferCapacity: 1 << 20)
            let (writers, steps) = (6, 150)
            let reader = Task { () -> [String: Int] in
                var held: [String: Int] = [:]
                var last: UInt64 = 0
                for await change in changes {
                    #expect(change.version ?? 0 >= last, "seed \(seed)")
                    last = change.version ?? last
                    switch change {
                    case .set("end", _, _): return held
                    case .set(let key, let value, _):
                        #expect(value > held[key] ?? -1, "seed \(seed)")
                        held[key] = value
                    case .removed(let key, _): held[key] = nil
                    case .removedAll: held = [:]
                    case .missed, .unreadable: Issue.record("\(change)")
                    }
                }
                return held
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        var random = SeededGenerator(seed: seed &+ UInt64(writer))
                        for step in 0..<steps {
                            try await users.writeSomething(step, writer, &random)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await users.set(0, forKey: "end")
            let held = await reader.value
            for (key, value) in held {
                #expect(try users[key, as: Int.self] == value, "seed \(seed)")
            }
            #expect(try users.count == held.count + 1, "seed \(seed)")
        }
    }
}

extension WorkspaceDictionary {
    /// Rising values under keys of the writer's own, in every way of writing.
    fileprivate func writeSomething(
        _ step: Int, _ writer: Int, _ random: inout SeededGenerator
    ) async throws {
        let key = "\(writer)/\(random.below(5))"
        let durability: Durability = random.once(in: 4) ? .synced : .process
        switch random.below(10) {
        case 0: try await removeValue(forKey: key, durability: durability)
        case 1, 2:
            try await setAll((0..<4).map { ("\(writer)/\($0)", step) }, durability: durability)
        case 3 where random.once(in: 5): try await removeAll(durability: durability)
        default: try await set(step, forKey: key, durability: durability)
        }
    }
}
