import Logging
import Roost
import RoostServices
import RoostShared
import Synchronization
import Testing

/// A renewal of which nobody knows what became, and that comes once the lease was given back.
@Suite(.timeLimit(.minutes(5))) struct LateRenewalTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func aRenewalThatComesLateLeavesNoLease() async throws {
        let engine = DelayingEngine()
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let lock = LeaseLock(
            workspace, "x", as: "one", leaseDuration: .milliseconds(900), logger: silent)
        let holding = Task {
            try await lock.withLock { _ in
                engine.delayNextCommit()
                // Also where this machine stands still for so long that the lease is lost.
                await Task {
                    while !engine.hasDelayed {
                        do { try await Task.sleep(for: .milliseconds(2)) } catch { return }
                    }
                }.value
            }
        }
        while !engine.hasDelayed { try await Task.sleep(for: .milliseconds(2)) }
        // The write is cancelled, and a second later what asks what became of it: nobody does from then on.
        let end = ContinuousClock.now + .seconds(60)
        while engine.cancelledCount < 2, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(2))
        }
        engine.heal()
        _ = await holding.result
        #expect(try await engine.sendDelayed() == .conflict)
        #expect(try await lock.holder() == nil)
        await workspace.close()
    }
}

/// Loses one commit on its way, and answers nothing from then on until it is healed. The commit may be sent later.
private final class DelayingEngine: SharedEngine {
    private struct State {
        var isArmed = false
        var delayed: SharedCommit?
        var isHealed = false
        var cancelledCount = 0
    }

    private let engine = MemoryEngine()
    private let state = Mutex(State())

    var hasDelayed: Bool { state.withLock { $0.delayed != nil } }
    /// How many calls were cancelled while they waited for an answer.
    var cancelledCount: Int { state.withLock { $0.cancelledCount } }

    func delayNextCommit() { state.withLock { $0.isArmed = true } }

    func heal() { state.withLock { $0.isHealed = true } }

    /// What becomes of the commit that was lost.
    func sendDelayed() async throws -> SharedOutcome? {
        guard let commit = state.withLock({ $0.delayed }) else { return nil }
        return try await engine.commit(commit, before: .now + .seconds(60))
    }

    private func waitForAnswers() async throws {
        while state.withLock({ $0.delayed != nil && !$0.isHealed }) {
            do { try await Task.sleep(for: .milliseconds(5)) } catch {
                state.withLock { $0.cancelledCount += 1 }
                throw error
            }
        }
    }

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try await waitForAnswers()
        return try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        let isDelayed = state.withLock { state in
            guard state.isArmed else { return false }
            state.isArmed = false
            state.delayed = commit
            return true
        }
        guard isDelayed else {
            try await waitForAnswers()
            return try await engine.commit(commit, before: deadline)
        }
        do { try await waitForAnswers() } catch {}
        throw RoostError(.unknownOutcome, "the answer was lost")
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        engine.watch(range, after: revision)
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { await engine.close() }
}
