import RoostIO
import Synchronization

/// A shard's turn: whoever has it is the only one that changes the shard's keys.
///
/// - It stands in a mutex, `Shard.turn`, that is held from what a change checks to the change
///   itself, and while nothing is waited for but the log's next segment. A function that takes a
///   turn as its argument can be called by its holder alone.
/// - Taken after `Engine.publication`, before the feed's mutex and before `Shard.published`.
/// - What is to be told to others is left in `afterwards`, for `Shard.withTurn` to tell once the turn
///   is given back.
/// - `queue` has those who could not do what they came for, in the order in which they came. When the
///   turn is given back, each of them that is not `held` conflicts with a staged batch or with one
///   before it.
struct ShardTurn {
    /// Why a write has to look at what comes before it, or with it: one byte, so that a put asks once.
    private var reasons: UInt8 = 0
    private static var staged: UInt8 { 1 }
    private static var guards: UInt8 { 2 }
    private static var live: UInt8 { 4 }

    /// Whether anything is staged, so that a put can tell without the other mutex.
    var hasStaged: Bool {
        get { reasons & Self.staged != 0 }
        set { reasons = newValue ? reasons | Self.staged : reasons & ~Self.staged }
    }
    /// How many live watchers there are: a write that they are told of has something to do once it has
    /// given the turn back.
    var liveWatcherCount = 0 {
        didSet { reasons = liveWatcherCount > 0 ? reasons | Self.live : reasons & ~Self.live }
    }
    var queue: [Place] = []
    var lastPlace: UInt64 = 0
    /// Takes no more enqueued writes.
    var isEnqueueClosed = false
    /// Calls that wait for any staged batch to be resolved, or for any place to be given back.
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// How often that happened.
    var resolutionCount = 0
    /// The last segment that `published.active` was told to hold.
    var heldRegion: MappedRegion?
    /// Which state of `WriteGuards` counts in the shard.
    private(set) var guardGeneration: UInt64 = 0
    /// The dictionaries whose writes have to bring something with them, by prefix.
    private var guarded: [[UInt8]] = []
    var afterwards = Afterwards()

    /// Whether a write has to look at what comes before it.
    var isContended: Bool { reasons != 0 || !queue.isEmpty }

    mutating func noteGuards(_ generation: UInt64, of prefix: [UInt8]) {
        guardGeneration = max(guardGeneration, generation)
        if !guarded.contains(prefix) { guarded.append(prefix) }
        reasons |= Self.guards
    }

    mutating func endGuards(of prefix: [UInt8]) {
        guarded.removeAll { $0 == prefix }
        if guarded.isEmpty { reasons &= ~Self.guards }
    }

    func isGuarded(_ key: UnsafeRawBufferPointer) -> Bool {
        guarded.contains { hasPrefix(key, $0) }
    }

    /// - Throws: `GuardedWrite` where a put of a single key has to be a batch.
    func checkUnguarded(_ key: UnsafeRawBufferPointer) throws {
        if isGuarded(key) { throw GuardedWrite() }
    }

    /// A batch that knows of more than the shard was told yet is right: what is guarded in a generation
    /// has all marks that are there in the one before.
    ///
    /// - Throws: `GuardsChanged` where a batch was completed for an earlier state of the guards.
    func checkGuards(_ generation: UInt64) throws {
        if generation < guardGeneration { throw GuardsChanged() }
    }

    mutating func newNumber() -> UInt64 {
        lastPlace += 1
        return lastPlace
    }

    mutating func add(_ claim: Claim, _ kind: Kind) { add(claim, kind, number: newNumber()) }

    mutating func add(_ claim: Claim, _ kind: Kind, number: UInt64) {
        queue.append(.init(number: number, claim: claim, kind: kind))
    }

    func holdsPlace(_ number: UInt64) -> Bool { queue.contains { $0.number == number } }

    /// A place in a shard's queue.
    struct Place: Sendable {
        let number: UInt64
        var claim: Claim
        var kind: Kind
    }

    enum Kind: Sendable {
        /// A change, which whoever has the turn makes once nothing comes before it.
        case change(@Sendable (inout ShardTurn) -> Void, cancel: @Sendable () -> Void)
        /// A transaction that is told once nothing comes before it.
        case waiting(@Sendable () -> Void, cancel: @Sendable () -> Void)
        /// A transaction that was told: what it claims is its own until it gives its place back.
        case held
        /// Enqueued writes, which readers see already.
        case enqueued([EnqueuedWrites.Write])
    }

    /// What whoever has the turn owes to others when it gives the turn back.
    struct Afterwards: Sendable {
        /// Resumes those who waited.
        var calls = FewElements<@Sendable () -> Void>()
        /// Enqueued writes that were given up.
        var lost: [LostWrite] = []

        var isEmpty: Bool { calls.isEmpty && lost.isEmpty }
    }

    /// An enqueued write that could not be made, and the error that says so.
    struct LostWrite: Sendable {
        let key: [UInt8]
        let hash: UInt64
        let failure: RoostError
    }
}
