import Roost
import RoostIO
import Synchronization
import Testing

@testable import RoostShared

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}

/// Nobody waits past a deadline, or after a cancellation.
@Suite struct WaitingTests {
    @Test func aTurnIsWaitedForUntilTheDeadline() async throws {
        let turns = ConflictTurns()
        try await turns.take([1])
        for deadline in [ContinuousClock.now, .now + .milliseconds(30)] {
            let error = await #expect(throws: RoostError.self) {
                try await turns.take([1], before: deadline)
            }
            #expect(error?.code == .conflict)
        }
        let cancelled = Task { try await turns.take([1], before: .now + .seconds(600)) }
        cancelled.cancel()
        let error = await #expect(throws: RoostError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        let next = Task { try await turns.take([1], before: .now + .seconds(600)) }
        turns.pass([1])
        try await next.value
        turns.pass([1])
        try await turns.take([1])
    }

    /// Others in other processes are there again at once: who waits longer each time loses until its deadline.
    @Test func whoeverLosesManyTimesIsSoonThereAgain() async throws {
        let engine = HookedEngine()
        // Who waits longer each time would not be done in a day; on a busy machine two seconds may become twenty.
        let shared = try await SharedWorkspace.connect(
            to: .engine(engine), namespace: "test",
            configuration: .init(callDeadline: .seconds(120)))
        let values = shared.dictionary("values")
        try await values.set(1, forKey: "a")
        let lost = Counter()
        engine.set { hooks in
            hooks.commit = { commit in
                // Those that find out what became of another have none.
                guard !commit.guards.isEmpty else { return nil }
                return lost.next() % 60 == 0 ? nil : .conflict
            }
        }
        try await shared.transaction { tx in
            try tx.set(
                try await tx.load("a", as: Int.self, in: values).map { $0 + 1 }, forKey: "a",
                in: values)
        }
        try await values.update("a", default: 0) { $0 += 1 }
        #expect(lost.next() == 121)
        #expect(try await values.load("a", as: Int.self) == 3)
        await shared.close()
    }

    /// The deadline comes while the next attempt is waited for, as that takes longest. A machine that is late with the attempts
    /// themselves makes few of them: such a call says nothing.
    @Test func whoLosesUntilTheDeadlineIsInConflict() async throws {
        let engine = HookedEngine()
        let shared = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let values = shared.dictionary("values")
        try await values.set(1, forKey: "a")
        let attempts = Counter()
        engine.set { hooks in
            hooks.commit = { commit in
                guard !commit.guards.isEmpty else { return nil }
                _ = attempts.next()
                return .conflict
            }
        }
        let brief = shared.withCallDeadline(.milliseconds(200))
        var codes: [RoostError.Code] = []
        // Eight pauses are most of the time.
        for _ in 0..<20 where codes.count < 12 {
            var before = attempts.next()
            let update = await #expect(throws: RoostError.self) {
                try await brief.dictionary("values").update("a", default: 0) { $0 += 1 }
            }
            if let update, attempts.next() - before > 9 { codes.append(update.code) }
            before = attempts.next()
            let transaction = await #expect(throws: RoostError.self) {
                try await brief.transaction { tx in
                    try tx.set(
                        try await tx.load("a", as: Int.self, in: values) ?? 0, forKey: "a",
                        in: values)
                }
            }
            if let transaction, attempts.next() - before > 9 { codes.append(transaction.code) }
        }
        let conflictCount = codes.count { $0 == .conflict }
        #expect(conflictCount * 3 >= codes.count, "\(codes)")
        await shared.close()
    }

    /// A deadline that never comes is one.
    @Test func aCallMayTakeForEver() async throws {
        let shared = try await SharedWorkspace.connect(
            to: .memory(MemoryEngine()), namespace: "test",
            configuration: .init(callDeadline: .seconds(Int64.max)))
        try await shared.dictionary("values").update("a", default: 0) { $0 += 1 }
        let task = Task { try await shared.revision }
        #expect(try await value(of: task, before: shared.callEnd) != nil)
        await shared.close()
    }

    @Test func aTaskIsWaitedForUntilTheDeadline() async throws {
        let task = Task {
            try await Task.sleep(for: .seconds(600))
            return 1
        }
        #expect(try await value(of: task, before: .now + .milliseconds(20)) == nil)
        let waiter = Task { try await value(of: task, before: .now + .seconds(600)) }
        waiter.cancel()
        let error = await #expect(throws: RoostError.self) { try await waiter.value }
        #expect(error?.code == .cancelled)
        task.cancel()
        await #expect(throws: CancellationError.self) {
            try await value(of: task, before: .now + .seconds(600))
        }
        #expect(try await value(of: Task { 2 }, before: .now + .seconds(600)) == 2)
    }
}
