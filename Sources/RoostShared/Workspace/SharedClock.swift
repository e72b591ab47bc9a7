import Foundation
import Roost
import RoostFormat
import RoostIO
import Synchronization

/// The time that values expire by: the engine's where that tells one, else the client's.
///
/// - `told` is what the engine said that its time was, and when. From then on time passes as it does in this process:
///   the client's clock may be set at any moment, by a second or by an hour.
package final class SharedClock: Sendable {
    private struct Told {
        let milliseconds: UInt64
        let instant: ContinuousClock.Instant
        /// When the engine was last asked.
        var asked: ContinuousClock.Instant
    }

    private let clock: WallClock
    private let askingInterval: Duration
    private let told = Mutex<Told?>(nil)

    /// - Parameter askingInterval: how long the engine's word counts: its clock may be set too, and another server may
    ///   take over.
    package init(_ clock: WallClock, askingInterval: Duration = .seconds(60)) {
        self.clock = clock
        self.askingInterval = askingInterval
    }

    /// Milliseconds since 1970.
    package var milliseconds: UInt64 {
        guard let told = told.withLock({ $0 }) else { return clock.now }
        return Self.milliseconds(told, at: .now)
    }

    private static func milliseconds(_ told: Told, at instant: ContinuousClock.Instant) -> UInt64 {
        let (seconds, attoseconds) = (instant - told.instant).components
        let passed = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        return UInt64(clamping: Int64(clamping: told.milliseconds) + passed)
    }

    package func isLive(_ stored: [UInt8]) -> Bool {
        let deadline = deadline(of: stored)
        return deadline == .never || deadline.milliseconds > milliseconds
    }

    package func deadline(of stored: [UInt8]) -> Deadline {
        stored.withUnsafeBytes { ValueHeader($0)?.deadline ?? .never }
    }

    /// How long a stored value is there yet, `nil` where it stays.
    func remainingTime(of stored: [UInt8]) -> Duration? {
        let deadline = deadline(of: stored)
        guard deadline != .never else { return nil }
        let now = min(milliseconds, deadline.milliseconds)
        return .milliseconds(Int64(clamping: deadline.milliseconds - now))
    }

    /// When a value is gone that expires after `duration`.
    package func deadline(after duration: Duration) -> Deadline {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else { return Deadline(milliseconds: milliseconds) }
        guard seconds < 1 << 50 else { return .latest }
        let span = UInt64(seconds) * 1000 + UInt64(attoseconds / 1_000_000_000_000_000)
        return min(Deadline(milliseconds: milliseconds + span), .latest)
    }

    // MARK: Asking

    /// Asks the engine, and again where its answer took long: it may be of any moment between.
    func adjust(to engine: any SharedEngine, before deadline: ContinuousClock.Instant) async throws
    {
        for attempt in 1...Self.attemptLimit {
            let begin = ContinuousClock.now
            do {
                guard let theirs = try await engine.clockMilliseconds(before: deadline) else {
                    return
                }
                let half = (ContinuousClock.now - begin) / 2
                take(theirs, at: begin + half, within: half)
                if half <= Self.exactEnough { return }
            } catch let error as RoostError where attempt > 1 && error.code == .unavailable {
                // What it said before is the best that is known.
                return
            }
        }
    }

    private static let attemptLimit = 3
    /// Of half of what an answer took.
    private static let exactEnough = Duration.milliseconds(100)

    /// - Parameters:
    ///   - instant: when the engine's time was read, about.
    ///   - half: by how much it may have been earlier or later.
    private func take(
        _ theirs: UInt64, at instant: ContinuousClock.Instant, within half: Duration
    ) {
        let answer = Told(milliseconds: theirs, instant: instant, asked: .now)
        told.withLock { told in
            // What only the answer's way may explain is no other time, and would let time go back.
            if let known = told,
                Self.distance(theirs, Self.milliseconds(known, at: answer.instant))
                    <= half + .milliseconds(1)
            {
                told?.asked = answer.asked
            } else {
                told = answer
            }
        }
    }

    private static func distance(_ one: UInt64, _ other: UInt64) -> Duration {
        .milliseconds(one > other ? one - other : other - one)
    }

    /// Asks an engine that tells the time again, where its word is old, beside the call that comes here.
    func keepAdjusted(to engine: any SharedEngine) {
        let isDue = told.withLock { told in
            guard let known = told, .now - known.asked >= askingInterval else { return false }
            told?.asked = .now
            return true
        }
        guard isDue else { return }
        Task {
            // Where it cannot be asked now, what it said counts, and it is asked again later.
            do { try await adjust(to: engine, before: .now + .seconds(10)) } catch { return }
        }
    }
}
