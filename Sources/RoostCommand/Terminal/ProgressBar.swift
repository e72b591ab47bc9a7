import Foundation

/// A line on standard error that says how far a command is; nothing at all where that is not a
/// terminal.
struct ProgressBar {
    let isShown: Bool
    private let verb: String
    private let unit: String
    private let begin = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?
    /// What `update` has told.
    private var told: (count: Int, fraction: Double?)?

    /// What is done sooner shows nothing.
    private static let silentMilliseconds = 1000
    private static let intervalMilliseconds = 100
    private static let width = 24
    /// Takes back what stands on the line.
    private static let lineBegin = "\r\u{1b}[K"

    /// - Parameter besideList: Whether rows are written meanwhile: where they are on the terminal too,
    ///   nothing is shown between them.
    init(verb: String, unit: String = "records", besideList: Bool = false) {
        self.verb = verb
        self.unit = unit
        isShown =
            isatty(FileHandle.standardError.fileDescriptor) == 1
            && !(besideList && isatty(FileHandle.standardOutput.fileDescriptor) == 1)
    }

    /// Draws at most ten times a second. `fraction` is `nil` where the whole is not known.
    mutating func update(count: Int, fraction: Double?) {
        guard isShown else { return }
        told = (count, fraction)
        pulse()
    }

    /// Draws again, for work that tells nothing for a while: how long it takes goes on.
    mutating func pulse() {
        guard isShown else { return }
        let now = ContinuousClock.now
        if now - begin < .milliseconds(Self.silentMilliseconds) { return }
        if let lastDrawn, now - lastDrawn < .milliseconds(Self.intervalMilliseconds) { return }
        lastDrawn = now
        guard let told else {
            let seconds = Int((now - begin) / .seconds(1))
            let line = "\(Self.lineBegin)\(verb), for \(Self.duration(Double(seconds)))"
            return write(line)
        }
        draw(count: told.count, fraction: told.fraction, at: now)
    }

    /// Draws the end and leaves the line.
    func finish(count: Int) {
        guard isShown, lastDrawn != nil else { return }
        draw(count: count, fraction: 1, at: .now)
        writeError("\n")
    }

    /// Takes the line back, so that what follows begins at the left.
    mutating func clear() {
        guard isShown, lastDrawn != nil else { return }
        lastDrawn = nil
        writeError(Self.lineBegin)
    }

    private static func duration(_ seconds: Double) -> String {
        let seconds = Int(seconds.rounded(.up))
        return seconds < 60 ? "\(seconds) s" : "\(seconds / 60) min \(seconds % 60) s"
    }

    private func draw(count: Int, fraction: Double?, at now: ContinuousClock.Instant) {
        write(line(count: count, fraction: fraction, seconds: (now - begin) / .seconds(1)))
    }

    private func write(_ line: String) {
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0
        writeError(Self.cut(line, toColumns: isKnown ? Int(size.ws_col) : 0))
    }

    /// What is as long as a terminal's line goes on in the next one, and what takes the line back takes back that
    /// one alone: each update would leave a line.
    ///
    /// - Parameters:
    ///   - line: Begins with what takes the line back.
    ///   - columnCount: 0 where it is not known.
    static func cut(_ line: String, toColumns columnCount: Int) -> String {
        guard columnCount > 0 else { return line }
        return String(line.prefix(lineBegin.count + columnCount - 1))
    }

    /// A fraction that is no number says nothing, as one of nothing is.
    func line(count: Int, fraction: Double?, seconds: Double) -> String {
        var line = "\(Self.lineBegin)\(verb) "
        if let fraction, fraction.isFinite {
            let filled = Int(min(max(fraction, 0), 1) * Double(Self.width))
            line += "[" + String(repeating: "#", count: filled)
            line += String(repeating: "-", count: Self.width - filled) + "] "
        }
        let rate = seconds > 0 ? Int(Double(count) / seconds) : 0
        line += "\(grouped(count)) \(unit), \(grouped(rate)) a second"
        if let fraction, fraction > 0, fraction < 1 {
            line += ", \(Self.duration(seconds * (1 - fraction) / fraction)) left"
        }
        return line
    }
}

/// A number with a comma between thousands.
func grouped(_ number: some BinaryInteger) -> String {
    let digits = Array(String(number.magnitude))
    var text = number < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
        text.append(digit)
    }
    return text
}
