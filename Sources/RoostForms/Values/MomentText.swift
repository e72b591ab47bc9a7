import Foundation
import Roost

/// Moments as ISO 8601 in UTC, to the millisecond, which deadlines and copies are kept to.
package enum MomentText {
    private static let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let whole = Date.ISO8601FormatStyle(includingFractionalSeconds: false)

    /// As `2026-11-20T10:00:00.000Z`.
    package static func text(_ date: Date) -> String { date.formatted(exact) }

    /// With milliseconds or without; `nil` where it is no moment.
    package static func date(_ text: String) -> Date? {
        // One of the two forms fits, or it is told that none does.
        (try? exact.parse(text)) ?? (try? whole.parse(text))
    }

    /// Of milliseconds since 1970; `nil` where the text would be read back as others.
    package static func text(milliseconds: UInt64) -> String? {
        let text = text(Date(milliseconds: milliseconds))
        return self.milliseconds(text) == milliseconds ? text : nil
    }

    /// Milliseconds since 1970: the nearest, as few of them are exact seconds of a date.
    package static func milliseconds(_ text: String) -> UInt64? {
        date(text).flatMap { UInt64(exactly: ($0.timeIntervalSince1970 * 1000).rounded()) }
    }
}
