import RoostIO
import Synchronization

/// The marks of one client, which its commits take in turn.
///
/// - A mark belongs to one commit at a time, and comes back only when that commit's outcome is known; so its
///   record says of the last commit whether it was made.
/// - One that was not used for longer than half of what the engine keeps it is not used again.
final class CommitMarks: Sendable {
    struct Slot: Sendable {
        let key: [UInt8]
        /// What set its record last; zero where it has none.
        var revision: UInt64 = 0
        var lastUse = ContinuousClock.now
    }

    private struct State {
        var free: [Slot] = []
        var count = 0
        var commitCount: UInt64 = 0
    }

    private let keys: SharedKeys
    /// Chosen anew by each client, so that no two have marks in common.
    private let client: String
    private let state = Mutex(State())

    init(_ keys: SharedKeys) {
        self.keys = keys
        client = String(UInt128.random(in: 0 ... .max), radix: 36)
    }

    /// A mark, and a value that no commit has had.
    func take() -> (slot: Slot, value: [UInt8]) {
        state.withLock { state in
            state.commitCount += 1
            let value = Array("\(client)/\(state.commitCount)".utf8)
            while let slot = state.free.popLast() {
                if ContinuousClock.now - slot.lastUse < SharedMark.lifetime / 2 {
                    return (slot, value)
                }
            }
            state.count += 1
            return (Slot(key: keys.mark(client, state.count)), value)
        }
    }

    func giveBack(_ slot: Slot, setBy revision: UInt64? = nil) {
        var slot = slot
        if let revision {
            slot.revision = revision
            slot.lastUse = .now
        }
        state.withLock { $0.free.append(slot) }
    }
}

extension SharedConnectionState {
    /// Makes a commit, and finds out what became of it where its answer was lost.
    ///
    /// - Throws: `.unknownOutcome` only where that could not be found out until `deadline`.
    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try checkLimits(commit)
        while true {
            try checkCancellation()
            let (slot, value) = marks.take()
            var marked = commit
            marked.mark = SharedMark(key: slot.key, revision: slot.revision, value: value)
            do {
                let outcome = try await engine.commit(marked, before: deadline)
                switch outcome {
                case .committed(let revision): marks.giveBack(slot, setBy: revision)
                case .conflict: marks.giveBack(slot)
                }
                return outcome
            } catch let error as RoostError where error.code == .unknownOutcome {
                // In a task of its own, as it has to be found out after a cancellation too.
                let found = try await Task {
                    try await self.findOut(slot, value, before: deadline, because: error)
                }.value
                if let revision = found { return .committed(revision: revision) }
            } catch {
                // It was not made and never will be, so the record is as it was.
                marks.giveBack(slot)
                throw error
            }
        }
    }

    /// The revision of the commit that left `value` in the mark's record; `nil` where it was not made, and by
    /// then never will be.
    private func findOut(
        _ slot: CommitMarks.Slot, _ value: [UInt8], before deadline: ContinuousClock.Instant,
        because cause: RoostError
    ) async throws -> UInt64? {
        let fence = value + Array("/fence".utf8)
        var backoff = Backoff()
        while ContinuousClock.now < deadline {
            do {
                let mark = SharedMark(key: slot.key, revision: slot.revision, value: fence)
                if case .committed(let revision) = try await engine.commit(
                    SharedCommit(mark: mark), before: deadline)
                {
                    marks.giveBack(slot, setBy: revision)
                    return nil
                }
                let (record, _) = try await record(slot.key, before: deadline)
                guard let record else { break }
                if record.value == fence || record.value == value {
                    marks.giveBack(slot, setBy: record.revision)
                    return record.value == value ? record.revision : nil
                }
                break
            } catch let error as RoostError
                where error.code == .unavailable || error.code == .unknownOutcome
            {
                try await backoff.wait(before: deadline)
            }
        }
        throw RoostError(
            .unknownOutcome,
            "the engine could not be asked within the deadline whether the write was made: read before it is repeated",
            cause: cause)
    }
}
