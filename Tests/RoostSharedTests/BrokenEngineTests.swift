import RoostConformance
import RoostShared
import RoostTestSupport
import Testing

/// Whether the suite tells an engine that breaks a promise: one that drops a kind of guard.
@Suite struct BrokenEngineTests {
    enum Dropped: CaseIterable, Sendable { case keyGuards, rangeGuards, marks, revisions, order }

    /// `nil` drops nothing.
    private func brokenCount(_ dropped: Dropped?, seed: UInt64) async throws -> Int {
        let engine = ForgetfulEngine(MemoryEngine(), dropped)
        let suite = ConformanceSuite.shared(
            seed: seed, patience: dropped == .order ? .seconds(2) : .seconds(60),
            connecting: .engine(engine))
        return try await suite.run(stopsAtFailure: true).count { $0.failure != nil }
    }

    @Test(arguments: Dropped.allCases)
    func anEngineThatDropsAGuardIsFound(dropped: Dropped) async throws {
        let seed = testSeed()
        // What depends on who comes first is found by one of a few runs.
        for attempt in 0..<5 {
            if try await brokenCount(dropped, seed: seed &+ UInt64(attempt)) > 0 { return }
        }
        Issue.record("an engine without \(dropped) passes")
    }

    @Test func theSameEngineWithItsGuardsPasses() async throws {
        #expect(try await brokenCount(nil, seed: testSeed()) == 0)
    }
}

/// Leaves out a part of what it is asked for.
private final class ForgetfulEngine: SharedEngine {
    private let engine: MemoryEngine
    private let dropped: BrokenEngineTests.Dropped?

    init(_ engine: MemoryEngine, _ dropped: BrokenEngineTests.Dropped?) {
        self.engine = engine
        self.dropped = dropped
    }

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        var read = read
        if dropped == .revisions { read.revision = nil }
        await Task.yield()
        return try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        var commit = commit
        commit.guards.removeAll { condition in
            switch condition {
            case .key: dropped == .keyGuards
            case .nothingNewer: dropped == .rangeGuards
            }
        }
        if dropped == .marks { commit.mark = nil }
        await Task.yield()
        return try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        let source = engine.watch(range, after: dropped == .order ? revision + 1 : revision)
        return source
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { await engine.close() }
}
