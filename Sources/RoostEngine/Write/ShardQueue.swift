import RoostFormat
import RoostIO
import Synchronization

// Who comes before whom in one shard. docs/decisions/0075.
//
// - What conflicts with a staged batch, or with somebody in the queue, takes a place at the queue's end;
//   what conflicts with neither is done at once. So of two that conflict the one that came first is
//   first, and nobody waits for ever.
// - Whoever takes places in several shards takes them in ascending order, and waits in one before taking
//   a place in the next: two never wait for each other.
// - Whoever removes what others wait for makes the changes that wait for nothing else then. They are not
//   woken to make them: a task that is woken may be long in coming, and all others would wait for it.

extension Shard {
    // MARK: The turn

    /// Calls `body` with the turn, and afterwards, without it, tells others what came of it.
    nonisolated func withTurn<Result: Sendable, Failure: Error>(
        _ body: (inout ShardTurn) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var afterwards = ShardTurn.Afterwards()
        defer { tell(afterwards) }
        return try turn.withLock { turn throws(Failure) in
            defer { swap(&afterwards, &turn.afterwards) }
            return try body(&turn)
        }
    }

    nonisolated func tell(_ afterwards: ShardTurn.Afterwards) {
        if afterwards.isEmpty { return }
        for call in afterwards.calls { call() }
        for lost in afterwards.lost { tellLost(lost) }
    }

    /// Makes a change once nothing comes before it that conflicts with `claim`. `change` may be called on
    /// another thread, with the turn.
    ///
    /// - Throws: what `change` throws; `.cancelled`, with nothing done, where the task is cancelled while
    ///   it waits.
    nonisolated(nonsending) func inTurn<Result: Sendable>(
        _ claim: @autoclosure () -> Claim,
        _ change: @escaping @Sendable (inout ShardTurn) throws -> Result
    ) async throws -> Result {
        let claim = claim()
        let done: Result? = try withTurn { turn in
            foldResolved(&turn)
            return isBlocked(claim, turn) ? nil : try change(&turn)
        }
        if let done { return done }
        return try await waiting { number, isCancelled, continuation in
            let make: @Sendable (inout ShardTurn) -> Void = { turn in
                let outcome = Swift.Result { try change(&turn) }
                turn.afterwards.calls.append { continuation.resume(with: outcome) }
            }
            return withTurn { turn in
                foldResolved(&turn)
                if !isBlocked(claim, turn) { return make(&turn) }
                let cancel = Self.cancel(continuation)
                if isCancelled() { return turn.afterwards.calls.append(cancel) }
                turn.add(claim, .change(make, cancel: cancel), number: number)
            }
        }
    }

    /// Suspends until the continuation is resumed that `begin` gets, with the number of a place that it
    /// may take. Where the task is cancelled, the place is given back; `begin` asks with the turn whether
    /// it was cancelled before there was one.
    private nonisolated(nonsending) func waiting<Result: Sendable>(
        _ begin: (
            _ number: UInt64, _ isCancelled: () -> Bool,
            _ continuation: CheckedContinuation<Result, any Error>
        ) -> Void
    ) async throws -> Result {
        let number = turn.withLock { $0.newNumber() }
        let isCancelled = Mutex(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                begin(number, { isCancelled.withLock { $0 } }, continuation)
            }
        } onCancel: {
            withTurn { turn in
                isCancelled.withLock { $0 = true }
                removePlace(number, &turn)
            }
        }
    }

    private static func cancel<Result>(
        _ continuation: CheckedContinuation<Result, any Error>
    ) -> @Sendable () -> Void {
        { continuation.resume(throwing: Self.cancellation) }
    }

    private static var cancellation: RoostError {
        RoostError(.cancelled, "the task was cancelled while it waited")
    }

    // MARK: What comes first

    /// Whether a staged batch or somebody in the queue, but for the place `own`, comes before who has
    /// this claim.
    nonisolated func isBlocked(
        _ claim: Claim, own: UInt64 = 0, _ turn: borrowing ShardTurn
    ) -> Bool {
        turn.isContended && isBlocked(claim, behind: turn.queue.count, own: own, turn)
    }

    /// As above; of the queue only the first places count.
    private nonisolated func isBlocked(
        _ claim: Claim, behind count: Int, own: UInt64 = 0, _ turn: borrowing ShardTurn
    ) -> Bool {
        for index in 0..<count
        where turn.queue[index].number != own && turn.queue[index].claim.blocks(claim) {
            return true
        }
        return turn.hasStaged
            && published.withLock { state in state.staged.contains { $0.claim.blocks(claim) } }
    }

    /// As above, for a change of one key.
    nonisolated func isBlocked(
        _ key: UnsafeRawBufferPointer, hash: UInt64, rests: Bool = false,
        _ turn: borrowing ShardTurn
    ) -> Bool {
        for index in turn.queue.indices
        where turn.queue[index].claim.blocks(key, hash: hash, rests: rests) {
            return true
        }
        return turn.hasStaged
            && published.withLock { state in
                state.staged.contains { $0.claim.blocks(key, hash: hash, rests: rests) }
            }
    }

    // MARK: Letting others go on

    /// Moves what is committed into the table, forgets what is aborted, and lets others go on.
    nonisolated func foldResolved() { withTurn { foldResolved(&$0) } }

    nonisolated func foldResolved(_ turn: inout ShardTurn) {
        guard turn.hasStaged else { return }
        let (resolvedCount, remaining) = published.withLock { state in
            (state.foldResolved(), state.staged.count)
        }
        turn.hasStaged = remaining > 0
        if resolvedCount > 0 { advance(&turn) }
    }

    /// Makes the changes in the queue that nothing comes before any more, and tells the transactions.
    nonisolated func advance(_ turn: inout ShardTurn) {
        turn.resolutionCount += 1
        for waiter in turn.waiters { turn.afterwards.calls.append { waiter.resume() } }
        turn.waiters.removeAll()
        var index = 0
        while index < turn.queue.count {
            let place = turn.queue[index]
            if case .held = place.kind {
                index += 1
                continue
            }
            if isBlocked(place.claim, behind: index, turn) {
                index += 1
                continue
            }
            switch place.kind {
            case .held: break
            case .change(let change, _):
                turn.queue.remove(at: index)
                change(&turn)
            case .waiting(let proceed, _):
                turn.queue[index].kind = .held
                turn.afterwards.calls.append(proceed)
                index += 1
            case .enqueued(let writes):
                turn.queue.remove(at: index)
                // Forgotten before anything that comes after them is made, which readers would find below them.
                commitEnqueued(writes, &turn)
            }
        }
    }

    /// Returns once something was resolved or given back since `resolutionCount` was `count`: between a
    /// caller's look and this call others may have run.
    func waitForResolution(since count: Int) async {
        await withCheckedContinuation { continuation in
            let isOver = turn.withLock { turn in
                if turn.resolutionCount == count { turn.waiters.append(continuation) }
                return turn.resolutionCount != count
            }
            if isOver { continuation.resume() }
        }
    }

    // MARK: A transaction's place

    /// Takes a place in the queue; returns its number once nothing before it conflicts with `claim`. From
    /// then on nobody changes what it claims until the place is given back.
    ///
    /// - Throws: `.cancelled` where the task is cancelled meanwhile; the place is given back then.
    nonisolated(nonsending) func takePlace(_ claim: Claim) async throws -> UInt64 {
        try await waiting { number, isCancelled, continuation in
            let proceed: @Sendable () -> Void = { continuation.resume(returning: number) }
            let cancel = Self.cancel(continuation)
            withTurn { turn in
                if isCancelled() { return turn.afterwards.calls.append(cancel) }
                foldResolved(&turn)
                let isBlocked = isBlocked(claim, turn)
                turn.add(
                    claim, isBlocked ? .waiting(proceed, cancel: cancel) : .held, number: number)
                if !isBlocked { turn.afterwards.calls.append(proceed) }
            }
        }
    }

    /// Makes a change, as `inTurn`, that rests on what is so only until `deadline`; `nil`, with nothing
    /// done, where that is past. The clock may be anybody's code, so it is asked without the turn, in a
    /// place that keeps others away meanwhile.
    ///
    /// - Throws: what `change` throws; `.cancelled`, with nothing done, where the task is cancelled before
    ///   it has its place.
    nonisolated(nonsending) func inOwnPlace<Result: Sendable>(
        _ claim: Claim, until deadline: Deadline,
        _ change: @Sendable (inout ShardTurn) throws -> Result
    ) async throws -> Result? {
        let place = try await takePlace(claim)
        defer { giveBack(place) }
        guard clock.isLive(deadline) else { return nil }
        return try withTurn { turn in
            // A task that is cancelled between its place's turn and its own going on has lost the place, and others
            // may have come first.
            guard turn.holdsPlace(place) else { throw Self.cancellation }
            return try change(&turn)
        }
    }

    /// Gives a place back; nothing where it was given back before.
    nonisolated func giveBack(_ number: UInt64) { withTurn { removePlace(number, &$0) } }

    private nonisolated func removePlace(_ number: UInt64, _ turn: inout ShardTurn) {
        guard let index = turn.queue.firstIndex(where: { $0.number == number }) else { return }
        switch turn.queue.remove(at: index).kind {
        case .change(_, let cancel), .waiting(_, let cancel): turn.afterwards.calls.append(cancel)
        case .held, .enqueued: break
        }
        advance(&turn)
    }

}
