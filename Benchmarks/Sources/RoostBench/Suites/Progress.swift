import Foundation

/// Says on stderr what runs and how long the rest takes, by what each unit took so far.
struct Progress {
    private let unitCount: Int
    private var doneCount = 0
    private var remaining: [String: Int]
    private var durations: [String: [Double]] = [:]
    private var begin = ContinuousClock.now

    /// - Parameter units: How many units of each kind there are; those of one kind take as long.
    init(units: [String: Int]) {
        remaining = units
        unitCount = units.values.reduce(0, +)
    }

    mutating func begin(_ kind: String) {
        begin = .now
        var line = "[\(doneCount + 1)/\(unitCount)] \(kind)"
        if let left = secondsLeft { line += ", \(Self.time(left)) left" }
        FileHandle.standardError.write(Data((line + "\n").utf8))
    }

    mutating func end(_ kind: String) {
        doneCount += 1
        remaining[kind, default: 1] -= 1
        durations[kind, default: []].append(seconds(.now - begin))
    }

    /// Kinds that have not run yet count as the mean of those that have.
    private var secondsLeft: Double? {
        guard !durations.isEmpty else { return nil }
        let means = durations.mapValues { $0.reduce(0, +) / Double($0.count) }
        let typical = means.values.reduce(0, +) / Double(means.count)
        return remaining.reduce(0) { $0 + (means[$1.key] ?? typical) * Double($1.value) }
    }

    private static func time(_ seconds: Double) -> String {
        let minutes = Int(seconds / 60)
        return minutes > 0 ? "\(minutes) min" : "\(Int(seconds)) s"
    }
}
