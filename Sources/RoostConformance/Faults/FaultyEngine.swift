import RoostIO
import RoostShared
import Synchronization

/// Another engine with faults: answers that are lost, requests that are lost or come late, connections that
/// break. For checking that what is above an engine finds out and goes on.
public final class FaultyEngine: SharedEngine {
    /// How often, of a thousand calls.
    public struct Rates: Sendable {
        /// The commit is made, and its answer lost.
        public var lostAnswers = 0
        /// The commit is lost.
        public var lostRequests = 0
        /// The commit is made some time after its caller was told that its answer was lost.
        public var lateRequests = 0
        /// Nothing is sent.
        public var unavailable = 0
        /// The commit is made, and its caller told that the space is used up.
        public var lastSpace = 0
        /// The records of all marks are removed before the commit comes.
        public var removedMarks = 0

        public init(
            lostAnswers: Int = 0, lostRequests: Int = 0, lateRequests: Int = 0,
            unavailable: Int = 0, lastSpace: Int = 0, removedMarks: Int = 0
        ) {
            self.lastSpace = lastSpace
            self.removedMarks = removedMarks
            self.lostAnswers = lostAnswers
            self.lostRequests = lostRequests
            self.lateRequests = lateRequests
            self.unavailable = unavailable
        }
    }

    private let engine: any SharedEngine
    private let rates = Mutex(Rates())
    private let chance: Mutex<ChanceNumbers>
    /// How many calls come before the engine cannot be reached; `nil` where it can.
    private let callsLeft = Mutex<Int?>(nil)

    public init(_ engine: any SharedEngine, seed: UInt64) {
        self.engine = engine
        chance = Mutex(ChanceNumbers(seed))
    }

    /// The faults from now on.
    public func set(_ rates: Rates) { self.rates.withLock { $0 = rates } }

    /// After so many calls the engine cannot be reached until `heal()`. A commit that is the last of them is made, and
    /// its answer lost.
    public func cutOff(afterCalls count: Int) { callsLeft.withLock { $0 = count } }

    /// The engine can be reached again.
    public func heal() { callsLeft.withLock { $0 = nil } }

    /// - Returns: whether this is the last call whose request gets there.
    private func passCut() throws -> Bool {
        let left: Int? = callsLeft.withLock { left in
            defer { left = left.map { max(0, $0 - 1) } }
            return left
        }
        if left == 0 { throw RoostError(.unavailable, "a fault: cut off") }
        return left == 1
    }

    public var limits: SharedLimits { engine.limits }

    private func draw(_ limit: Int) -> Int { chance.withLock { $0.below(limit) } }

    public func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        if try passCut() { throw RoostError(.unavailable, "a fault: cut off") }
        if draw(1000) < rates.withLock({ $0.unavailable }) {
            throw RoostError(.unavailable, "a fault")
        }
        return try await engine.read(read, before: deadline)
    }

    public func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        if try passCut() {
            _ = try await engine.commit(commit, before: deadline)
            throw RoostError(.unknownOutcome, "a fault: cut off")
        }
        let rates = rates.withLock { $0 }
        var drawn = draw(1000)
        if drawn < rates.unavailable { throw RoostError(.unavailable, "a fault") }
        drawn -= rates.unavailable
        if drawn >= 0, drawn < rates.lostAnswers {
            _ = try await engine.commit(commit, before: deadline)
            throw RoostError(.unknownOutcome, "a fault: the answer was lost")
        }
        drawn -= rates.lostAnswers
        if drawn >= 0, drawn < rates.lostRequests {
            throw RoostError(.unknownOutcome, "a fault: the request was lost")
        }
        drawn -= rates.lostRequests
        if drawn >= 0, drawn < rates.lateRequests {
            let delay = Duration.milliseconds(draw(30))
            let engine = engine
            Task {
                try await Task.sleep(for: delay)
                _ = try await engine.commit(commit, before: deadline)
            }
            throw RoostError(.unknownOutcome, "a fault: the request is late")
        }
        drawn -= rates.lateRequests
        if drawn >= 0, drawn < rates.lastSpace {
            // Where a guard does not hold, etcd says the same.
            _ = try await engine.commit(commit, before: deadline)
            throw RoostError(.outOfSpace, "a fault: the space is used up")
        }
        drawn -= rates.lastSpace
        if drawn >= 0, drawn < rates.removedMarks, let mark = commit.mark {
            try await removeMarks(like: mark.key, before: deadline)
        }
        return try await engine.commit(commit, before: deadline)
    }

    private func removeMarks(
        like key: [UInt8], before deadline: ContinuousClock.Instant
    ) async throws {
        guard let range = SharedKeys.marks(of: key) else { return }
        _ = try await engine.commit(
            SharedCommit(operations: [.removeRange(range)]), before: deadline)
    }

    public func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        let source = engine.watch(range, after: revision)
        guard rates.withLock({ $0.unavailable }) > 0 else { return source }
        let (events, told) = SharedEvents.make()
        let count = draw(20)
        let task = Task {
            do {
                var left = count
                for try await event in source {
                    guard left > 0 else {
                        return told.end(RoostError(.unavailable, "a fault: the stream broke"))
                    }
                    left -= 1
                    told.tell(event)
                }
                told.end(nil)
            } catch { told.end(error) }
        }
        told.onEnd { task.cancel() }
        return events
    }

    public func clockMilliseconds(
        before deadline: ContinuousClock.Instant
    ) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    public func close() async { await engine.close() }
}
