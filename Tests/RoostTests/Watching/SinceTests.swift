import Roost
import RoostIO
import RoostTestSupport
import Testing

@Suite(.timeLimit(.minutes(2))) struct SinceTests {
    @Test(arguments: WorkspaceKind.allCases)
    func aWatcherGetsWhatCameSinceTheVersionThatItSaw(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let users = workspace.dictionary("users")
            for number in 1...5 { try await users.set(number, forKey: "a") }
            try await users.setAll([("a", 6), ("b", 6), ("a", 7)])
            try await users.removeAll()
            let all = users.changes(as: Int.self, since: 4)
            let one = users.changes(forKey: "a", as: Int.self, since: 4)
            try await users.set(8, forKey: "c")
            try await users.set(9, forKey: "a")
            #expect(
                try await all.first(6) == [
                    .set(key: "a", value: 5, version: 5), .set(key: "b", value: 6, version: 6),
                    .set(key: "a", value: 7, version: 6), .removedAll(version: 7),
                    .set(key: "c", value: 8, version: 8), .set(key: "a", value: 9, version: 9),
                ])
            #expect(
                try await one.first(4) == [
                    .set(key: "a", value: 5, version: 5), .set(key: "a", value: 7, version: 6),
                    .removed(key: "a", version: 7), .set(key: "a", value: 9, version: 9),
                ])
        }
    }

    @Test(arguments: WorkspaceKind.allCases)
    func aWatcherIsToldWhereTheLogNoLongerGoesBack(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace { workspace in
            let users = workspace.dictionary("users")
            for number in 1...10 { try await users.set(number, forKey: "a") }
            try await workspace.compact()
            try await users.set(11, forKey: "a")
            let changes = users.changes(as: Int.self, since: 3)
            #expect(
                try await changes.first(2) == [
                    .missed(count: 7), .set(key: "a", value: 11, version: 11),
                ])
            try await users.set(12, forKey: "a")
            #expect(try await changes.first(1) == [.set(key: "a", value: 12, version: 12)])
            let future = users.changes(as: Int.self, since: 100)
            try await users.set(13, forKey: "a")
            #expect(try await future.first(1) == [.set(key: "a", value: 13, version: 13)])
        }
    }

    @Test func aReopenedWorkspaceStillTellsWhatItsLogHolds() async throws {
        try await withTemporaryDirectory { path in
            let (original, copy) = (path + "/original", path + "/copy")
            var workspace = try await Workspace.open(at: original)
            for number in 1...5 { try await workspace.dictionary("d").set(number, forKey: "a") }
            // As a crash would leave it.
            try copyDirectory(original, to: copy)
            try await workspace.close()
            for path in [original, copy] {
                workspace = try await Workspace.open(at: path)
                try await workspace.dictionary("d").set(6, forKey: "a")
                let changes = workspace.dictionary("d").changes(as: Int.self, since: 2)
                let told = try await changes.first(4)
                #expect(told == (3...6).map { .set(key: "a", value: $0, version: UInt64($0)) })
                try await workspace.close()
            }
        }
    }

    /// Watchers that begin again and again at the last version that they saw get every change
    /// once, whatever is appended, waits for its sync or becomes visible meanwhile.
    @Test(arguments: WorkspaceKind.allCases)
    func aWatcherThatBeginsAgainAndAgainMissesNothing(kind: WorkspaceKind) async throws {
        try await kind.withWorkspace(.init(durability: .process)) { workspace in
            let users = workspace.dictionary("users")
            let (writers, steps) = (4, 200)
            let reader = Task { () -> [[Int]] in
                var told = Array(repeating: [Int](), count: writers)
                var last: UInt64 = 0
                while told.contains(where: { $0.count < steps }) {
                    let changes = users.changes(
                        prefix: "w", as: Int.self, since: last, bufferCapacity: 1 << 20)
                    let end = last + 1 + UInt64(told[0].count % 40)
                    for await change in changes {
                        guard case .set(let key, let value, let version) = change else {
                            Issue.record("\(change)")
                            continue
                        }
                        #expect(version > last)
                        last = version
                        told[Int(key.dropFirst())!].append(value)
                        if version >= end || !told.contains(where: { $0.count < steps }) { break }
                    }
                }
                return told
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        for step in 0..<steps {
                            try await users.set(
                                step, forKey: "w\(writer)",
                                durability: (step + writer) % 5 == 0 ? .synced : .process)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(await reader.value == Array(repeating: Array(0..<steps), count: writers))
        }
    }
}
