import Logging
import Roost
import RoostServices
import RoostShared
import ServiceLifecycle
import ServiceLifecycleTestKit
import Synchronization
import Testing

@Suite struct LeadershipTests {
    private let engine = MemoryEngine()
    private let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func connect() async throws -> SharedWorkspace {
        try await .connect(to: .memory(engine), namespace: "test")
    }

    /// Who is at work, and the terms in the order in which they began.
    private final class Ledger: Sendable {
        private let state = Mutex((working: 0, terms: [UInt64](), isTorn: false))

        var terms: [UInt64] { state.withLock { $0.terms } }
        var isTorn: Bool { state.withLock { $0.isTorn } }

        func work(in term: UInt64, for duration: Duration? = nil) async throws {
            state.withLock { state in
                state.working += 1
                state.terms.append(term)
                if state.working > 1 { state.isTorn = true }
            }
            defer { state.withLock { $0.working -= 1 } }
            try await Task.sleep(for: duration ?? .seconds(600))
        }
    }

    private func eventually(_ isSo: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while try await !isSo() {
            try #require(ContinuousClock.now < end, "it does not come to that")
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    @Test func whoIsShutDownGivesTheLeadershipToAnotherAtOnce() async throws {
        let ledger = Ledger()
        var candidates: [Leadership] = []
        for name in ["a", "b", "c"] {
            candidates.append(
                Leadership(
                    try await connect(), of: "cleaner", as: name, leaseDuration: .seconds(18),
                    logger: silent
                ) { try await ledger.work(in: $0.number) })
        }
        var running: [String: Task<Void, any Error>] = [:]
        for candidate in candidates {
            running[candidate.candidate] = Task { try await candidate.run() }
        }
        let pause = try await longestPause {
            var last: UInt64 = 0
            for _ in 1...3 {
                var leading: [Leadership] = []
                // One has the lead, and knows of it.
                try await eventually {
                    guard let leader = try await candidates[0].leader() else { return false }
                    leading = candidates.filter { $0.term != nil }
                    return leading.map(\.candidate) == [leader.candidate]
                        && leading[0].term?.number == leader.term
                        && ledger.terms.last == leader.term
                }
                let term = try #require(ledger.terms.last)
                #expect(term > last)
                last = term
                let name = leading[0].candidate
                running[name]?.cancel()
                _ = await running.removeValue(forKey: name)?.result
                #expect(leading.allSatisfy { $0.term == nil })
            }
        }
        // A machine that stands still for about as long as a lease takes the lead from one, rightly.
        if pause < .seconds(5) { #expect(ledger.terms == [1, 2, 3] && !ledger.isTorn) }
        #expect(try await candidates[0].leader() == nil)
    }

    @Test func workThatFailsLetsAnotherLead() async throws {
        struct Failed: Error {}
        let (one, other) = (try await connect(), try await connect())
        let ledger = Ledger()
        let failing = Leadership(
            one, of: "x", as: "failing", leaseDuration: .seconds(10), logger: silent
        ) { _ in throw Failed() }
        let running = Task { try await failing.run() }
        try await eventually { try await one.dictionary("leaderships").contains("x.term") }
        let able = Leadership(
            other, of: "x", as: "able", leaseDuration: .seconds(10), logger: silent
        ) { try await ledger.work(in: $0.number) }
        let working = Task { try await able.run() }
        try await eventually { !ledger.terms.isEmpty }
        // It keeps the lead for longer than a lease is. A machine that lets it wait for as long as that takes the lead
        // from it, rightly: then the next term counts.
        var isKept = false
        for _ in 1...5 where !isKept {
            let count = ledger.terms.count
            try await Task.sleep(for: .seconds(12))
            isKept = ledger.terms.count == count && able.term?.number == ledger.terms.last
        }
        #expect(isKept)
        for task in [running, working] {
            task.cancel()
            _ = await task.result
        }
    }

    /// A leader that was paused for longer than its lease changes nothing in a transaction that confirms its term.
    @Test func aTermThatIsOverIsNotConfirmed() async throws {
        let shared = try await connect()
        let values = shared.dictionary("values")
        let first = Leadership(
            shared, of: "x", as: "first", leaseDuration: .seconds(20), logger: silent)
        let running = Task { try await first.run() }
        var found: Leadership.Term?
        try await eventually {
            found = first.term
            return found != nil
        }
        let term = try #require(found)
        #expect(term.number == 1)
        running.cancel()
        _ = await running.result
        // Nobody else leads yet, so that term counts.
        try await shared.transaction { attempt in
            try await term.confirm(in: attempt)
            try attempt.set(1, forKey: "k", in: values)
        }
        let second = Leadership(
            try await connect(), of: "x", as: "second", leaseDuration: .seconds(20),
            logger: silent)
        let next = Task { try await second.run() }
        try await eventually { second.term?.number == 2 }
        await #expect(throws: LeadershipLost.self) {
            try await shared.transaction { attempt in
                try await term.confirm(in: attempt)
                try attempt.set(2, forKey: "k", in: values)
            }
        }
        #expect(try await values.load("k", as: Int.self) == 1)
        next.cancel()
        _ = await next.result
    }

    /// Its calls are refused as long as the test says so: the work ends before the lease may be another's.
    @Test func whoCannotRenewStopsInTime() async throws {
        var hasEnded = false
        for _ in 0..<5 where !hasEnded {
            let pause = try await longestPause { hasEnded = try await hasEndedBeforeAnother() }
            // The work is cancelled 900 ms before another may lead. A machine that stands still for that long lets the other
            // be first, rightly: then the next round counts.
            if pause < .milliseconds(300) { break }
        }
        #expect(hasEnded)
    }

    /// Whether the work of one that is cut off has ended when another's begins.
    private func hasEndedBeforeAnother() async throws -> Bool {
        let engine = MemoryEngine()
        let refusing = RefusingEngine(engine)
        let ledger = Ledger()
        let one = try await SharedWorkspace.connect(to: .engine(refusing), namespace: "test")
        let two = try await SharedWorkspace.connect(to: .memory(engine), namespace: "test")
        let cutOff = Leadership(
            one, of: "x", as: "cut off", leaseDuration: .seconds(9), logger: silent
        ) { try await ledger.work(in: $0.number) }
        let other = Leadership(
            two, of: "x", as: "other", leaseDuration: .seconds(9), logger: silent
        ) { try await ledger.work(in: $0.number) }
        let running = Task { try await cutOff.run() }
        try await eventually { !ledger.terms.isEmpty }
        let waiting = Task { try await other.run() }
        refusing.setRefusing(true)
        try await eventually { other.term != nil && ledger.terms.last == other.term?.number }
        let hasEnded = ledger.terms == [1, 2] && !ledger.isTorn && cutOff.term == nil
        refusing.setRefusing(false)
        for task in [running, waiting] {
            task.cancel()
            _ = await task.result
        }
        return hasEnded && ledger.terms == [1, 2]
    }
}
