import Foundation
import Roost

/// Moments as ISO 8601 in UTC, to the millisecond, which deadlines and copies are kept to.
package enum MomentText {
    private static let exact = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    private static let whole = Date.ISO8601FormatStyle(includingFractionalSeconds: false)

    /// As `2026-11-20T10:00:00.000Z`.
    package static func text(_ date: Date) -> String { date.formatted(exact) }

    /// With milliseconds or without, of four digits for the year, and with a zone; `nil` where it is no moment.
    package static func date(_ text: String) -> Date? {
        guard isMoment(Array(text.utf8)) else { return nil }
        // One of the two forms fits, or it is told that none does.
        return (try? exact.parse(text)) ?? (try? whole.parse(text))
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

    // Foundation reads as far as the text is a date, and counts a 30 February on into March.

    private static func isMoment(_ text: [UInt8]) -> Bool {
        guard hasForm(text.prefix(19), "0000-00-00T00:00:00"), isTime(text),
            isDay(text)
        else { return false }
        var rest = text[19...]
        if rest.first == UInt8(ascii: ".") {
            let fraction = rest.dropFirst().prefix { isDigit($0) }
            guard (1...9).contains(fraction.count) else { return false }
            rest = rest[fraction.endIndex...]
        }
        guard let first = rest.first else { return false }
        if first == UInt8(ascii: "Z") { return rest.count == 1 }
        guard first == UInt8(ascii: "+") || first == UInt8(ascii: "-") else { return false }
        let zone = rest.dropFirst()
        guard hasForm(zone, "00:00") || hasForm(zone, "0000") else { return false }
        return number(zone.prefix(2)) < 24 && number(zone.suffix(2)) < 60
    }

    private static func isTime(_ text: [UInt8]) -> Bool {
        number(text[11..<13]) < 24 && number(text[14..<16]) < 60 && number(text[17..<19]) < 60
    }

    private static func isDay(_ text: [UInt8]) -> Bool {
        let (year, month, day) = (number(text[0..<4]), number(text[5..<7]), number(text[8..<10]))
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return (1...12).contains(month) && (1...lengths[month - 1]).contains(day)
    }

    /// Whether the text has a digit for each zero of the form, and else what stands there.
    private static func hasForm(_ text: ArraySlice<UInt8>, _ form: String) -> Bool {
        text.count == form.utf8.count
            && zip(text, form.utf8).allSatisfy { byte, formed in
                formed == UInt8(ascii: "0") ? isDigit(byte) : byte == formed
            }
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int {
        digits.filter { isDigit($0) }.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
