import Foundation

/// A line on standard error that says how far a command is; nothing at all where that is not a
/// terminal.
struct ProgressBar {
    private let isShown = isatty(FileHandle.standardError.fileDescriptor) == 1
    private let verb: String
    private let begin = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?

    private static let intervalMilliseconds = 100
    private static let width = 24

    init(verb: String) { self.verb = verb }

    /// Draws at most ten times a second. `fraction` is `nil` where the whole is not known.
    mutating func update(count: Int, fraction: Double?) {
        guard isShown else { return }
        let now = ContinuousClock.now
        if let lastDrawn, now - lastDrawn < .milliseconds(Self.intervalMilliseconds) { return }
        lastDrawn = now
        draw(count: count, fraction: fraction, at: now)
    }

    /// Draws the end and leaves the line.
    func finish(count: Int) {
        guard isShown else { return }
        draw(count: count, fraction: 1, at: .now)
        FileHandle.standardError.write(Data("\n".utf8))
    }

    /// Takes the line back, so that what follows begins at the left.
    func clear() {
        guard isShown else { return }
        FileHandle.standardError.write(Data("\r\u{1b}[K".utf8))
    }

    private func draw(count: Int, fraction: Double?, at now: ContinuousClock.Instant) {
        var line = "\r\u{1b}[K\(verb) "
        if let fraction {
            let filled = Int(min(max(fraction, 0), 1) * Double(Self.width))
            line += "[" + String(repeating: "#", count: filled)
            line += String(repeating: "-", count: Self.width - filled) + "] "
        }
        let seconds = (now - begin) / .seconds(1)
        let rate = seconds > 0 ? Int(Double(count) / seconds) : 0
        line += "\(grouped(count)) records, \(grouped(rate)) a second"
        FileHandle.standardError.write(Data(line.utf8))
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
