import RoostIO
import Synchronization

/// What waits for the reader of one live result.
///
/// - It never holds up a writer, and never has more than about as many positions as the result has
///   objects: a reader that falls further behind is given the result anew.
/// - `isResultDue` says that the reader has to take the whole result, which stands in no buffer; what
///   came before that is gone then.
/// - A continuation is in `waiting` until whoever removes it, under the mutex, and resumes it.
final class LiveOutlet<Item: Sendable>: Sendable {
    enum Taken {
        case change(LiveChange<Item>)
        case resultDue
        case empty
        case ended
    }

    fileprivate struct State {
        var changes: [LiveChange<Item>] = []
        var first = 0
        var positionCount = 0
        var isResultDue = true
        var failure: RoostError?
        var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, Never>)] = []
        var lastWait: UInt64 = 0
        var onReady: (@Sendable () -> Void)?
        /// `onReady` was called, and the reader has not found the outlet empty since.
        var isCalled = false
        /// Counts the readers of whom that is so.
        var awaited: AwaitedReaders?
        var isEnded = false
        /// Comes behind all that waits.
        var endFailure: RoostError?
    }

    /// Whether the reader wants each change, and not just the newest result.
    let wantsPositions: Bool
    private let state = Mutex(State())
    private static var leastPositionCount: Int { 1024 }

    init(wantsPositions: Bool) { self.wantsPositions = wantsPositions }

    deinit { state.withLock { $0.noteCalled(false) } }

    /// Called, on a writer's thread, when there is something to take and nothing was before.
    func setOnReady(
        _ awaited: AwaitedReaders, _ onReady: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            state.awaited = awaited
            state.onReady = onReady
        }
    }

    /// Calls a reader once more that was called and has not taken all; `nil` where there is none.
    var callAgain: (@Sendable () -> Void)? { state.withLock { $0.isCalled ? $0.onReady : nil } }

    /// How many positions wait to be read.
    var positionCount: Int { state.withLock { $0.positionCount } }

    // MARK: Writing

    /// `resultCount` is how many objects the result has.
    func push(_ change: ResultChange<Item>, resultCount: Int, _ wakes: inout [LiveWake]) {
        state.withLock { state in
            if !wantsPositions {
                state.isResultDue = true
            } else if !state.isResultDue {
                state.positionCount += change.count
                if state.positionCount > max(Self.leastPositionCount, resultCount) {
                    state.dueResult()
                } else {
                    state.changes.append(.changed(change))
                }
            }
            wake(&state, &wakes)
        }
    }

    func noteResultDue(_ wakes: inout [LiveWake]) {
        state.withLock { state in
            state.dueResult()
            wake(&state, &wakes)
        }
    }

    func push(_ failure: RoostError, _ wakes: inout [LiveWake]) {
        guard wantsPositions else { return }
        state.withLock { state in
            state.failure = failure
            wake(&state, &wakes)
        }
    }

    /// - Parameter failure: why, where the workspace was not closed: the last that a reader is told.
    func end(_ failure: RoostError?, _ wakes: inout [LiveWake]) {
        state.withLock { state in
            state.isEnded = true
            if wantsPositions { state.endFailure = failure }
            wake(&state, &wakes)
        }
    }

    private func wake(_ state: inout State, _ wakes: inout [LiveWake]) {
        for waiter in state.waiting { wakes.append(.resume(waiter.continuation)) }
        state.waiting.removeAll()
        guard let onReady = state.onReady, !state.isCalled else { return }
        state.noteCalled(true)
        wakes.append(.call(onReady))
    }

    // MARK: Reading

    func take() -> Taken {
        state.withLock { state in
            if let failure = state.failure {
                state.failure = nil
                return .change(.failed(failure))
            }
            if state.isResultDue { return .resultDue }
            if state.first < state.changes.count {
                defer { state.dropFirst() }
                return .change(state.changes[state.first])
            }
            if let failure = state.endFailure {
                state.endFailure = nil
                return .change(.failed(failure))
            }
            state.noteCalled(false)
            return state.isEnded ? .ended : .empty
        }
    }

    /// The reader takes the result as it is now. Called while no batch can change it.
    func noteResultTaken() { state.withLock { $0.isResultDue = false } }

    /// Returns once there is something to take, or the task is cancelled.
    func wait(isolation: isolated (any Actor)? = #isolation) async {
        let id = state.withLock { state in
            state.lastWait += 1
            return state.lastWait
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    // Cancelled before this: the handler has run and found nothing to resume.
                    if Task.isCancelled || !state.isEmpty { return true }
                    state.waiting.append((id, continuation))
                    return false
                }
                if goesOn { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.id == id }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}

extension LiveOutlet.State {
    var isEmpty: Bool {
        !isEnded && !isResultDue && failure == nil && first == changes.count
    }

    mutating func noteCalled(_ isCalled: Bool) {
        if isCalled == self.isCalled { return }
        self.isCalled = isCalled
        awaited?.note(isCalled ? 1 : -1)
    }

    mutating func dueResult() {
        isResultDue = true
        changes = []
        first = 0
        positionCount = 0
    }

    mutating func dropFirst() {
        if case .changed(let change) = changes[first] { positionCount -= change.count }
        first += 1
        if first == changes.count || first > 64 {
            changes.removeFirst(first)
            first = 0
        }
    }
}

/// How many readers of a repository's live results were called and have not come yet.
final class AwaitedReaders: Sendable {
    private let count = Atomic<Int>(0)

    var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

    func note(_ difference: Int) { count.add(difference, ordering: .relaxed) }
}

/// What has to be done once no lock is held: resume a reader that waits, or start one.
enum LiveWake: Sendable {
    case resume(CheckedContinuation<Void, Never>)
    case call(@Sendable () -> Void)

    func callAsFunction() {
        switch self {
        case .resume(let continuation): continuation.resume()
        case .call(let start): start()
        }
    }
}

/// Numbers for comparisons of results, so that one does not take another's marks for its own.
enum LiveComparisons {
    private static let last = Atomic<UInt64>(0)

    static func next() -> UInt64 {
        last.wrappingAdd(1, ordering: .relaxed).newValue
    }
}
