import RoostIO

// Commits, each with a mark by which its outcome is found out.

extension SharedConnectionState {
    /// Makes a commit, and finds out what became of it where its answer was lost.
    ///
    /// - Returns: `.conflict` only where a guard of `commit` itself did not hold: a mark that is no longer what it
    ///   was is given up, and the commit made again with another one.
    /// - Throws: `.unknownOutcome` only where that could not be found out until `deadline`, or soon after the caller's
    ///   task was cancelled.
    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try await connect(before: deadline)
        try checkLimits(commit)
        clock.keepAdjusted(to: engine)
        var backoff = Backoff()
        while true {
            try checkCancellation()
            // What is sent then would hardly be answered in time, and be an outcome that nobody knows.
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .unavailable,
                    "the call's time was over before the write was sent: nothing is changed")
            }
            let (slot, value) = marks.take()
            switch try await attempt(commit, slot, value, before: deadline) {
            case .made(let revision): return .committed(revision: revision)
            case .fenced: break
            case .strange: _ = try await format.restore(engine, before: deadline)
            case .untouched:
                // What did not hold may be that the store is as it was when it was connected to.
                if slot.isNew, try await format.restore(engine, before: deadline) { break }
                if !commit.guards.isEmpty { return .conflict }
            }
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .unavailable, "the engine did not take the write within the deadline")
            }
            try await backoff.wait(before: deadline)
        }
    }

    private func attempt(
        _ commit: SharedCommit, _ slot: CommitMarks.Slot, _ value: [UInt8],
        before deadline: ContinuousClock.Instant
    ) async throws -> MarkState {
        var marked = commit
        marked.mark = SharedMark(key: slot.key, revision: slot.revision, value: value)
        marked.guards += conditions(of: slot)
        if !hasRoom(for: marked) { marked.guards = commit.guards }
        let begin = ContinuousClock.now
        do {
            if case .committed(let revision) = try await engine.commit(marked, before: deadline) {
                marks.giveBack(slot, setBy: revision)
                return .made(revision: revision)
            }
        } catch let error as RoostError
            where error.code == .unknownOutcome || error.code == .outOfSpace
        {
            return try await Self.value(
                ofFinding: Task {
                    error.code == .outOfSpace
                        ? try await self.lookAgain(slot, value, before: deadline, because: error)
                        : try await self.findOut(
                            slot, value, since: begin, before: deadline, because: error)
                })
        } catch {
            // It was not made and never will be, so the record is as it was.
            marks.giveBack(slot)
            throw error
        }
        return try await state(of: slot, value, before: deadline)
    }

    /// In a store that was emptied since it was connected to, the guard of a mark holds where that is new.
    private func conditions(of slot: CommitMarks.Slot) -> [SharedGuard] {
        slot.isNew ? [format.condition].compactMap(\.self) : []
    }

    /// Makes changes of dictionaries by their keys, which nothing is a condition of.
    ///
    /// - Returns: the revision.
    @discardableResult
    func write(
        _ operations: [SharedOperation], byKeysOf dictionaries: [String],
        before deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        let commit = SharedCommit(operations: operations)
        guard
            case .committed(let revision) = try await self.commit(
                commit, byKeysOf: dictionaries, before: deadline)
        else {
            preconditionFailure("a commit without guards has nothing to conflict with")
        }
        return revision
    }

    // MARK: Finding out

    /// How long a cancelled call goes on asking what became of its write. An engine that answers has said so by then.
    private static let cancelledLimit = Duration.seconds(1)

    /// Finding out is in a task of its own, as it has to be done after a cancellation too; but whoever has cancelled the
    /// call does not wait until its deadline for an engine that says nothing.
    private static func value(
        ofFinding finding: Task<MarkState, any Error>
    ) async throws -> MarkState {
        try await withTaskCancellationHandler {
            try await finding.value
        } onCancel: {
            Task {
                try await Task.sleep(for: cancelledLimit)
                finding.cancel()
            }
        }
    }

    /// What the record of a mark says of the commit that was to set it.
    private enum MarkState {
        case made(revision: UInt64)
        /// It was not made, and never will be.
        case fenced
        /// It is what the commit was guarded by.
        case untouched
        /// Neither: somebody else removed it, or the engine has lost commits. Nobody can tell.
        case strange
    }

    /// Reads a mark whose commit is over. The slot is given back where the record is what it then says.
    private func state(
        of slot: CommitMarks.Slot, _ value: [UInt8], before deadline: ContinuousClock.Instant
    ) async throws -> MarkState {
        var backoff = Backoff()
        while true {
            do {
                let (record, _) = try await record(slot.key, before: deadline)
                if let record, record.value == value {
                    marks.giveBack(slot, setBy: record.revision)
                    return .made(revision: record.revision)
                }
                guard record?.revision ?? 0 == slot.revision else { return .strange }
                marks.giveBack(slot)
                return .untouched
            } catch let error as RoostError where error.code == .unavailable {
                guard ContinuousClock.now < deadline else { throw error }
                try await backoff.wait(before: deadline)
            }
        }
    }

    /// Of a commit of which the engine said that its space is used up: it may have made it all the same, as etcd does
    /// with the one that uses it up, but will not later.
    ///
    /// - Throws: `cause` where it was not made.
    private func lookAgain(
        _ slot: CommitMarks.Slot, _ value: [UInt8], before deadline: ContinuousClock.Instant,
        because cause: RoostError
    ) async throws -> MarkState {
        let state: MarkState
        do { state = try await self.state(of: slot, value, before: deadline) } catch {
            throw unknown(error as? RoostError ?? cause)
        }
        switch state {
        case .made: return state
        case .untouched, .fenced: throw cause
        case .strange: throw unknown(cause)
        }
    }

    /// Makes sure that a commit whose answer was lost was made, or never will be. Not once the engine may have removed the
    /// record, as it lives no longer than it does: that there is none says nothing then.
    private func findOut(
        _ slot: CommitMarks.Slot, _ value: [UInt8], since begin: ContinuousClock.Instant,
        before deadline: ContinuousClock.Instant, because cause: RoostError
    ) async throws -> MarkState {
        let fence = value + Array("/fence".utf8)
        var cause = cause
        var backoff = Backoff()
        let end = min(deadline, begin + marks.lifetime / 2)
        while ContinuousClock.now < end {
            do {
                let (record, _) = try await record(slot.key, before: end)
                if let record, record.value == fence || record.value == value {
                    marks.giveBack(slot, setBy: record.revision)
                    return record.value == value ? .made(revision: record.revision) : .fenced
                }
                guard record?.revision ?? 0 == slot.revision else { break }
                let mark = SharedMark(key: slot.key, revision: slot.revision, value: fence)
                if case .committed(let revision) = try await engine.commit(
                    SharedCommit(guards: conditions(of: slot), mark: mark), before: end)
                {
                    guard ContinuousClock.now < begin + marks.lifetime else { break }
                    marks.giveBack(slot, setBy: revision)
                    return .fenced
                }
                // Something was first: the record says what, unless the store was emptied.
                try await backoff.wait(before: end)
            } catch let error as RoostError {
                cause = error
                guard [.unavailable, .unknownOutcome, .outOfSpace].contains(error.code) else {
                    break
                }
                do { try await backoff.wait(before: end) } catch { break }
            } catch is CancellationError {
                break
            }
        }
        throw unknown(cause)
    }

    private func unknown(_ cause: RoostError) -> RoostError {
        let limit =
            Task.isCancelled ? "soon after the call was cancelled" : "within the deadline"
        return RoostError(
            .unknownOutcome,
            "whether the write was made could not be found out \(limit): read before it is repeated",
            cause: cause)
    }
}
