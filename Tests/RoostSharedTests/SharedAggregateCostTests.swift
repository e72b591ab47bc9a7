import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// What aggregates of shared queries ask an engine for, of which revision they are, and what becomes of them where it fails.
@Suite struct SharedAggregateCostTests {
    private let engine = HookedEngine(
        MemoryEngine(
            limits: SharedLimits(
                operationCount: 100_000, commitSizeBytes: 1 << 24, keySizeBytes: 1 << 10)))

    /// 600 chores of three owners, 200 each; priorities up to 9.
    private func filled(isIndexed: Bool = true) async throws -> SharedRepository<Chore> {
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let chores = workspace.repository(of: Chore.self)
        if isIndexed { try await chores.buildIndexes() }
        // As the deadline of a call allows on a busy machine.
        for start in stride(from: 0, to: 600, by: 40) {
            try await chores.saveAll(
                (start..<start + 40).map {
                    makeChore($0, owner: ["ada", "bea", "cid"][$0 / 200], priority: $0 % 10)
                })
        }
        return chores
    }

    /// Notes what is read, and does something before the read of a number.
    private func hook(
        _ body: @escaping @Sendable (_ number: Int) async throws -> Void = { _ in }
    ) -> Asked {
        let asked = Asked()
        engine.set { hooks in
            hooks.read = { read in
                try await body(asked.note(read))
                return nil
            }
        }
        return asked
    }

    private final class Asked: Sendable {
        private let reads = Mutex<[SharedRead]>([])

        func note(_ read: SharedRead) -> Int {
            reads.withLock { reads in
                reads.append(read)
                return reads.count
            }
        }

        /// The requests for single keys, which are objects and lists of indexes, and those for more, since the last time.
        func take() -> (keys: Int, pages: Int) {
            reads.withLock { reads in
                defer { reads = [] }
                let keys = reads.count { $0.range.upper == $0.range.lower + [0] }
                return (keys, reads.count - keys)
            }
        }
    }

    @Test func whereAnIndexTellsValuesApartOneObjectOfEachIsRead() async throws {
        let chores = try await filled()
        let asked = hook()
        #expect(
            try await chores.grouped(by: \.owner).counts()
                == ["ada": 200, "bea": 200, "cid": 200])
        var taken = asked.take()
        // The list of indexes, and three objects.
        #expect(taken.keys == 4)
        #expect(taken.pages <= 4)
        #expect(try await chores.distinct(\.owner) == ["ada", "bea", "cid"])
        taken = asked.take()
        #expect(taken.keys == 4)
        // A page of each owner, of which the rest is passed by.
        #expect(taken.pages == 3)
        #expect(
            try await chores.where { $0.owner == "bea" }.grouped(by: \.priority).counts()
                == Dictionary(uniqueKeysWithValues: (0..<10).map { ($0, 20) }))
        #expect(asked.take().keys == 11)
    }

    @Test func anExtremeInAnIndexReadsOneObjectHoweverManyHaveIt() async throws {
        let chores = try await filled()
        let asked = hook()
        for query in [chores.all, chores.where { $0.owner == "bea" }] {
            #expect(try await query.max(of: \.priority) == 9)
            #expect(asked.take() == (2, 1))
            #expect(try await query.min(of: \.priority) == 0)
            #expect(asked.take() == (2, 1))
        }
        #expect(try await chores.max(of: \.id) == 599)
        #expect(asked.take().keys <= 1)
    }

    /// What another changes between the requests of a call changes nothing of its answer.
    @Test(arguments: [true, false])
    func allOfOneCallIsOfOneRevision(isIndexed: Bool) async throws {
        let chores = try await filled(isIndexed: isIndexed)
        let other = try await SharedWorkspace.connect(
            to: .memory(engine.engine), namespace: "test")
        let others = other.repository(of: Chore.self)
        let changed = Mutex(0)
        _ = hook { number in
            guard number % 3 == 0 else { return }
            let id = changed.withLock { id in
                id += 97
                return id % 600
            }
            try await others.save(makeChore(id, owner: "dan", priority: 1_000_000))
        }
        func undo() async throws {
            engine.set { $0.read = { _ in nil } }
            for id in 0..<600 where try await others.find(by: id)?.owner == "dan" {
                try await others.save(
                    makeChore(id, owner: ["ada", "bea", "cid"][id / 200], priority: id % 10))
            }
        }
        // By the entries of an index, and by scanning all.
        let query = isIndexed ? chores.where { $0.owner >= "a" } : chores.all
        #expect(try await query.sum(of: \.priority) == 2700)
        #expect(changed.withLock { $0 } > 0)
        try await undo()
        _ = hook { _ in
            let id = changed.withLock { id in
                id += 97
                return id % 600
            }
            try await others.save(makeChore(id, owner: "dan", priority: 1_000_000))
        }
        let counts = try await chores.grouped(by: \.owner).counts()
        // The first read may come behind the first change.
        #expect(counts.values.reduce(0, +) == 600)
        #expect(counts["dan", default: 0] <= 1)
        await other.close()
    }

    @Test(arguments: [true, false])
    func anEngineThatFailsInBetweenIsAnErrorAndNoPartOfASum(isIndexed: Bool) async throws {
        let chores = try await filled(isIndexed: isIndexed)
        let workspace = chores.dictionary.workspace.withCallDeadline(.milliseconds(300))
        let short = workspace.repository(of: Chore.self)
        let asked = hook()
        _ = try await chores.sum(of: \.priority)
        let taken = asked.take()
        let count = taken.keys + taken.pages
        for last in [1, 2, 3, count / 2, count - 1] {
            _ = hook { number in
                if number > last { throw RoostError(.unavailable, "nobody answers") }
            }
            for call in [
                { @Sendable in _ = try await short.sum(of: \.priority) },
                { @Sendable in _ = try await short.where { $0.id >= 0 }.average(of: \.priority) },
            ] {
                let error = await #expect(throws: RoostError.self) { try await call() }
                #expect(error?.code == .unavailable, "after \(last)")
                _ = hook { number in
                    if number > last { throw RoostError(.unavailable, "nobody answers") }
                }
            }
        }
        _ = hook { number in
            if number == 3 { throw RoostError(.compacted, "given up") }
        }
        let error = await #expect(throws: RoostError.self) {
            _ = try await chores.grouped(by: \.slug).counts()
        }
        #expect(error?.code == .compacted)
    }

    // MARK: In transactions

    @Test func whatWouldGiveAnotherAnswerIsAConflict() async throws {
        let chores = try await filled()
        let workspace = chores.dictionary.workspace
        let other = try await SharedWorkspace.connect(
            to: .memory(engine.engine), namespace: "test")
        let others = other.repository(of: Chore.self)
        let adas = chores.where { $0.owner == "ada" && $0.priority > 7 }
        var runs = 0
        let (counts, sum) = try await workspace.transaction { tx in
            runs += 1
            let counts = try await tx.counts(of: adas.grouped(by: \.priority))
            if runs == 1 { try await others.save(makeChore(5000, owner: "ada", priority: 9)) }
            let sum = try await tx.sum(of: \.priority, in: adas)
            try tx.set(sum, forKey: "sum", in: workspace.dictionary("sums"))
            return (counts, sum)
        }
        #expect(runs == 2)
        #expect(counts == [8: 20, 9: 21])
        #expect(sum == 8 * 20 + 9 * 21)
        // What is behind the extreme is nobody's conflict.
        runs = 0
        try await workspace.transaction { tx in
            runs += 1
            let most = try await tx.max(of: \.priority, in: adas)
            if runs == 1 { try await others.save(makeChore(5001, owner: "ada", priority: 8)) }
            try tx.set(most ?? 0, forKey: "most", in: workspace.dictionary("sums"))
        }
        #expect(runs == 1)
        await other.close()
    }
}
