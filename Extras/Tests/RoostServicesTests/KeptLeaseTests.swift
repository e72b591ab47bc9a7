import Foundation
import Logging
import Roost
import RoostServices
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

/// A lock and a leadership are one's own until the work has ended, however it is told to end.
@Suite(.timeLimit(.minutes(10))) struct KeptLeaseTests {
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    enum End: CaseIterable {
        case cancellation, shutdown
    }

    /// Work that does not heed its cancellation.
    private final class Stay: Sendable {
        private let state = Mutex((hasBegun: false, mayEnd: false))

        var hasBegun: Bool { state.withLock { $0.hasBegun } }

        func callAsFunction() async {
            state.withLock { $0.hasBegun = true }
            await Task {
                while !state.withLock({ $0.mayEnd }) {
                    try? await Task.sleep(for: .milliseconds(2))
                }
            }.value
        }

        func end() { state.withLock { $0.mayEnd = true } }
    }

    /// Whether it comes to that within a minute.
    private func holds(_ condition: () async throws -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(60)
        while try await !condition() {
            if ContinuousClock.now > end { return false }
            try await Task.sleep(for: .milliseconds(2))
        }
        return true
    }

    /// Has the first of two tasks told to end while its work goes on, and looks for several leases' time whether the
    /// other begins. Time goes on only once the lease was renewed, so that no pause of this machine ends it.
    private func check(
        _ end: End, leaseIn dictionary: String,
        _ contend: @escaping @Sendable (Workspace, String, Stay) async throws -> Void
    ) async throws {
        let time = SettableTime()
        let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
        let leases = workspace.dictionary(dictionary)
        let (first, second) = (Stay(), Stay())
        let waiting = try await testGracefulShutdown { trigger in
            let running = Task { try await contend(workspace, "first", first) }
            #expect(try await holds { first.hasBegun })
            // Not in the group that is shut down.
            let waiting = Task.detached { try await contend(workspace, "second", second) }
            switch end {
            case .cancellation: running.cancel()
            case .shutdown: trigger.triggerGracefulShutdown()
            }
            for step in 1...6 {
                time.advance(by: .milliseconds(200))
                let isRenewed = try await holds {
                    let rest = try leases.remainingTime(forKey: "x.lease")
                    return second.hasBegun || rest.map { $0 > .milliseconds(250) } ?? false
                }
                #expect(isRenewed && !second.hasBegun, "step \(step)")
                if !isRenewed || second.hasBegun { break }
            }
            first.end()
            _ = await running.result
            return waiting
        }
        #expect(try await holds { second.hasBegun })
        second.end()
        waiting.cancel()
        _ = await waiting.result
        try await workspace.close()
    }

    @Test(arguments: End.allCases) func aLockIsKeptUntilItsBodyEnds(_ end: End) async throws {
        try await check(end, leaseIn: "locks") { workspace, name, stay in
            let lock = LeaseLock(
                workspace, "x", as: name, leaseDuration: .milliseconds(300), logger: silent)
            try await lock.withLock { _ in await stay() }
        }
    }

    @Test(arguments: End.allCases) func oneLeadsUntilItsWorkEnds(_ end: End) async throws {
        try await check(end, leaseIn: "leaderships") { workspace, name, stay in
            let leadership = Leadership(
                workspace, of: "x", as: name, leaseDuration: .milliseconds(300), logger: silent
            ) { _ in await stay() }
            try await leadership.run()
        }
    }
}
