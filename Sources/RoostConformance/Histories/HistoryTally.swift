import Roost
import RoostIO
import Synchronization

/// What callers of a history got.
public struct HistoryTally: Sendable, CustomStringConvertible {
    public var committed = 0
    /// Said that nothing was changed, as engines do that cannot be reached.
    public var refused = 0
    /// Never said: reported as `.unknownOutcome`.
    public var unknown = 0

    public var description: String {
        "\(committed) committed, \(refused) refused, \(unknown) unknown outcomes reported"
    }

    public init() {}

    init(committed: Int, refused: Int, unknown: Int) {
        self.committed = committed
        self.refused = refused
        self.unknown = unknown
    }

    public static func + (left: HistoryTally, right: HistoryTally) -> HistoryTally {
        HistoryTally(
            committed: left.committed + right.committed, refused: left.refused + right.refused,
            unknown: left.unknown + right.unknown)
    }
}

/// What an error says of a call: `nil` where it is none that a fault explains.
func outcome(of error: any Error) -> ListCall.Outcome? {
    guard let error = error as? RoostError else { return nil }
    switch error.code {
    case .unavailable, .conflict, .outOfSpace: return .refused
    case .unknownOutcome: return .unknown
    default: return nil
    }
}

/// How long callers of a history go on.
public struct HistoryLength: Sendable {
    /// How many calls each caller makes.
    public var callCount: Int
    /// When they stop though they have not made all.
    public var end: ContinuousClock.Instant?
    public var callerCount: Int

    public init(callCount: Int, callerCount: Int = 6, end: ContinuousClock.Instant? = nil) {
        self.callCount = callCount
        self.callerCount = callerCount
        self.end = end
    }

    func goesOn(_ made: Int) -> Bool { made < callCount && (end.map { .now < $0 } ?? true) }
}

/// The same numbers again from the same seed.
struct ChanceNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

/// Calls again what a fault has kept from being done, so that the end of a history can be read.
func patiently<Result: Sendable>(
    _ body: () async throws -> Result
) async throws -> Result {
    var lastError: (any Error)?
    for _ in 0..<60 {
        do { return try await body() } catch {
            guard outcome(of: error) != nil else { throw error }
            lastError = error
            try await Task.sleep(for: .milliseconds(500))
        }
    }
    throw lastError ?? CancellationError()
}
