import Foundation
import Roost
import RoostTestSupport
import Testing

/// What dictionaries with keys of one type have beside single values, and prefixes of those with strings.
@Suite(.timeLimit(.minutes(5))) struct KeyedDictionaryEntriesTests {
    private struct Draft: Codable, Sendable, Equatable { var title: String }

    @Test func valuesHaveDefaultsAndVersions() async throws {
        let workspace = try await Workspace.inMemory()
        let drafts = workspace.dictionary("drafts", keys: Int.self)
        #expect(try drafts[1, default: Draft(title: "none")] == Draft(title: "none"))
        #expect(try drafts[2, default: 0.5] == 0.5 && drafts[2, default: 3] == 3)
        try await drafts.setAll([1: Draft(title: "a"), -2: Draft(title: "b")])
        #expect(try drafts[1, default: Draft(title: "none")] == Draft(title: "a"))
        #expect(try drafts.keys == [-2, 1])

        let entry = try drafts.entry(forKey: 1, as: Draft.self)
        let next = try await drafts.replace(entry, with: Draft(title: "c"))
        let conflict = await #expect(throws: RoostError.self) {
            try await drafts.replace(entry, with: Draft(title: "d"))
        }
        #expect(conflict?.code == .conflict)
        try await drafts.remove(next)
        #expect(try drafts.keys == [-2])
        #expect(try workspace.read { try $0.count(of: drafts) } == 1)
        let counts = try await workspace.transaction { tx in
            let before = try tx.count(of: drafts)
            try tx.removeAll(in: drafts)
            try tx.set(Draft(title: "e"), forKey: 5, in: drafts)
            return [before, try tx.count(of: drafts)]
        }
        #expect(counts == [1, 1])
        try await workspace.write { batch in batch.removeAll(in: drafts) }
        #expect(try drafts.count == 0)
    }

    @Test func changesHaveKeysOfTheType() async throws {
        let workspace = try await Workspace.inMemory()
        let drafts = workspace.dictionary("drafts", keys: Int.self)
        var changes = drafts.changes(as: Draft.self).makeAsyncIterator()
        try await drafts.set(Draft(title: "a"), forKey: 7)
        try await drafts.removeValue(forKey: 7)
        try await drafts.strings.set(Draft(title: "b"), forKey: "x")
        try await drafts.set(1, forKey: 8)
        try await drafts.removeAll()
        var told: [KeyedDictionaryChange<Int, Draft>] = []
        while told.count < 5, let change = try await changes.next() { told.append(change) }
        let versions = told.compactMap(\.version)
        #expect(versions.count == 5 && versions == versions.sorted())
        let expected: [KeyedDictionaryChange<Int, Draft>] = [
            .set(key: 7, value: Draft(title: "a"), version: versions[0]),
            .removed(key: 7, version: versions[1]),
            .unreadable(key: "x", error: RoostError(.typeMismatch, ""), version: versions[2]),
            .unreadable(key: 8.key, error: RoostError(.typeMismatch, ""), version: versions[3]),
            .removedAll(version: versions[4]),
        ]
        #expect(told == expected)
        var later = drafts.changes(as: Draft.self, since: versions[3]).makeAsyncIterator()
        let last = try await later.next()
        #expect(last == .removedAll(version: versions[4]))
        try await workspace.close()
    }

    @Test(arguments: WorkspaceKind.allCases)
    func keysThatBeginAlikeAreCountedAndRemoved(kind: WorkspaceKind) async throws {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        try await kind.withWorkspace { workspace in
            let users = workspace.dictionary("users")
            let others = workspace.dictionary("users2")
            var all: Set<String> = []
            for round in 0..<20 {
                let keys = (0..<30).map { _ in
                    ["eu/", "eu", "us/", "e\u{301}/", ""].randomElement(using: &random)!
                        + String(Int.random(in: 0..<40, using: &random))
                }
                try await users.setAll(keys.map { ($0, round) })
                try await others.setAll(keys.map { ($0, round) })
                all.formUnion(keys)
                if round % 7 == 3 { try await workspace.compact() }
                let prefix = ["eu/", "eu", "e", "us/1", "", "zz"].randomElement(using: &random)!
                let matching = all.filter { $0.utf8.starts(with: prefix.utf8) }
                let comment: Comment = "seed \(seed), round \(round), \(prefix)"
                #expect(try users.count(prefix: prefix) == matching.count, comment)
                let isRemoved = round % 3 == 2
                let counts = try await workspace.transaction { tx in
                    try tx.set(0, forKey: prefix + "new", in: users)
                    let count = try tx.count(of: users, prefix: prefix)
                    return isRemoved
                        ? [count, try tx.removeAll(prefix: prefix, in: users)] : [count, count]
                }
                all.insert(prefix + "new")
                let count = matching.union([prefix + "new"]).count
                #expect(counts == [count, count], comment)
                if isRemoved { all = all.filter { !$0.utf8.starts(with: prefix.utf8) } }
                #expect(try Set(users.keys) == all, comment)
            }
            let left = try users.count(prefix: "e")
            #expect(try await users.removeAll(prefix: "e", durability: .synced) == left)
            #expect(try users.count(prefix: "e") == 0 && others.count(prefix: "e") > 0)
        }
    }

    @Test func keysOfOtherAccentsAreOthers() async throws {
        let workspace = try await Workspace.inMemory()
        let names = workspace.dictionary("names")
        try await names.setAll([("caf\u{e9}", 1), ("cafe\u{301}", 2), ("cafe", 3)])
        #expect(try names.count(prefix: "cafe") == 2 && names.count(prefix: "caf\u{e9}") == 1)
        #expect(try await names.removeAll(prefix: "cafe") == 2)
        #expect(try names.keys == ["caf\u{e9}"])
    }
}
