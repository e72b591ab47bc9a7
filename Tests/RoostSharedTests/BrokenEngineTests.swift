import RoostConformance
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Whether the suite tells an engine that breaks a promise: one that drops a kind of guard.
@Suite struct BrokenEngineTests {
    enum Dropped: CaseIterable, Sendable {
        case keyGuards, rangeGuards, marks, revisions, order
        /// Of what is read at a revision: the keys that were removed since; those that came are told too.
        case removedKeys, newKeys
        /// Of what is read from the last key on, all but a few records, the one before the last.
        case descending
        case deadlines, cancellations, closing
    }

    /// `nil` drops nothing.
    private func brokenCount(_ dropped: Dropped?, seed: UInt64) async throws -> Int {
        let engine = ForgetfulEngine(MemoryEngine(), dropped)
        let suite = ConformanceSuite.shared(
            seed: seed, patience: dropped == .order ? .seconds(2) : .seconds(60),
            connecting: .engine(engine))
        defer { engine.stop() }
        return try await suite.run(stopsAtFailure: true).count { $0.failure != nil }
    }

    /// A write that was acknowledged and not made, after which nobody read: whichever it is of a history.
    @Test func aLastWriteThatIsNotMadeIsFound() async throws {
        let seed = testSeed()
        for round in 0..<runCount(2, whole: 5) {
            let count = Mutex(0)
            let last = Mutex<Int?>(nil)
            var didFail = false
            for isBroken in [false, true] {
                let engine = HookedEngine()
                let workspace = try await SharedWorkspace.connect(
                    to: .engine(engine), namespace: "test")
                let number = Mutex(0)
                engine.set {
                    $0.commit = { [memory = engine.engine] commit in
                        guard try await Self.changesSomething(commit, memory) else { return nil }
                        let now = number.withLock { number in
                            number += 1
                            return number
                        }
                        count.withLock { $0 = max($0, now) }
                        guard last.withLock({ $0 }) == now else { return nil }
                        return .committed(
                            revision: try await memory.read(
                                SharedRead(SharedKeyRange([0])), before: .now + .seconds(10)
                            ).revision + 1)
                    }
                }
                let histories = Histories([workspace], prefix: "h", seed: seed &+ UInt64(round))
                do {
                    _ = try await histories.registers(HistoryLength(callCount: 30, callerCount: 1))
                } catch { didFail = true }
                #expect(didFail == isBroken)
                let made = count.withLock { $0 }
                last.withLock { $0 = made }
            }
        }
    }

    /// Whether a commit leaves other records than there were. Nobody can tell whether the removal of a key was made that
    /// had no value.
    private static func changesSomething(
        _ commit: SharedCommit, _ engine: MemoryEngine
    ) async throws -> Bool {
        for operation in commit.operations {
            guard case .remove(let key) = operation else { return true }
            let page = try await engine.read(
                SharedRead(SharedKeyRange(key)), before: .now + .seconds(10))
            if !page.records.isEmpty { return true }
        }
        return false
    }

    /// All at once: the suite mostly waits, for what expires and for deadlines.
    @Test func anEngineThatDropsAGuardIsFound() async throws {
        let seed = testSeed()
        let passed = try await withThrowingTaskGroup { group in
            for dropped in Dropped.allCases {
                group.addTask { try await isFound(dropped, seed: seed) ? nil : dropped }
            }
            return try await group.reduce(into: []) { $0.append($1) }.compactMap { $0 }
        }
        #expect(passed.isEmpty)
    }

    private func isFound(_ dropped: Dropped, seed: UInt64) async throws -> Bool {
        // What depends on who comes first is found by one of a few runs.
        for attempt in 0..<5 {
            if try await brokenCount(dropped, seed: seed &+ UInt64(attempt)) > 0 { return true }
        }
        return false
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
        if dropped == .deadlines, deadline - .now < .milliseconds(60) { await hang() }
        if dropped == .cancellations {
            await Task { do { try await Task.sleep(for: .milliseconds(1)) } catch {} }.value
            if Task.isCancelled { await hang() }
        }
        await Task.yield()
        var page = try await engine.read(read, before: deadline)
        if dropped == .descending, read.isDescending, page.records.count > 8 {
            page.records.remove(at: page.records.count - 2)
        }
        guard read.revision != nil, dropped == .removedKeys || dropped == .newKeys else {
            return page
        }
        read.revision = nil
        let newest = try await engine.read(read, before: deadline).records
        if dropped == .removedKeys {
            page.records.removeAll { record in !newest.contains { $0.key == record.key } }
        } else if !page.hasMore {
            page.records += newest.filter { record in
                !page.records.contains { $0.key == record.key }
            }
        }
        return page
    }

    private let isStopped = Atomic<Bool>(false)

    func stop() { isStopped.store(true, ordering: .relaxed) }

    /// For as long as the test takes, whatever the caller is told.
    private func hang() async {
        while !isStopped.load(ordering: .relaxed) {
            await Task { do { try await Task.sleep(for: .milliseconds(20)) } catch {} }.value
        }
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

    func close() async {
        if dropped != .closing { await engine.close() }
    }
}
