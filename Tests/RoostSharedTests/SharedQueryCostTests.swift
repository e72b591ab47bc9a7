import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// What queries ask an engine for, and what a transaction's commit is guarded by: no more than their answer rests on.
@Suite struct SharedQueryCostTests {
    private let engine = HookedEngine(
        MemoryEngine(
            limits: SharedLimits(
                operationCount: 10_000, commitSizeBytes: 1 << 24, keySizeBytes: 1 << 10)))
    private let asked = Asked()

    private final class Asked: Sendable {
        private let state = Mutex((reads: [SharedRead](), guards: [[SharedGuard]]()))

        func note(_ read: SharedRead) { state.withLock { $0.reads.append(read) } }
        func note(_ commit: SharedCommit) { state.withLock { $0.guards.append(commit.guards) } }

        /// Those of single keys, which are objects and lists of indexes, since the last time.
        func takeKeyReads() -> Int {
            state.withLock { state in
                defer { state.reads = [] }
                return state.reads.count { $0.range.upper == $0.range.lower + [0] }
            }
        }

        func takeGuards() -> [[SharedGuard]] {
            state.withLock { state in
                defer { state.guards = [] }
                return state.guards
            }
        }
    }

    /// 200 chores of one priority, 0 to 99 ada's.
    private func filled() async throws -> SharedRepository<Chore> {
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let chores = workspace.repository(of: Chore.self)
        try await chores.buildIndexes()
        try await chores.saveAll((0..<200).map { makeChore($0, owner: $0 < 100 ? "ada" : "bea") })
        let asked = asked
        engine.set { hooks in
            hooks.read = { read in
                asked.note(read)
                return nil
            }
            hooks.commit = { commit in
                asked.note(commit)
                return nil
            }
        }
        return chores
    }

    @Test func ofObjectsThatAnOrderDoesNotTellApartNoMoreAreReadThanTheLimit() async throws {
        let chores = try await filled()
        let adas = chores.where { $0.owner == "ada" }.order(by: \.priority, .descending)
        #expect(try await adas.limit(3).fetch().map(\.id) == [0, 1, 2])
        // The list of indexes, and three objects.
        #expect(asked.takeKeyReads() == 4)
        let found = try await chores.dictionary.workspace.transaction { tx in
            var chore = try #require(try await tx.first(adas))
            chore.owner = "taken"
            try await tx.save(chore, in: chores)
            return chore.id
        }
        #expect(found == 0)
        let guards = try #require(asked.takeGuards().last)
        #expect(guards.count <= 4, "\(guards)")
    }

    @Test func withoutAnOrderAPageReadsWhatIsInIt() async throws {
        let chores = try await filled()
        let byOwner = chores.where { $0.owner == "ada" && $0.priority == 0 }
        var page = try await byOwner.page(after: nil, limit: 10)
        #expect(page.items.map(\.id) == Array(0..<10))
        #expect(asked.takeKeyReads() == 12)
        page = try await byOwner.page(after: page.next, limit: 10)
        #expect(page.items.map(\.id) == Array(10..<20))
        #expect(asked.takeKeyReads() == 12)
        let last = byOwner.order(by: \.id, .descending)
        page = try await last.page(after: nil, limit: 10)
        #expect(page.items.map(\.id) == Array((90..<100).reversed()))
        #expect(asked.takeKeyReads() == 12)
        page = try await last.page(after: page.next, limit: 10)
        #expect(page.items.map(\.id) == Array((80..<90).reversed()))
        #expect(asked.takeKeyReads() == 12)
    }

    @Test func objectsThatDoNotMatchAreReadSeveralAtOnce() async throws {
        let chores = try await filled()
        // The condition on the slug is asked of the objects.
        let late = chores.where { $0.owner == "ada" && $0.priority == 0 && $0.due == nil }
            .where { $0.slug >= "s9" && $0.slug < "s91" }.order(by: \.priority, .descending)
        #expect(try await late.limit(2).fetch().map(\.id) == [9, 90])
        #expect(asked.takeKeyReads() <= 130)
    }

    @Test func whatWasLookedAtTwiceIsOneGuard() async throws {
        let chores = try await filled()
        let adas = chores.where { $0.owner == "ada" }
        let dictionary = chores.dictionary
        try await dictionary.workspace.transaction { tx in
            for number in 0..<20 {
                _ = try await tx.count(of: adas)
                try tx.set(
                    number, forKey: "\(number)", in: dictionary.workspace.dictionary("other"))
            }
        }
        let guards = try #require(asked.takeGuards().last)
        let ranges = guards.count { if case .nothingNewer = $0 { true } else { false } }
        #expect(ranges == 1)
    }

    @Test func aBodyThatCatchesTheLossOfItsRevisionRunsAgain() async throws {
        let chores = try await filled()
        let workspace = chores.dictionary.workspace
        let limits = workspace.dictionary("limits")
        try await limits.set(3, forKey: "most")
        var runs = 0
        let most = try await workspace.transaction { tx in
            runs += 1
            _ = try await tx.find(1, in: chores)
            if runs == 1 {
                // Others write, and what the attempt reads of is given up.
                let other = try await SharedWorkspace.connect(
                    to: .engine(engine), namespace: "test")
                try await other.dictionary("limits").set(5, forKey: "most")
                engine.engine.compact(before: try await other.revision)
            }
            let most = (try? await tx.load("most", as: Int.self, in: limits)) ?? 10
            try tx.set(most, forKey: "seen", in: limits)
            return most
        }
        #expect(most == 5)
        #expect(runs == 2)
        #expect(try await limits.load("seen", as: Int.self) == 5)
    }

    /// A body that catches an error and goes on reads of the revision that it began with.
    @Test func aBodyThatGoesOnAfterAnErrorReadsAtOneRevision() async throws {
        let chores = try await filled()
        let workspace = chores.dictionary.workspace
        let other = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        try await workspace.dictionary("numbers").set(1, forKey: "n")
        // An object that is none, behind one that is.
        let broken = workspace.repository(of: Chore.self, named: "broken")
        try await broken.save(makeChore(1))
        try await broken.dictionary.set("none", forKey: broken.key(of: 2))
        let number = try await workspace.transaction { tx in
            await #expect(throws: RoostError.self) {
                _ = try await tx.fetch(broken.all.scanning().where { $0.owner == "ada" })
            }
            try await other.dictionary("numbers").set(2, forKey: "n")
            return try await tx.load("n", as: Int.self, in: workspace.dictionary("numbers"))
        }
        #expect(number == 1)
    }

    @Test func whatComesBehindTheDeadlineIsNotSent() async throws {
        let chores = try await filled()
        let workspace = chores.dictionary.workspace
        _ = asked.takeGuards()
        let error = await #expect(throws: RoostError.self) {
            try await workspace.withCallDeadline(.milliseconds(30)).transaction { tx in
                try tx.set(1, forKey: "a", in: workspace.dictionary("numbers"))
                try await Task.sleep(for: .milliseconds(60))
            }
        }
        #expect(error?.code == .unavailable)
        #expect(asked.takeGuards().isEmpty)
        #expect(try await workspace.dictionary("numbers").load("a", as: Int.self) == nil)
    }
}
