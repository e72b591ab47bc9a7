import Foundation
import RoostEngine
import RoostIO
import Synchronization

/// What tells the time for values that expire.
public struct WallClock: Sendable {
    /// Milliseconds since 1970.
    let milliseconds: @Sendable () -> UInt64
    /// Tells where it is set by hand.
    let moves: ClockMoves?

    /// What the clock says, in milliseconds since 1970.
    package var now: UInt64 { milliseconds() }

    /// The system's clock.
    public static var system: WallClock { WallClock(milliseconds: { WallTime.milliseconds }) }

    /// The clock that `time` says, for tests.
    public static func settable(_ time: SettableTime) -> WallClock {
        WallClock(milliseconds: { milliseconds(of: time.now) }, moves: time.moves)
    }

    private init(milliseconds: @escaping @Sendable () -> UInt64, moves: ClockMoves? = nil) {
        self.milliseconds = milliseconds
        self.moves = moves
    }

    /// The clock that `now` reads. Called whenever a value with a deadline is met, from any
    /// thread, also while others wait; it must not block, nor use the workspace. Where it jumps ahead, live results
    /// lose what has expired within ten seconds.
    public init(_ now: @escaping @Sendable () -> Date) {
        self.init(milliseconds: { Self.milliseconds(of: now()) })
    }

    /// Whole milliseconds since 1970, rounded down; zero before, and never past 2^62.
    static func milliseconds(of date: Date) -> UInt64 {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded(.down)
        // Not a number counts as before everything.
        guard milliseconds > 0 else { return 0 }
        return milliseconds < 0x1p62 ? UInt64(milliseconds) : 1 << 62
    }
}

/// A time that stands still until it is set, for tests of values that expire:
///
/// ```swift
/// let time = SettableTime()
/// let workspace = try await Workspace.inMemory(configuration: .init(clock: .settable(time)))
/// try await sessions.set(token, forKey: "token", expiresIn: .seconds(60))
/// time.advance(by: .seconds(60))
/// // The token is gone.
/// ```
///
/// Live results have lost what has expired when a move of the clock returns, so it is not to be moved by code that
/// encodes or decodes a value.
public final class SettableTime: Sendable {
    private let date: Mutex<Date>
    let moves = ClockMoves()

    /// A clock that stands at an instant until it is moved.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_000_000_000)) { date = Mutex(now) }

    /// What the clock says; may be set to earlier, as clocks are.
    public var now: Date {
        get { date.withLock { $0 } }
        set {
            date.withLock { $0 = newValue }
            moves.tell()
        }
    }

    /// Moves the clock by `duration`, which may be negative.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        date.withLock { $0 += Double(seconds) + Double(attoseconds) / 1e18 }
        moves.tell()
    }
}
