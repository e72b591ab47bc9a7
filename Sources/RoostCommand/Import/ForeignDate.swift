import Foundation

/// A date as files have it in text: as ISO 8601 writes it, and as SQLite and GRDB do, with a space and without a
/// zone: that is UTC.
enum ForeignDate {
    /// The seconds since 2001; `nil` where `text` is no date.
    static func secondsSinceReference(_ text: String) -> Double? {
        let form =
            /(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?(?:\.(\d{1,9}))?(Z|[+-]\d{2}:?\d{2})?)?/
        // A pattern that is written out does not fail.
        guard let match = try? form.wholeMatch(in: text) else { return nil }
        let clock = "\(match.1)T\(match.2 ?? "00:00")\(match.3 ?? ":00")Z"
        let style = Date.ISO8601FormatStyle()
        // Days that there are none of would be those of the next month.
        guard let date = try? style.parse(clock), date.formatted(style) == clock,
            let offset = seconds(ofZone: match.5 ?? "Z")
        else { return nil }
        let whole = Int(date.timeIntervalSinceReferenceDate) - offset
        guard let fraction = match.4 else { return Double(whole) }
        // As one number in text, which is rounded once.
        if whole >= 0 { return Double("\(whole).\(fraction)") }
        return Double("0.\(fraction)").map { Double(whole) + $0 }
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
