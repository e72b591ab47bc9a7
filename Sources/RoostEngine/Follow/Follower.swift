import CRoost
import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot
import Synchronization

/// Follows the workspace's writer, which may be another process, on a thread of its own: a batch after the
/// other becomes visible here as it would in the writer.
///
/// - What is visible is a prefix of the batches, and never an earlier one than before.
/// - The cold storage and the tables are replaced together: of a newer manifest nothing is shown before
///   all that its snapshots hold is visible anyway. So no batch is seen by half.
/// - What goes wrong ends it: from then on every read throws why.
///
/// docs/decisions/0102, 0103, 0267.
package actor Follower {
    nonisolated let shared: FollowerStatus
    let directory: any Directory
    let shards: FollowedShards
    private let condition: EngineCondition
    private let scheduling: any Scheduling
    private let thread: WorkerThread
    /// Nothing of them is shown that is not in `tail` too.
    var manifest: ManifestRecord
    var cold: ColdStorage
    var tail: LogTail
    /// Read, and not yet what is shown.
    var pending: (manifest: ManifestRecord, cold: ColdStorage)?
    var rebuild: Rebuild?
    private var openingCount: UInt64 = 0
    /// How often in a row a batch was not found that there has to be.
    var missedLookCount = 0

    /// How often it has waited while there was no writer.
    private var quietCount = 0

    /// Of a tenth of a second each.
    private static let quietCountBeforeReopening = 10
    /// A pass reads no more, so that a rebuild goes on beside.
    private static let passSizeBytes = 1 << 20
    static let rebuildSizeBytes = 4 << 20
    /// After so many looks, half a millisecond apart at least, it is damage.
    private static let missedLookLimit = 2000
    /// As above, where a later batch is there.
    static let missingLookLimit = 100

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        thread.asUnownedSerialExecutor()
    }

    init(
        _ state: consuming FollowedState, page: SignalPage?, directory: any Directory,
        shards: FollowedShards, condition: EngineCondition, scheduling: any Scheduling
    ) {
        manifest = state.manifest
        cold = state.cold
        tail = state.tail
        self.directory = directory
        self.shards = shards
        self.condition = condition
        self.scheduling = scheduling
        thread = scheduling.thread(named: "roost-follow")
        shared = FollowerStatus(
            page: page, log: shards.log, durableSequence: state.tail.durableSequence)
    }

    // MARK: From outside

    /// Begins. The thread keeps the object until `stop`.
    nonisolated func start() {
        Task.detached(executorPreference: thread.forTasks) { await self.run() }
    }

    /// Returns at once; the thread ends soon.
    nonisolated func stop() { shared.stop() }

    nonisolated var durableSequence: UInt64 { shared.durableSequence }

    // MARK: The loop

    private func run() async {
        // The writer, as the one that woke it, goes on.
        roost_let_others_finish()
        while !shared.isStopping {
            // Before the look: what comes after it is told by another number.
            let news = shared.page?.newsCount ?? 0
            var asked = shared.takeAsked()
            do {
                let pass = try pass(isAsked: !asked.isEmpty)
                if pass.isAtEnd {
                    shared.answer(asked)
                } else {
                    shared.putBack(asked)
                }
                // Answered, or with those who came since: what fails from here on answers none of them once more.
                asked = []
                if pass.isMissing {
                    try await scheduling.sleep(for: .milliseconds(1))
                } else if !pass.goesOn {
                    try await wait(news, pass)
                }
            } catch {
                let failure =
                    error as? RoostError
                    ?? RoostError(.io, "the writer can be followed no more", cause: error)
                condition.setFailed(failure)
                shards.feed.end()
                shared.fail(failure, asked)
                return
            }
        }
        shared.answer(shared.takeAsked())
    }

    private struct Pass {
        /// There may be more to do at once.
        var goesOn: Bool
        /// All was seen that there was at the pass's begin.
        var isAtEnd: Bool
        var isWriterOpen: Bool
        /// The writer has appended what was not found yet.
        var isBehind: Bool
        /// A later batch is there, the next one is not, and no snapshot has it yet.
        var isMissing: Bool
    }

    private func pass(isAsked: Bool) throws -> Pass {
        let page = try shared.openPage(in: directory)
        let isWriterOpen = try page?.isWriterOpen ?? false
        var looksFurther = isAsked || page == nil
        if let page {
            if isWriterOpen {
                tail.noteDurable(page.durableSequence)
                tail.noteAppended(page.sequence)
            }
            looksFurther =
                looksFurther || page.segmentNumber != tail.place.segmentNumber
                || page.openingCount != openingCount
            openingCount = page.openingCount
        }
        if page == nil || isAsked || page?.manifestGeneration != newestManifest.generation {
            try readManifest()
        }
        let end = try tail.read(
            limitBytes: Self.passSizeBytes, looksFurther: looksFurther,
            isHeld: { try shared.openPage(in: directory)?.isAwaited($0) ?? false }
        ) { frame, segment in
            shards.log.history.addIfNew(segment.forHistory, region: segment.region)
            try shards.apply(frame, segment)
        }
        if end == .missing { try skipAhead() }
        try takeOver()
        reopenWhereAsked()
        shared.note(durableSequence: tail.durableSequence, isWriterOpen: isWriterOpen)
        let isBehind =
            isWriterOpen && end == .log && (page?.sequence ?? 0) > tail.lastSequence
        // A look for what is missing was counted where it was made.
        if end != .missing { missedLookCount = isBehind ? missedLookCount + 1 : 0 }
        if missedLookCount > Self.missedLookLimit {
            throw tail.damage(tail.segments.last, "batch \(tail.lastSequence + 1) is damaged")
        }
        return Pass(
            goesOn: end == .limit || end == .missing || rebuild != nil,
            isAtEnd: (end == .log && !isBehind) || end == .unsynced, isWriterOpen: isWriterOpen,
            isBehind: isBehind, isMissing: end == .missing && missedLookCount > 0)
    }

    private func wait(_ news: UInt32, _ pass: Pass) async throws {
        guard let page = shared.page else {
            return try await scheduling.sleep(for: .milliseconds(5))
        }
        let milliseconds: UInt64 =
            if pass.isBehind { 1 } else if !pass.isWriterOpen { 100 } else if page.request() {
                1000
            } else {
                2
            }
        if shared.isPoked { return }
        if !pass.isWriterOpen {
            quietCount += 1
            if quietCount % Self.quietCountBeforeReopening == 0 {
                if try directory.isReplaced() { throw replaced }
                return try shared.reopenPage(in: directory)
            }
        }
        page.waitForNews(after: news, nanoseconds: milliseconds * 1_000_000)
    }
}
