import Foundation
import Roost
import RoostFormat
import RoostIO
import Synchronization

/// The time that values expire by: the client's clock, corrected by the engine's where that tells one.
///
/// - `offset` is what the engine's clock was ahead of the client's when it was last asked, in milliseconds.
package final class SharedClock: Sendable {
    private let clock: WallClock
    private let offset = Atomic<Int64>(0)

    package init(_ clock: WallClock) { self.clock = clock }

    /// Milliseconds since 1970.
    package var milliseconds: UInt64 {
        UInt64(clamping: Int64(clamping: clock.now) + offset.load(ordering: .relaxed))
    }

    package func isLive(_ stored: [UInt8]) -> Bool {
        let deadline = deadline(of: stored)
        return deadline == .never || deadline.milliseconds > milliseconds
    }

    package func deadline(of stored: [UInt8]) -> Deadline {
        stored.withUnsafeBytes { ValueHeader($0)?.deadline ?? .never }
    }

    /// When a value is gone that expires after `duration`.
    package func deadline(after duration: Duration) -> Deadline {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else { return Deadline(milliseconds: milliseconds) }
        guard seconds < 1 << 50 else { return .latest }
        let span = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        return min(Deadline(milliseconds: milliseconds + span), .latest)
    }

    /// Asks the engine. What the answer took is halved: it was read about then.
    func adjust(to engine: any SharedEngine, before deadline: ContinuousClock.Instant) async throws
    {
        let before = clock.now
        guard let theirs = try await engine.clockMilliseconds(before: deadline) else { return }
        let ours = Int64(clamping: before) / 2 + Int64(clamping: clock.now) / 2
        offset.store(Int64(clamping: theirs) - ours, ordering: .relaxed)
    }
}
