import Roost
import RoostIO
import RoostShared
import Synchronization
import Testing

/// What another client does between the reads and the commit of a call: the call runs again.
@Suite(.timeLimit(.minutes(5))) struct TransactionGuardTests {
    private func connect(
        _ engine: HookedEngine
    ) async throws -> (workspace: SharedWorkspace, other: SharedWorkspace) {
        let other = try await SharedWorkspace.connect(
            to: .memory(engine.engine), namespace: "test")
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        return (workspace, other)
    }

    /// Runs `body` before the next commit comes to the engine.
    private func beforeNextCommit(
        _ engine: HookedEngine, _ body: @escaping @Sendable () async throws -> Void
    ) {
        let isFirst = Mutex(true)
        engine.set {
            $0.commit = { _ in
                let wasFirst = isFirst.withLock { first in
                    defer { first = false }
                    return first
                }
                if wasFirst { try await body() }
                return nil
            }
        }
    }

    @Test func anUpdateRestsOnWhatItRead() async throws {
        let engine = HookedEngine()
        let (workspace, other) = try await connect(engine)
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "n")
        beforeNextCommit(engine) { try await other.dictionary("values").set(10, forKey: "n") }
        try await values.update("n", as: Int.self) { $0 = ($0 ?? 0) + 1 }
        #expect(try await values.load("n", as: Int.self) == 11)
    }

    @Test func aTransactionRestsOnTheRangesThatItRead() async throws {
        let engine = HookedEngine()
        let (workspace, other) = try await connect(engine)
        let values = workspace.dictionary("values")
        let counts = workspace.dictionary("counts")
        try await values.setAll([("a", 1), ("b", 1)])
        try await counts.set(0, forKey: "first")
        beforeNextCommit(engine) { try await other.dictionary("values").set(1, forKey: "aa") }
        try await workspace.transaction { attempt in
            let count = try await attempt.count(of: values)
            try attempt.set(count, forKey: "values", in: counts)
        }
        #expect(try await counts.load("values", as: Int.self) == 3)
    }

    @Test func aTransactionReadsAndScansAtOneRevision() async throws {
        let (workspace, other) = try await connect(HookedEngine())
        let values = workspace.dictionary("values")
        try await values.setAll([("a", 1), ("c", 1)])
        let (first, keys, last) = try await workspace.transaction { attempt in
            let first = try await attempt.load("a", as: Int.self, in: values)
            try await other.dictionary("values").setAll([("a", 2), ("b", 2), ("c", 2)])
            let keys = try await attempt.keys(of: values)
            return (first, keys, try await attempt.load("c", as: Int.self, in: values))
        }
        #expect(first == 1)
        #expect(keys == ["a", "c"])
        #expect(last == 1)
    }

    /// Indexes that another client lists between an object's transaction and its commit have the object too.
    @Test func aTransactionRestsOnTheListOfIndexes() async throws {
        let engine = HookedEngine()
        let (workspace, other) = try await connect(engine)
        let chores = workspace.repository(of: Chore.self)
        try await chores.save(makeChore(0))
        beforeNextCommit(engine) {
            try await other.repository(of: Chore.self).buildIndexes()
        }
        try await workspace.transaction { try await $0.save(makeChore(1), in: chores) }
        let found = try await chores.where { $0.priority >= 0 }.fetch().map(\.id)
        #expect(found.count == 2)
    }

    /// What had expired when it was read is removed before it is replaced: it is as it was, without a value.
    @Test func whatHasExpiredIsReplacedThoughItIsRemovedMeanwhile() async throws {
        let engine = HookedEngine()
        let (workspace, _) = try await connect(engine)
        let leases = workspace.dictionary("leases")
        var value: String?
        // A machine may stand still until it has expired: then it is set again.
        for _ in 0..<5 where value == nil {
            engine.set { $0.read = nil }
            try await leases.set("a", forKey: "leader", expiresIn: .seconds(5))
            // An engine that removes what has expired some time later, as it were.
            let kept = Mutex<SharedPage?>(nil)
            engine.set {
                $0.read = { read in
                    let page = try await engine.engine.read(read, before: .now + .seconds(10))
                    return kept.withLock { kept in
                        if kept == nil { kept = page }
                        return kept
                    }
                }
            }
            value = try await leases.loadEntry("leader", as: String.self).value
        }
        #expect(value == "a")
        try await Task.sleep(for: .milliseconds(5_050))
        let over = try await leases.loadEntry("leader", as: String.self)
        #expect(over.value == nil && over.version > 0)
        engine.set { $0.read = { _ in nil } }
        let taken = try await leases.replace(over, with: "b")
        #expect(taken.version > over.version)
        // Who read the same, and comes later, does not have it.
        let error = await #expect(throws: RoostError.self) {
            try await leases.replace(over, with: "c")
        }
        #expect(error?.code == .conflict)
        #expect(try await leases.load("leader", as: String.self) == "b")
    }

    /// Two versions of a service that build other indexes at once: what one lists is not taken for the other's.
    @Test func aListOfIndexesRestsOnWhatItWas() async throws {
        let engine = HookedEngine()
        let (workspace, other) = try await connect(engine)
        let chores = workspace.repository(of: Chore.self)
        // The value that one index of the other has of one chore is what an unique one has of another.
        try await chores.saveAll([
            makeChore(0, owner: "ada", slug: "s0"), makeChore(1, owner: "bea", slug: "ada"),
        ])
        beforeNextCommit(engine) {
            try await other.repository(of: ChoreByOwner.self, named: "Chore").buildIndexes()
        }
        try await workspace.repository(of: ChoreBySlug.self, named: "Chore").buildIndexes()
        let bySlug = workspace.repository(of: ChoreBySlug.self, named: "Chore")
        #expect(try await bySlug.where { $0.slug == "ada" }.fetch().map(\.id) == [1])
        #expect(try await bySlug.where { $0.slug == "bea" }.count() == 0)
        #expect(try await bySlug.where { $0.slug >= "" }.count() == 2)
    }
}

private struct ChoreByOwner: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var owner: String
    static var indexes: [Index<ChoreByOwner>] { [Index("owner", \.owner, isUnique: true)] }
}

private struct ChoreBySlug: Codable, Identifiable, Sendable, Indexed {
    var id: Int
    var slug: String
    static var indexes: [Index<ChoreBySlug>] { [Index("slug", \.slug, isUnique: true)] }
}
