import Foundation

/// The rows as a table on the terminal: a line for each workload, a column for each engine, with
/// the medians; the line below says the spread and how many times better Roost is.
struct ReportTable {
    let rows: [ReportRow]

    private struct Line: Hashable {
        var suite: String
        var keys: Int
        var workload: String
        var clients: Int
        var durability: RowDurability
        var caller: String
        var unit: FigureUnit

        init(_ row: ReportRow) {
            suite = row.suite
            keys = row.keys
            workload = row.workload
            clients = row.clients
            durability = row.durability
            caller = row.caller
            unit = row.unit
        }
    }

    func text() -> String {
        var engines: [String] = []
        var lines: [Line] = []
        var cells: [Line: [String: ReportRow]] = [:]
        for row in rows {
            let line = Line(row)
            if !engines.contains(row.engine) { engines.append(row.engine) }
            if cells[line] == nil { lines.append(line) }
            cells[line, default: [:]][row.engine] = row
        }
        var text = ""
        var heading = ""
        for line in lines {
            let title = "\(line.suite), \(line.keys) keys"
            if title != heading {
                heading = title
                text += "\n" + pad(title, 44)
                text += engines.map { padLeft($0, 15) }.joined() + "\n"
            }
            text += pad(name(line), 44)
            text += engines.map { padLeft(cells[line]?[$0].map(figure) ?? "-", 15) }.joined() + "\n"
            text += pad("  range, Roost's advantage", 44)
            text += engines.map { padLeft(cells[line]?[$0].map(spread) ?? "", 15) }.joined() + "\n"
        }
        return text
    }

    private func name(_ line: Line) -> String {
        var name = line.workload
        if line.clients > 1 { name += ", \(line.clients) clients" }
        if line.durability == .synced { name += ", synced" }
        if line.caller != "task" { name += ", \(line.caller)" }
        return "\(name) (\(line.unit.rawValue))"
    }

    private func figure(_ row: ReportRow) -> String {
        let mark = row.sampledOperations == nil ? "" : "~"
        return mark + Self.short(row.figure.median)
    }

    /// Half of the range as a percentage of the median, and how many times Roost is better.
    private func spread(_ row: ReportRow) -> String {
        var parts: [String] = []
        if row.rounds > 1, row.figure.median > 0 {
            let percent = (row.figure.max - row.figure.min) / row.figure.median * 50
            parts.append("±\(Int(percent.rounded())) %")
        }
        if row.engine != RoostEngine.name, let ratio = row.ratioToRoost, ratio > 0 {
            let advantage = row.opsPerSecond == nil ? ratio : 1 / ratio
            parts.append(String(format: advantage < 10 ? "%.2fx" : "%.0fx", advantage))
        }
        return parts.joined(separator: " ")
    }

    static func short(_ value: Double) -> String {
        switch value {
        case 1e6...: String(format: "%.2fM", value / 1e6)
        case 1e4...: String(format: "%.0fk", value / 1e3)
        case 1e3...: String(format: "%.2fk", value / 1e3)
        case 100...: String(format: "%.0f", value)
        default: String(format: "%.3g", value)
        }
    }

    private func pad(_ text: String, _ width: Int) -> String {
        text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }

    private func padLeft(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(1, width - text.count)) + text
    }
}
