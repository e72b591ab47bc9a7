import RoostIO
import RoostShared
import Synchronization

/// An engine in memory, whose calls a test may answer itself.
final class HookedEngine: SharedEngine {
    /// What is done in the place of a call; `nil` where the call is to be made.
    struct Hooks: Sendable {
        var read: (@Sendable (SharedRead) async throws -> SharedPage?)?
        /// What a read waits for before it is made, with its call's deadline.
        var delay: (@Sendable (SharedRead, ContinuousClock.Instant) async throws -> Void)?
        var commit: @Sendable (SharedCommit) async throws -> SharedOutcome? = { _ in nil }
        var watch: @Sendable (SharedKeyRange, UInt64) -> SharedEvents? = { _, _ in nil }
        var time: @Sendable () -> UInt64? = { nil }
    }

    let engine: MemoryEngine
    private let hooks = Mutex(Hooks())

    init(_ engine: MemoryEngine = MemoryEngine()) { self.engine = engine }

    func set(_ change: (inout sending Hooks) -> Void) { hooks.withLock { change(&$0) } }

    /// The first `limit` reads that name a revision, of those that `isMeant`, find it given up. How often that was.
    func forgetRevisions(
        _ limit: Int, where isMeant: @escaping @Sendable (SharedRead) -> Bool = { _ in true }
    ) -> @Sendable () -> Int {
        let forgotten = ForgottenRevisions()
        set {
            $0.read = { [engine] read in
                guard read.revision != nil, isMeant(read), forgotten.isFirst(of: limit) else {
                    return nil
                }
                let mark = SharedCommit(operations: [.put(key: [1], value: [], expiresIn: nil)])
                guard
                    case .committed(let revision) = try await engine.commit(
                        mark, before: .now + .seconds(60))
                else { return nil }
                engine.compact(before: revision)
                return nil
            }
        }
        return { forgotten.count }
    }

    private final class ForgottenRevisions: Sendable {
        private let counted = Mutex(0)

        var count: Int { counted.withLock { $0 } }

        func isFirst(of limit: Int) -> Bool {
            counted.withLock { count in
                guard count < limit else { return false }
                count += 1
                return true
            }
        }
    }

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        let hooks = hooks.withLock { $0 }
        if let delay = hooks.delay { try await delay(read, deadline) }
        if let hook = hooks.read, let page = try await hook(read) { return page }
        // One that a test let take its time has an engine's answer: none. That of a busy machine is no part of the test.
        if hooks.delay != nil || hooks.read != nil, ContinuousClock.now >= deadline {
            throw RoostError(.unavailable, "no answer in time")
        }
        return try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        let hook = hooks.withLock { $0.commit }
        if let outcome = try await hook(commit) { return outcome }
        return try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        // A watch that begins while a test sets its hooks is one of these, or there to be broken behind that.
        hooks.withLock { $0.watch(range, revision) ?? engine.watch(range, after: revision) }
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        if let time = hooks.withLock({ $0.time })() { return time }
        return try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { await engine.close() }
}
