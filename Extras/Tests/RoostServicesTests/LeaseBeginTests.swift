import Foundation
import Logging
import Roost
import RoostServices
import RoostShared
import Synchronization
import Testing

/// When a lease begins.
@Suite(.timeLimit(.minutes(5))) struct LeaseBeginTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func eventually(_ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isSo() {
            try #require(ContinuousClock.now < end, "it does not come to that")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

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
        let lock = LeaseLock(
            try await contended(), "l", as: "a", leaseDuration: .seconds(5), logger: silent)
        let term = try await lock.withLock { term in
            #expect(!Task.isCancelled)
            return term.number
        }
        #expect(term == 1)
    }

    @Test func aLeadershipThatOthersWereFirstAtForLongCountsFromWhenItWasTaken() async throws {
        let leadership = Leadership(
            try await contended(), of: "x", as: "a", leaseDuration: .seconds(5), logger: silent)
        let running = Task { try await leadership.run() }
        try await eventually { leadership.term != nil }
        #expect(leadership.term?.number == 1)
        running.cancel()
        _ = await running.result
    }
}
