import Foundation

/// A date as files have it in text: as ISO 8601 writes it, and as SQLite and GRDB do, with a space and without a
/// zone: that is UTC.
enum ForeignDate {
    /// The seconds since 2001; `nil` where `text` is no date.
    static func secondsSinceReference(_ text: String) -> Double? {
        let form =
            /(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?)?/
        // A pattern that is written out does not fail.
        guard let match = try? form.wholeMatch(in: text),
            let day = days(year: Int(match.1), month: Int(match.2), day: Int(match.3)),
            let hours = Int(match.4 ?? "0"), let minutes = Int(match.5 ?? "0"),
            let seconds = Int(match.6 ?? "0"), hours < 24, minutes < 60, seconds < 60,
            let offset = self.seconds(ofZone: match.8 ?? "Z")
        else { return nil }
        let whole = day * 86_400 + hours * 3600 + minutes * 60 + seconds - offset
        guard let fraction = match.7 else { return Double(whole) }
        // As one number in text, which is rounded once.
        if whole >= 0 { return Double("\(whole).\(fraction)") }
        return Double("0.\(fraction)").map { Double(whole) + $0 }
    }

    /// The days since 1 January 2001, by the Gregorian calendar before it was in use too, as ISO 8601 and SQLite count
    /// them: Foundation has the Julian calendar before 1582. `nil` for a day that there is none of.
    private static func days(year: Int?, month: Int?, day: Int?) -> Int? {
        guard let year, let month, let day, (1...12).contains(month) else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (1...lengths[month - 1]).contains(day) else { return nil }
        // One cycle of 400 years later, so that no year is below zero.
        let before = year + 399
        let beforeYear = before * 365 + before / 4 - before / 100 + before / 400
        return beforeYear + lengths[..<(month - 1)].reduce(0, +) + day - 1 - 876_582
    }

    private static func seconds(ofZone zone: Substring) -> Int? {
        guard zone != "Z" else { return 0 }
        let digits = zone.filter(\.isNumber)
        guard let hours = Int(digits.prefix(2)), let minutes = Int(digits.suffix(2)), hours < 24,
            minutes < 60
        else { return nil }
        return (hours * 3600 + minutes * 60) * (zone.first == "-" ? -1 : 1)
    }
}
