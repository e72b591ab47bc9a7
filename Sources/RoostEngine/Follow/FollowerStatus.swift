import RoostFormat
import RoostIO
import RoostLog
import Synchronization

/// What a follower's thread shares with everybody else.
///
/// - `asked` are the calls that wait until all is visible that there was when they came. They are answered
///   by a pass that began after them, or by the end.
/// - So are `releases`, once the snapshots were opened anew: whoever asked is always answered. From `isEnded` on,
///   which `stop` and a failure set, nothing is added to either.
final class FollowerStatus: Sendable {
    typealias Asked = CheckedContinuation<UInt64, any Error>

    private struct State {
        var page: SignalPage?
        var asked: [Asked] = []
        /// To be called once the snapshots were opened anew.
        var releases: [@Sendable () -> Void] = []
        var failure: RoostError?
        var isEnded = false

        /// Returns who waits, for the caller to answer without the mutex.
        mutating func end() -> (asked: [Asked], releases: [@Sendable () -> Void]) {
            isEnded = true
            defer { (asked, releases) = ([], []) }
            return (asked, releases)
        }
    }

    private let state: Mutex<State>
    let log: FollowedLog
    private let stopping = Atomic<Bool>(false)
    private let durable: Atomic<UInt64>
    private let writerOpen = Atomic<Bool>(false)

    init(page: SignalPage?, log: FollowedLog, durableSequence: UInt64) {
        state = Mutex(State(page: page))
        self.log = log
        durable = Atomic(durableSequence)
    }

    var page: SignalPage? { state.withLock { $0.page } }
    var isStopping: Bool { stopping.load(ordering: .sequentiallyConsistent) }
    var durableSequence: UInt64 { durable.load(ordering: .relaxed) }
    /// As the last pass found it at its begin.
    var isWriterOpen: Bool { writerOpen.load(ordering: .relaxed) }
    /// Asks the system: what a pass found is older than the batches that it made visible, where a writer
    /// came meanwhile. Where the system does not say, the last pass's answer stands, and its thread throws.
    var isWriterOpenNow: Bool {
        guard let page else { return false }
        do { return try page.isWriterOpen } catch { return isWriterOpen }
    }
    /// The last batch that is visible.
    var sequence: UInt64 { log.lastSequence }

    /// Whether somebody wants the thread to look.
    var isPoked: Bool {
        isStopping || state.withLock { !$0.asked.isEmpty || !$0.releases.isEmpty }
    }

    // MARK: For everybody

    /// Returns once all is visible that was in the log before the call.
    func catchUp() async throws -> UInt64 {
        try await withCheckedThrowingContinuation { continuation in
            let failure = state.withLock { state -> RoostError? in
                if let failure = state.failure { return failure }
                if state.isEnded { return EngineCondition.closed }
                state.asked.append(continuation)
                return nil
            }
            if let failure { return continuation.resume(throwing: failure) }
            poke()
        }
    }

    func stop() {
        stopping.store(true, ordering: .sequentiallyConsistent)
        let (asked, releases) = state.withLock { $0.end() }
        for asked in asked { asked.resume(throwing: EngineCondition.closed) }
        for done in releases { done() }
        poke()
    }

    /// Without a writer not a byte is changed, and the thread may go to wait just then: not for long.
    private func poke() {
        guard let page else { return }
        if isWriterOpen { page.tellNews() } else { page.wakeReaders() }
    }

    /// Has the snapshots opened anew soon. Does not wait.
    func release(_ done: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isEnded { state.releases.append(done) }
            return state.isEnded
        }
        if isEnded { done() } else { poke() }
    }

    // MARK: For the thread

    func takeReleases() -> [@Sendable () -> Void] {
        state.withLock { state in
            defer { state.releases = [] }
            return state.releases
        }
    }

    /// The page, which the first writer makes.
    func openPage(in directory: any Directory) throws -> SignalPage? {
        if let page { return page }
        guard let opened = try SignalPage.forReader(FileName.signals.text, in: directory) else {
            return nil
        }
        state.withLock { $0.page = opened }
        return opened
    }

    /// Takes the page that stands in the directory now: another one where somebody has put other files
    /// there.
    func reopenPage(in directory: any Directory) throws {
        let opened = try SignalPage.forReader(FileName.signals.text, in: directory)
        state.withLock { $0.page = opened }
    }

    func takeAsked() -> [Asked] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }

    func putBack(_ asked: [Asked]) {
        if asked.isEmpty { return }
        let isEnded = state.withLock { state in
            if !state.isEnded { state.asked += asked }
            return state.isEnded
        }
        if isEnded { for asked in asked { asked.resume(throwing: EngineCondition.closed) } }
    }

    func answer(_ asked: [Asked]) {
        let sequence = sequence
        for asked in asked { asked.resume(returning: sequence) }
    }

    func fail(_ failure: RoostError, _ asked: [Asked]) {
        let (others, releases) = state.withLock { state in
            state.failure = failure
            return state.end()
        }
        for asked in asked + others { asked.resume(throwing: failure) }
        // What was read before the failure is closed with the workspace.
        for done in releases { done() }
    }

    func note(durableSequence: UInt64, isWriterOpen: Bool) {
        durable.store(durableSequence, ordering: .relaxed)
        writerOpen.store(isWriterOpen, ordering: .relaxed)
    }
}
