import Foundation
import RoostIO
import Synchronization

/// What tells the time for values that expire.
public struct WallClock: Sendable {
    /// Milliseconds since 1970.
    let milliseconds: @Sendable () -> UInt64

    /// What the clock says, in milliseconds since 1970.
    package var now: UInt64 { milliseconds() }

    /// The system's clock.
    public static var system: WallClock { WallClock(milliseconds: { WallTime.milliseconds }) }

    /// The clock that `time` says, for tests.
    public static func settable(_ time: SettableTime) -> WallClock {
        WallClock(milliseconds: { milliseconds(of: time.now) })
    }

    private init(milliseconds: @escaping @Sendable () -> UInt64) {
        self.milliseconds = milliseconds
    }

    /// The clock that `now` reads. Called whenever a value with a deadline is met, from any
    /// thread; it must not block.
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
public final class SettableTime: Sendable {
    private let date: Mutex<Date>

    /// A clock that stands at an instant until it is moved.
    public init(_ now: Date = Date(timeIntervalSince1970: 1_000_000_000)) { date = Mutex(now) }

    /// What the clock says; may be set to earlier, as clocks are.
    public var now: Date {
        get { date.withLock { $0 } }
        set { date.withLock { $0 = newValue } }
    }

    /// Moves the clock by `duration`, which may be negative.
    public func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        date.withLock { $0 += Double(seconds) + Double(attoseconds) / 1e18 }
    }
}
