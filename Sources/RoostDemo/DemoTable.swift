import Foundation

/// The demo's table: a row for each step, columns as wide as they must be.
struct DemoTable {
    private var rows: [[String]] = [
        ["step", "took", "each", "on disk", "resident", "anonymous", "files"]
    ]

    /// Adds a step. `count` is how many of something it did; figures that do not apply, or that
    /// the system does not give, show as a dash.
    mutating func add(
        _ step: String, _ duration: Double?, count: Int? = nil, diskBytes: UInt64? = nil,
        memory: ProcessMemory? = nil
    ) {
        let each = duration.flatMap { seconds in count.map { Self.time(seconds / Double($0)) } }
        rows.append([
            step, duration.map(Self.time) ?? "-", each ?? "-", diskBytes.map(Self.size) ?? "-",
            memory.map { Self.size($0.totalBytes) } ?? "-",
            memory.map { Self.size($0.anonymousBytes) } ?? "-",
            memory.map { Self.size($0.fileBytes) } ?? "-",
        ])
    }

    var lines: [String] {
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            row.enumerated().map { column, cell in
                let padding = String(repeating: " ", count: widths[column] - cell.count)
                return column == 0 ? cell + padding : padding + cell
            }.joined(separator: "  ")
        }
        let ruleWidth = widths.reduce(0, +) + 2 * (widths.count - 1)
        lines.insert(String(repeating: "-", count: ruleWidth), at: 1)
        return lines
    }

    static func time(_ seconds: Double) -> String {
        switch seconds {
        case ..<0.000_001: "\(rounded(seconds * 1e9)) ns"
        case ..<0.001: "\(rounded(seconds * 1e6)) us"
        case ..<1: "\(rounded(seconds * 1e3)) ms"
        case ..<600: "\(rounded(seconds)) s"
        default: "\(rounded(seconds / 60)) min"
        }
    }

    static func size(_ bytes: UInt64) -> String {
        bytes < 1 << 20
            ? "\(rounded(Double(bytes) / 1024)) KiB" : "\(rounded(Double(bytes) / 1_048_576)) MiB"
    }

    /// Three significant digits, which is as much as one run tells.
    private static func rounded(_ value: Double) -> String {
        switch value {
        case ..<10: "\((value * 100).rounded() / 100)"
        case ..<100: "\((value * 10).rounded() / 10)"
        default: grouped(Int(value.rounded()))
        }
    }
}

/// A number with a comma between thousands.
func grouped(_ number: some BinaryInteger) -> String {
    IntegerFormatStyle<Int>.number.locale(Locale(identifier: "en_US")).format(Int(number))
}
