import Roost
import RoostTestSupport
import Testing

/// Code that is written for any workspace, on one in files or in memory.
@Suite struct KeyValueWorkspaceTests {
    private struct Sold: Error {}

    private func sell(
        _ count: Int, of name: String, in workspace: some KeyValueWorkspace
    ) async throws -> Int {
        let stock = workspace.dictionary("stock")
        return try await workspace.transaction { attempt in
            let left = try await attempt.load(name, as: Int.self, in: stock) ?? 0
            guard left >= count else { throw Sold() }
            try attempt.set(left - count, forKey: name, in: stock)
            return left - count
        }
    }

    private func exercise(_ workspace: some KeyValueWorkspace) async throws {
        let values = workspace.dictionary("values")
        try await values.set(1.5, forKey: "a")
        try await values.set("text", forKey: "b", expiresIn: .seconds(600))
        try await values.setAll([("c", 3), ("d", 4)])
        #expect(try await values.load("a", as: Double.self) == 1.5)
        #expect(try await values.load("b", as: String.self) == "text")
        #expect(try await values.contains("c"))
        #expect(try await values.count == 4)
        #expect(
            try await values.update("d", default: 0) {
                $0 += 1
                return $0
            } == 5)

        let entry = try await values.loadEntry("c", as: Int.self)
        let newer = try await values.replace(entry, with: 30)
        #expect(newer.version > entry.version)
        let error = await #expect(throws: RoostError.self) {
            try await values.replace(entry, with: 31)
        }
        #expect(error?.code == .conflict)

        var keys: [String] = []
        for try await key in values.keys(in: "b"..."c") { keys.append(key) }
        #expect(keys == ["b", "c"])
        var numbers: [Int] = []
        for try await entry in values.entries(in: "c"..., as: Int.self, order: .descending) {
            numbers.append(entry.value)
        }
        #expect(numbers == [5, 30])

        try await values.removeValue(forKey: "a")
        #expect(try await values.load("a", as: Double.self) == nil)
        try await values.removeAll()
        #expect(try await values.count == 0)
    }

    @Test func genericCodeRunsOnAWorkspace() async throws {
        let workspace = try await Workspace.inMemory()
        try await exercise(workspace)
        try await workspace.close()
    }

    @Test func aBodyThatSuspendsIsOneTransaction() async throws {
        let workspace = try await Workspace.inMemory()
        let stock = workspace.dictionary("stock")
        try await stock.set(200, forKey: "tea")
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<50 { group.addTask { try await sell(3, of: "tea", in: workspace) } }
            var seen: Set<Int> = []
            for try await left in group { #expect(seen.insert(left).inserted) }
        }
        #expect(try stock.value(forKey: "tea", as: Int.self) == 50)
        await #expect(throws: Sold.self) { try await sell(51, of: "tea", in: workspace) }
        #expect(try stock.value(forKey: "tea", as: Int.self) == 50)
        try await workspace.close()
    }

    /// A phantom: two that each look whether there is a key, and set one where there is none.
    @Test func aKeyThatComesIntoWhatWasScannedIsAConflict() async throws {
        let workspace = try await Workspace.inMemory()
        let leaders = workspace.dictionary("leaders")
        let won = try await withThrowingTaskGroup(of: Bool.self, returning: Int.self) { group in
            for name in 0..<20 {
                group.addTask {
                    try await workspace.transaction { attempt in
                        let found = try await attempt.keys(of: leaders, prefix: "l", limit: 1)
                        await Task.yield()
                        guard found.isEmpty else { return false }
                        try attempt.set(true, forKey: "l\(name)", in: leaders)
                        return true
                    }
                }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(won == 1)
        #expect(try leaders.count == 1)
        try await workspace.close()
    }

    /// The synchronous calls are the dictionary's own, and take no `await`: this compiles.
    /// A workspace's own transaction and replacement take a time as the calls for any workspace do.
    @Test func whatIsSetForATimeIsGoneAfterIt() async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(
            configuration: .init(clock: .settable(time)))
        let values = workspace.dictionary("values")
        try await workspace.transaction { transaction in
            try transaction.set(1, forKey: "a", in: values, expiresIn: .seconds(60))
            try transaction.set(["x"], forKey: "b", in: values, expiresIn: .seconds(60))
            try transaction.set(1, forKey: "stays", in: values)
        }
        let free = try values.entry(forKey: "lease", as: String.self)
        let taken = try await values.replace(
            free, with: "me", expiresIn: .seconds(60), durability: .process)
        #expect(try values.remainingTime(forKey: "lease") != nil)
        time.advance(by: .milliseconds(59_998))
        #expect(try values.keys == ["a", "b", "lease", "stays"])
        time.advance(by: .milliseconds(2))
        #expect(try values.keys == ["stays"])
        let over = try values.entry(forKey: "lease", as: String.self)
        #expect(over.value == nil)
        let other = try await values.replace(over, with: "you", expiresIn: .seconds(60))
        #expect(other.version > taken.version)
        await #expect(throws: RoostError.self) { try await values.replace(taken, with: "me") }
        try await workspace.close()
    }

    @Test func aWorkspaceKeepsItsOwnCalls() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        try await values.set(7, forKey: "n", durability: .process)
        #expect(try values.contains("n"))
        #expect(try values.count == 1)
        #expect(try values.keys == ["n"])
        let entries: EntrySequence<Int> = values.entries(prefix: "")
        for try await entry in entries { #expect(entry.value == 7) }
        let left = try await workspace.transaction { transaction in
            try transaction.value(forKey: "n", as: Int.self, in: values)
        }
        #expect(left == 7)
        try await workspace.close()
    }

    private func changes(
        of key: String, in values: some KeyValueDictionary
    ) -> KeyValueChanges<Int> {
        values.changes(forKey: key)
    }

    private func changes(
        prefix: String, in values: some KeyValueDictionary
    ) -> KeyValueChanges<Int> {
        values.changes(prefix: prefix)
    }

    /// The buffer of a watcher has room for 1,024 changes, and those of other keys take none of it.
    @Test func aWatcherOfAKeyOrAPrefixHasItsBufferForItself() async throws {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let one = changes(of: "a/1", in: values)
        let some = changes(prefix: "a/", in: values)
        try await values.set(1, forKey: "a/1")
        for number in 0..<3000 { try await values.set(number, forKey: "b/\(number)") }
        try await values.set(2, forKey: "a/1")
        try await values.removeAll()
        var seen: [DictionaryChange<Int>] = []
        for await change in one.prefix(3) { seen.append(change) }
        #expect(
            seen == [
                .set(key: "a/1", value: 1, version: 1), .set(key: "a/1", value: 2, version: 3002),
                .removed(key: "a/1", version: 3003),
            ])
        seen = []
        for await change in some.prefix(3) { seen.append(change) }
        #expect(
            seen == [
                .set(key: "a/1", value: 1, version: 1), .set(key: "a/1", value: 2, version: 3002),
                .removedAll(version: 3003),
            ])
        try await workspace.close()
    }
}
