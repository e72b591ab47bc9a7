import Foundation
import Logging
import Roost
import RoostServices
import RoostShared
import Synchronization
import Testing

/// When a lease begins and when it ends before its time.
@Suite(.timeLimit(.minutes(5))) struct LeaseBeginTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func eventually(_ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isSo() {
            try #require(ContinuousClock.now < end, "it does not come to that")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    // MARK: Begin

    /// A workspace at whose commits others are first for longer than a lease.
    private func contended() async throws -> SharedWorkspace {
        let engine = RefusingEngine(MemoryEngine())
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(120)))
        engine.setConflicting(true)
        Task {
            try await Task.sleep(for: .seconds(5))
            engine.setConflicting(false)
        }
        return shared
    }

    /// The lock was just taken: nobody else can have it.
    @Test func aLockThatOthersWereFirstAtForLongIsHeldFromWhenItWasTaken() async throws {
        var isHeld = false
        // A machine that stands still for as long as a lease takes the lock from it, rightly: then the next round counts.
        for _ in 0..<3 where !isHeld {
            let lock = LeaseLock(
                try await contended(), "l", as: "a", leaseDuration: .seconds(5), logger: silent)
            do {
                isHeld = try await lock.withLock { term in
                    #expect(term.number == 1)
                    return !Task.isCancelled
                }
            } catch is LeadershipLost {}
        }
        #expect(isHeld)
    }

    @Test func aLeadershipThatOthersWereFirstAtForLongCountsFromWhenItWasTaken() async throws {
        var number: UInt64?
        // As above.
        for _ in 0..<3 where number != 1 {
            let leadership = Leadership(
                try await contended(), of: "x", as: "a", leaseDuration: .seconds(5), logger: silent)
            let running = Task { try await leadership.run() }
            try await eventually {
                number = leadership.term?.number
                return number != nil
            }
            running.cancel()
            _ = await running.result
        }
        #expect(number == 1)
    }

    // MARK: Renewals

    /// A pause behind each would have the next come too late.
    @Test func aLockWhoseRenewalsTakeMoreThanAThirdOfTheLeaseIsKept() async throws {
        var isKept = false
        // As above; and a machine that is late with everything is so with each short lease.
        for seconds in [5, 10, 20, 40] where !isKept {
            let duration = Duration.seconds(seconds)
            let engine = RefusingEngine(MemoryEngine())
            let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
            engine.setCommitDuration(duration * 36 / 100)
            let lock = LeaseLock(shared, "l", as: "a", leaseDuration: duration, logger: silent)
            do {
                isKept = try await lock.withLock { _ in
                    try await Task.sleep(for: duration * 3 / 2)
                    return true
                }
            } catch is LeadershipLost {}
            await shared.close()
        }
        #expect(isKept)
    }

    // MARK: End

    /// The lease could not be renewed any more, however long one waits.
    @Test func aLockOfAWorkspaceThatIsClosedEndsAtTheNextRenewal() async throws {
        let workspace = try await Workspace.inMemory()
        let lock = LeaseLock(workspace, "l", as: "a", leaseDuration: .seconds(6), logger: silent)
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let holding = Task {
            try await lock.withLock { _ in
                beginning.yield()
                try await Task.sleep(for: .seconds(600))
            }
        }
        for await _ in begun { break }
        try await workspace.close()
        let error = await #expect(throws: RoostError.self) { try await holding.value }
        #expect(error?.code == .closed)
    }

    /// Also where the work meets that first.
    @Test(arguments: [false, true])
    func whoLeadsAWorkspaceThatIsClosedIsToldBeforeTheLeaseEnds(_ isMetByWork: Bool) async throws {
        let duration = Duration.seconds(12)
        var taken: Duration?
        // A machine that stands still until the lease ends lets nobody be told before: then the next round counts.
        for _ in 0..<3 where taken.map({ $0 >= duration * 9 / 10 }) ?? true {
            taken = try await timeUntilToldOfClosing(duration, isMetByWork)
        }
        #expect(try #require(taken) < duration * 9 / 10)
    }

    /// How long one leads a workspace that was closed.
    private func timeUntilToldOfClosing(
        _ duration: Duration, _ isMetByWork: Bool
    ) async throws -> Duration {
        let workspace = try await Workspace.inMemory()
        let values = workspace.dictionary("values")
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let leadership = Leadership(
            workspace, of: "x", as: "a", leaseDuration: duration, logger: silent
        ) { _ in
            beginning.yield()
            while true {
                try await Task.sleep(for: .milliseconds(10))
                if isMetByWork { try await values.set(1, forKey: "k") }
            }
        }
        let running = Task { try await leadership.run() }
        for await _ in begun { break }
        try await workspace.close()
        let closed = ContinuousClock.now
        let error = await #expect(throws: RoostError.self) { try await running.value }
        let taken = ContinuousClock.now - closed
        #expect(error?.code == .closed && leadership.term == nil)
        return taken
    }
}
