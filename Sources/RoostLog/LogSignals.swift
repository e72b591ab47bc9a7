import Foundation
import RoostIO
import Synchronization

/// Tells readers in other processes that the log has grown, without a cost for who appends.
///
/// - A reader that has seen all asks for news and waits. The thread of this object wakes, and has the
///   log's next append call `noteAppended`, by the comparison that every append makes anyway
///   (`LogWriter.AheadOffsets`); `pauseSeconds` later it tells all readers at once.
/// - For `lookedSeconds` after that it looks itself, so that the appends of a writer that goes on pay nothing.
///   An append wakes the thread only where a reader waits and nothing was written for so long.
/// - What no append comes with is told by those who bring it about: a sync, a new manifest, an opening.
/// - The thread begins with the first append: an opening that writes nothing never has it.
///
/// docs/decisions/0102, 0267, 0299.
package final class LogSignals: Sendable {
    package let page: SignalPage
    /// Until `stop`: not weakly, as an object that was ever referred to so takes a slower way at each
    /// retain.
    private let log = Mutex<LogWriter?>(nil)
    private let isBegun = Atomic<Bool>(false)
    private let isStopped = Atomic<Bool>(false)
    private let appended = DispatchSemaphore(value: 0)

    /// How long after the first append readers are told. They take what came meanwhile together.
    private static let pauseSeconds = 0.001
    /// How often, and for how long after readers were told, the thread looks for more: to wake it would cost
    /// an append as much as a hundred others.
    private static let lookSeconds = 0.002
    private static let lookedSeconds = 0.1
    /// For a request that got lost, as with the page of a file system that is full.
    private static let requestPatience: UInt64 = 60_000_000_000

    /// From here on readers find a writer; to be called before it changes anything.
    package init(page: SignalPage) throws {
        self.page = page
        try page.holdWriterLock()
    }

    /// For an opening that fails, which says of what; the lock goes with the file then, if not here.
    deinit { try? stop() }

    /// To be called before anything is appended.
    package func begin(
        _ log: LogWriter, segmentNumber: UInt64, lastSequence: UInt64, durableSequence: UInt64,
        manifestGeneration: UInt64
    ) {
        self.log.withLock { $0 = log }
        page.sequence = lastSequence
        page.durableSequence = durableSequence
        page.manifestGeneration = manifestGeneration
        page.segmentNumber = segmentNumber
        page.tellNews()
    }

    /// There is no writer from here on.
    package func stop() throws {
        guard !isStopped.exchange(true, ordering: .sequentiallyConsistent) else { return }
        log.withLock { $0 = nil }
        appended.signal()
        page.stopWaitingForRequests()
        try page.releaseWriterLock()
        page.tellNews()
    }

    // MARK: What is told

    /// Called under the log's mutex, by the append that was asked to.
    func noteAppended() {
        if !isBegun.exchange(true, ordering: .relaxed) { return beginThread() }
        appended.signal()
    }

    func noteDurable(_ sequence: UInt64) {
        page.durableSequence = sequence
        page.tellNews()
    }

    package func noteManifest(generation: UInt64) {
        page.manifestGeneration = generation
        page.tellNews()
    }

    // MARK: The thread

    private func beginThread() {
        StartedThread.begin("roost-signals", stackSizeBytes: 128 << 10) { [self] in run() }
    }

    private func run() {
        // Whoever asked before there was this thread.
        var seen = page.requestCount &- 1
        var told: UInt64 = 0
        while !isStopped.load(ordering: .relaxed) {
            while page.requestCount == seen, !isStopped.load(ordering: .relaxed) {
                page.waitForRequest(after: seen, nanoseconds: Self.requestPatience)
            }
            seen = page.requestCount
            if !hasGrown(beyond: told) {
                guard let last = lastSequence(wantsNews: true) else { return }
                // What came since the readers were told, they may have missed.
                if last == told { appended.wait() }
            }
            // Before they are told, so that a burst of appends wakes them once, and mostly behind its end.
            Thread.sleep(forTimeInterval: Self.pauseSeconds)
            guard let last = lastSequence(wantsNews: false) else { return }
            told = last
            page.sequence = last
            page.tellNews()
        }
    }

    /// Whether more is in the log than readers were told of, now or soon.
    private func hasGrown(beyond told: UInt64) -> Bool {
        for _ in 0..<Int(Self.lookedSeconds / Self.lookSeconds) {
            guard let log = log.withLock({ $0 }) else { return false }
            if log.hasGrown(beyond: told) { return true }
            Thread.sleep(forTimeInterval: Self.lookSeconds)
        }
        return false
    }

    private func lastSequence(wantsNews: Bool) -> UInt64? {
        log.withLock { $0 }?.lastSequence(wantsNews: wantsNews)
    }
}

extension LogWriter {
    /// Whether there is a batch after `sequence`, or one on its way. Whoever appends never waits for it.
    func hasGrown(beyond sequence: UInt64) -> Bool {
        state.withLockIfAvailable { $0.lastSequence > sequence } ?? true
    }

    /// The last batch; with `wantsNews`, the next append tells `signals` of itself, and else none does.
    func lastSequence(wantsNews: Bool) -> UInt64 {
        state.withLock { state in
            if wantsNews {
                state.aheadOffsets.wantNews()
            } else {
                _ = state.aheadOffsets.takeNews()
            }
            return state.lastSequence
        }
    }
}
