import Roost
import RoostIO

extension SharedWorkspace {
    /// Reads and changes any keys of any dictionaries as if nobody else did anything meanwhile: strictly
    /// serializable, ranges that were read and keys that were absent included.
    ///
    /// Optimistic: the body reads at one revision and its changes stay with it; when it returns they are one
    /// commit, guarded by each key that was read and each range. Where another writer was there first nothing
    /// is changed, and `body` runs again; those of this process that lose wait for each other.
    ///
    /// - Parameter body: what reads and writes. It runs on the caller's actor, may run several times, and must
    ///   not keep the attempt. One that changes nothing never conflicts.
    /// - Returns: what the last run of `body` returned, once the engine's quorum has its changes.
    /// - Throws: what `body` throws, and then nothing is changed; `.tooLarge` where it read or changed more than
    ///   the engine takes at once; `.conflict` where others were first until the deadline; else as `set` of a
    ///   dictionary.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        _ body: nonisolated(nonsending) (SharedTransaction) async throws -> Result
    ) async throws -> Result {
        try await committing(body).result
    }

    /// For code that is generic over workspaces: the engine's quorum has the changes when it returns, whatever
    /// `durability` says.
    @discardableResult
    public nonisolated(nonsending) func transaction<Result: Sendable>(
        durability: Durability?,
        _ body: nonisolated(nonsending) (SharedTransaction) async throws -> Result
    ) async throws -> Result {
        try await committing(body).result
    }

    /// As `transaction`; tells the revision of the commit too, `nil` where nothing was changed.
    nonisolated(nonsending) func committing<Result: Sendable>(
        _ body: nonisolated(nonsending) (SharedTransaction) async throws -> Result
    ) async throws -> (result: Result, revision: UInt64?) {
        let deadline = callEnd
        // What the body sets for a time counts from what the engine says that the time is.
        try await connection.connect(before: deadline)
        var backoff = Backoff.ofConflicts
        var lostCount = 0
        // No key of a namespace is empty, so this is the turn of transactions.
        defer { if lostCount > 2 { connection.turns.pass([]) } }
        while true {
            do {
                let attempt = SharedTransaction(self, isFirst: lostCount == 0, before: deadline)
                let result = try await body(attempt)
                guard let commit = try await attempt.commit() else { return (result, nil) }
                let outcome = try await connection.commit(commit, before: deadline)
                connection.forgetCatalogs(of: attempt, after: outcome)
                if case .committed(let revision) = outcome { return (result, revision) }
            } catch is AttemptLost {}
            if lostCount == 2 { try await connection.turns.take([], before: deadline) }
            lostCount += 1
            try await backoff.wait(before: deadline)
            // Also where the rest of the time was waited for: what is asked then would not be answered in time.
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .conflict,
                    "other writers were first until the call's deadline; nothing is changed")
            }
        }
    }
}

extension SharedConnectionState {
    /// The lists of indexes that an attempt has changed are others by now, and those of one that lost may be.
    func forgetCatalogs(of attempt: SharedTransaction, after outcome: SharedOutcome) {
        catalogs.forget(
            attempt.catalogs.filter { outcome == .conflict || $0.value.isChanged }.keys)
    }
}
