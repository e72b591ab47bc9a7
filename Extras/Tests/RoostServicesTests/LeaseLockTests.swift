import Foundation
import Logging
import Roost
import RoostServices
import RoostShared
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct LeaseLockTests {
    private let engine = MemoryEngine()
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    private func lock(
        _ workspace: some KeyValueWorkspace, as holder: String,
        leaseDuration: Duration = .seconds(60)
    ) -> LeaseLock {
        LeaseLock(workspace, "l", as: holder, leaseDuration: leaseDuration, logger: silent)
    }

    /// Says when it has begun, and ends when it is told to.
    private final class Stay: Sendable {
        private let state = Mutex((hasBegun: false, mayEnd: false))

        func callAsFunction() async throws {
            state.withLock { $0.hasBegun = true }
            while !state.withLock({ $0.mayEnd }) { try await Task.sleep(for: .milliseconds(2)) }
        }

        func begun() async throws {
            while !state.withLock({ $0.hasBegun }) { try await Task.sleep(for: .milliseconds(2)) }
        }

        func end() { state.withLock { $0.mayEnd = true } }
    }

    /// Whether somebody is inside.
    private final class Flag: Sendable {
        private let state = Mutex(false)

        var isSet: Bool { state.withLock { $0 } }

        /// What it was.
        @discardableResult func set(_ isSet: Bool) -> Bool {
            state.withLock { state in
                defer { state = isSet }
                return state
            }
        }
    }

    /// What is read and written again later without a transaction counts right under a lock.
    @Test func atMostOneHoldsIt() async throws {
        let isHeld = Flag()
        let terms = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for client in 0..<4 {
                group.addTask {
                    let workspace = try await connect()
                    let counts = workspace.dictionary("counts")
                    let lock = lock(workspace, as: "\(client)")
                    var terms: [UInt64] = []
                    for _ in 0..<5 {
                        let term = try await lock.withLock { term in
                            let wasHeld = isHeld.set(true)
                            #expect(!wasHeld)
                            let count = try await counts.load("n", as: Int.self) ?? 0
                            try await Task.sleep(for: .milliseconds(3))
                            try await counts.set(count + 1, forKey: "n")
                            isHeld.set(false)
                            return term.number
                        }
                        terms.append(term)
                    }
                    #expect(terms == terms.sorted())
                    return terms
                }
            }
            return try await group.reduce([], +)
        }
        #expect(terms.sorted() == Array(1...20))
        #expect(try await connect().dictionary("counts").load("n", as: Int.self) == 20)
        #expect(try await lock(connect(), as: "x").holder() == nil)
    }

    @Test func whoDoesNotWaitIsToldWhoHoldsIt() async throws {
        let stay = Stay()
        let (first, second) = (try await connect(), try await connect())
        let holding = Task { [lock = lock(first, as: "first")] in
            try await lock.withLock { _ in try await stay() }
        }
        try await stay.begun()
        for limit in [Duration.zero, .milliseconds(30)] {
            let error = await #expect(throws: RoostError.self) {
                try await lock(second, as: "second").withLock(waitingAtMost: limit) { _ in }
            }
            #expect(error?.code == .locked && error?.message.contains("first") == true)
        }
        #expect(try await lock(second, as: "second").holder()?.candidate == "first")
        stay.end()
        try await holding.value
        let term = try await lock(second, as: "second").withLock(waitingAtMost: .zero) {
            $0.number
        }
        #expect(term == 2)
    }

    @Test func whatTheBodyThrowsIsThrownAndTheLockIsFree() async throws {
        struct Failed: Error {}
        let workspace = try await Workspace.inMemory()
        await #expect(throws: Failed.self) {
            try await lock(workspace, as: "a").withLock { _ in throw Failed() }
        }
        let found: Int? = try await lock(workspace, as: "b").withLock(waitingAtMost: .zero) { _ in
            nil
        }
        #expect(found == nil)
    }

    @Test func cancellationEndsTheWaitingAndReachesTheBody() async throws {
        let stay = Stay()
        let workspace = try await connect()
        let holding = Task { [lock = lock(workspace, as: "a")] in
            try await lock.withLock { _ in try await stay() }
        }
        try await stay.begun()
        let waiting = Task { [lock = lock(workspace, as: "b")] in
            try await lock.withLock { _ in Issue.record("it is held") }
        }
        try await Task.sleep(for: .milliseconds(20))
        waiting.cancel()
        let error = await #expect(throws: RoostError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        holding.cancel()
        await #expect(throws: CancellationError.self) { try await holding.value }
        try await lock(workspace, as: "c").withLock(waitingAtMost: .zero) { _ in }
    }

    /// A body that does not heed its cancellation gives its result, and has the lock until then.
    @Test func whoIsCancelledMayStillEnd() async throws {
        let stay = Stay()
        let workspace = try await connect()
        let holding = Task { [lock = lock(workspace, as: "a")] in
            try await lock.withLock { _ in
                await Task { try? await stay() }.value
                return 5
            }
        }
        try await stay.begun()
        holding.cancel()
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await lock(workspace, as: "b").holder()?.candidate == "a")
        stay.end()
        #expect(try await holding.value == 5)
        #expect(try await lock(workspace, as: "b").holder() == nil)
    }

    /// It is renewed for as long as the body runs.
    @Test func aLongBodyKeepsIt() async throws {
        let workspace = try await connect()
        let other = try await connect()
        var isKept = false
        // A machine that stands still for as long as a lease takes the lock from it, rightly: then the next round counts.
        for _ in 0..<5 where !isKept {
            let stay = Stay()
            let holding = Task { [lock = lock(workspace, as: "a", leaseDuration: .seconds(3))] in
                try await lock.withLock { _ in try await stay() }
            }
            try await stay.begun()
            do {
                try await lock(other, as: "b", leaseDuration: .seconds(3))
                    .withLock(waitingAtMost: .seconds(5)) { _ in }
            } catch let error as RoostError where error.code == .locked { isKept = true }
            stay.end()
            do { try await holding.value } catch is LeadershipLost { isKept = false }
        }
        #expect(isKept)
    }

    /// Its calls are refused: the body is cancelled before another gets the lock, and what it gives does not count.
    @Test func whoIsCutOffLosesIt() async throws {
        var hasEnded = false
        for _ in 0..<5 where !hasEnded {
            let pause = try await longestPause { hasEnded = try await hasEndedBeforeAnother() }
            // The body is cancelled 300 ms before another may have the lock. A machine that stands still for that long lets
            // the other be first, rightly: then the next round counts.
            if pause < .milliseconds(100) { break }
        }
        #expect(hasEnded)
    }

    /// Whether the body of one that is cut off has ended once another has the lock.
    private func hasEndedBeforeAnother() async throws -> Bool {
        let engine = MemoryEngine()
        let refusing = RefusingEngine(engine)
        let cutOff = try await SharedWorkspace.connect(to: .engine(refusing), namespace: "test")
        let other = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        let (hasBegun, isInside) = (Flag(), Flag())
        let holding = Task { [lock = lock(cutOff, as: "a", leaseDuration: .seconds(3))] in
            try await lock.withLock { _ in
                isInside.set(true)
                hasBegun.set(true)
                do { try await Task.sleep(for: .seconds(600)) } catch {}
                isInside.set(false)
            }
        }
        while !hasBegun.isSet { try await Task.sleep(for: .milliseconds(2)) }
        refusing.setRefusing(true)
        let hasEnded = try await lock(other, as: "b", leaseDuration: .seconds(3)).withLock { term in
            #expect(term.number == 2)
            return !isInside.isSet
        }
        refusing.setRefusing(false)
        await #expect(throws: LeadershipLost.self) { try await holding.value }
        return hasEnded
    }
}
