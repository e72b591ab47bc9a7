import RoostFormat
import RoostIO
import Synchronization

/// The time that values expire by, in one opening. It stands still while the wall clock is behind
/// what was read before, so that no value comes back that a reader was told is gone.
///
/// - `latest` only grows. It is the latest time that anything was decided by.
/// - The wall clock is read only where a value with a deadline is met, and never while a mutex of the
///   engine's is held: it may be anybody's code.
package final class ExpiryClock: Sendable {
    private let wallClock: @Sendable () -> UInt64
    private let latest = Atomic<UInt64>(0)

    /// `wallClock` gives milliseconds since 1970.
    package init(_ wallClock: @escaping @Sendable () -> UInt64 = { WallTime.milliseconds }) {
        self.wallClock = wallClock
    }

    /// Now, in milliseconds since 1970; never earlier than a time given before.
    package var milliseconds: UInt64 {
        let time = wallClock()
        let seen = latest.load(ordering: .relaxed)
        return time <= seen ? seen : latest.max(time, ordering: .relaxed).newValue
    }

    /// What the wall clock says now, in milliseconds since 1970: earlier than before, where that was set back.
    package var wallMilliseconds: UInt64 { wallClock() }

    /// How long it is until a deadline, where the wall clock goes on from where it is; not more than zero where it has come.
    func duration(until deadline: Deadline) -> Duration {
        if hasFoundPast(deadline) { return .zero }
        let time = wallClock()
        guard time < deadline.milliseconds else { return .zero }
        return .milliseconds(min(deadline.milliseconds - time, Deadline.latest.milliseconds))
    }

    /// Whether a put with this deadline is there for readers now. Every look-up, scan, count and
    /// merge asks here.
    @inline(__always)
    package func isLive(_ deadline: Deadline) -> Bool {
        deadline == .never || !isPast(deadline)
    }

    /// Whether something was decided already by a time that is not before this deadline. Does not read
    /// the clock, so it may be asked with a mutex held.
    func hasFoundPast(_ deadline: Deadline) -> Bool {
        deadline != .never && deadline.milliseconds <= latest.load(ordering: .relaxed)
    }

    @inline(never)
    private func isPast(_ deadline: Deadline) -> Bool { deadline.milliseconds <= milliseconds }

    /// The deadline of a value that expires after `duration`: never later than that, up to a
    /// millisecond earlier.
    package func deadline(after duration: Duration) -> Deadline {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else { return Deadline(milliseconds: milliseconds) }
        // Beyond the latest deadline anyway; so nothing below overflows.
        guard seconds < 1 << 50 else { return .latest }
        let span = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        return min(Deadline(milliseconds: min(milliseconds, 1 << 62) + span), .latest)
    }
}
