import Roost
import RoostIO
import Synchronization

/// How far a followed dictionary is.
///
/// - `revision` only grows, but where the engine was set up anew, and is stored only once the local workspace shows what belongs to it.
/// - `hasLost` from when the engine was found to have fewer commits than that, until everything is loaded anew: once it
///   has made others in their place, nothing else tells.
/// - Whoever changes the values here, or looks at what of the engine they are, has the turn. Once it `hasEnded` nobody does:
///   they are left to who follows next.
/// - One at a time looks whether the engine has anything newer, for all that wait.
final class FollowState: Sendable {
    /// Of the local workspace: the names of those that have to be loaded anew.
    static let lossesName = "followed-lost"

    /// Until the engine has said how far it is, what is here may be of any age.
    private let current = Mutex<(revision: UInt64, heard: ContinuousClock.Instant)>(
        (0, .now - .seconds(1 << 30)))
    private let kept = Mutex<(revision: UInt64, instant: ContinuousClock.Instant)>((0, .now))
    private let lastFailure = Mutex<(any Error)?>(nil)
    private let isLost = Atomic<Bool>(false)
    private let isOver = Atomic<Bool>(false)
    private let restarts = Atomic<Int>(0)
    private let lastTurn = Mutex<Task<Void, Never>?>(nil)

    private let look = Mutex<(isUnderWay: Bool, failure: RoostError?)>((false, nil))

    var failure: (any Error)? { lastFailure.withLock { $0 } }

    func note(_ error: (any Error)?) { lastFailure.withLock { $0 = error } }

    var hasLost: Bool { isLost.load(ordering: .relaxed) }

    func noteLoss() { isLost.store(true, ordering: .relaxed) }

    /// Whether nobody follows any more.
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    /// Nothing is brought here any more. Who has the turn now may be about to: to be waited for by taking one.
    func end() { isOver.store(true, ordering: .releasing) }

    /// How often the engine was found to be set up anew: the same revision is another then.
    var restartCount: Int { restarts.load(ordering: .acquiring) }

    var revision: UInt64 { current.withLock { $0.revision } }
    var lag: Duration { current.withLock { .now - $0.heard } }

    /// Runs `body` after all that came before. It is run also where the caller is cancelled, which it is told where
    /// `isCancellable`.
    func withTurn<Result: Sendable>(
        isCancellable: Bool = false, _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = lastTurn.withLock { last in
            let before = last
            let task = Task {
                await before?.value
                return try await body()
            }
            last = Task { _ = await task.result }
            return task
        }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            if isCancellable { task.cancel() }
        }
    }

    /// Looks by `body`, beside the caller, where nobody does.
    func lookBeside(_ body: @escaping @Sendable () async throws -> Void) {
        let isFirst = look.withLock { look in
            defer { look.isUnderWay = true }
            return !look.isUnderWay
        }
        guard isFirst else { return }
        Task {
            var failure: RoostError?
            do { try await body() } catch {
                failure =
                    error as? RoostError ?? RoostError(.io, "could not be looked at", cause: error)
            }
            look.withLock { [failure] in $0 = (false, failure) }
        }
    }

    /// What the last look failed with.
    var lookFailure: RoostError? { look.withLock { $0.failure } }

    /// Those changes that are not here yet: a revision that was passed has those up to it.
    func newer(of elements: [ChangeReader.Element]) -> [SharedChange] {
        let revision = revision
        return elements.compactMap { element in
            guard case .changed(let change) = element, change.revision > revision else {
                return nil
            }
            return change
        }
    }

    /// What the local workspace has, and since when.
    var keptRevision: UInt64 { kept.withLock { $0.revision } }
    var keptInstant: ContinuousClock.Instant { kept.withLock { $0.instant } }

    /// Where a dictionary that was followed before stands: nothing has been heard of the engine.
    func begin(at revision: UInt64) {
        current.withLock { $0.revision = revision }
        keep(revision)
    }

    /// Asks the engine whether it has fewer commits than `revision`, which it lost then. Not for long, as reads wait for
    /// it, and following finds out too.
    func asksWhetherLost(
        _ revision: UInt64, _ workspace: SharedWorkspace
    ) async throws -> Bool {
        let heard = ContinuousClock.now
        let brief = workspace.withCallDeadline(min(workspace.callDeadline, Self.askingLimit))
        let newest = try await brief.revision
        // Where the engine has no more either, what is here is as it is there.
        if newest == revision, !hasLost { reach(revision, at: heard) }
        return newest < revision
    }

    private static let askingLimit = Duration.seconds(1)

    func keep(_ revision: UInt64) { kept.withLock { $0 = (revision, .now) } }

    func reach(_ revision: UInt64, at heard: ContinuousClock.Instant) {
        current.withLock { $0 = (max($0.revision, revision), max($0.heard, heard)) }
        note(nil)
    }

    /// Where the engine was set up anew: its revisions are others.
    func restart(at revision: UInt64, _ heard: ContinuousClock.Instant) {
        restarts.add(1, ordering: .acquiringAndReleasing)
        current.withLock { $0 = (revision, heard) }
        isLost.store(false, ordering: .relaxed)
    }
}

/// The right to follow a dictionary in a local workspace, which one has: two would write over each other there, and each
/// would take what the other has brought for what it had brought itself.
struct FollowTurn: Sendable {
    private static let turns = ConflictTurns()
    /// One that was closed or stopped, or whose workspace was, ends soon.
    private static let endingLimit = Duration.seconds(5)

    private let place: [UInt8]

    init(
        _ name: String, _ valuesName: String, in local: Workspace, within duration: Duration
    ) async throws {
        place = Array("\(ObjectIdentifier(local))/\(valuesName)".utf8)
        do {
            try await Self.turns.take(place, before: .now + min(duration, Self.endingLimit))
        } catch let error as RoostError where error.code == .conflict {
            throw RoostError(
                .locked,
                "\"\(name)\" is followed in this workspace already: use that, or close it first")
        }
    }

    func pass() { Self.turns.pass(place) }
}
