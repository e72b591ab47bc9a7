import Foundation

/// Writes rows of named columns as a table, as one JSON array, as JSON Lines, or as CSV (RFC 4180).
///
/// - A table's columns are as wide as the first rows need, up to a width, so that a million of them are not held.
/// - Call `finish` after the last row.
struct RowWriter {
    private let columns: [String]
    private let format: OutputFormat
    private let output: Output
    /// Where a cell of a table is cut; `nil` for nowhere.
    private let cellWidth: Int?
    private var waiting: [[String]] = []
    private var widths: [Int]?
    private var count = 0

    private static let measuredRowCount = 200
    private static let terminalCellWidth = 60
    /// What is longer stands out of its column: one long key would make each line as long.
    private static let maximumWidth = 60

    init(columns: [String], format: OutputFormat, output: Output) {
        self.columns = columns
        self.format = format
        self.output = output
        cellWidth =
            isatty(FileHandle.standardOutput.fileDescriptor) == 1 ? Self.terminalCellWidth : nil
    }

    mutating func write(_ values: [JSONValue]) throws {
        count += 1
        switch format {
        case .text, .table:
            let cells = values.map { Self.cell($0, width: cellWidth) }
            if widths != nil { return try writeLine(cells) }
            waiting.append(cells)
            if waiting.count == Self.measuredRowCount { try measure() }
        case .json:
            try output.write(count == 1 ? "[\n" : ",\n")
            try output.write(object(values).text)
        case .jsonl: try output.writeLine(object(values))
        case .csv:
            if count == 1 { try writeHeader() }
            try output.writeLine(values.map(Self.field).joined(separator: ","))
        }
    }

    mutating func finish() throws {
        switch format {
        case .text, .table: if widths == nil && count > 0 { try measure() }
        case .json: try output.write(count == 0 ? "[]\n" : "\n]\n")
        case .jsonl: break
        case .csv: if count == 0 { try writeHeader() }
        }
        try output.flush()
    }

    private func writeHeader() throws {
        try output.writeLine(columns.map { Self.field(.string($0)) }.joined(separator: ","))
    }

    private mutating func measure() throws {
        let rows = [columns] + waiting
        widths = columns.indices.map { column in
            min(rows.map { $0[column].count }.max() ?? 0, Self.maximumWidth)
        }
        try writeLine(columns)
        try writeLine(widths!.map { String(repeating: "-", count: $0) })
        for row in waiting { try writeLine(row) }
        waiting = []
    }

    private func writeLine(_ cells: [String]) throws {
        var line = ""
        for (index, cell) in cells.enumerated() {
            if index > 0 { line += "  " }
            line += cell
            if index < cells.count - 1 {
                line += String(repeating: " ", count: max(0, widths![index] - cell.count))
            }
        }
        try output.writeLine(line)
    }

    private func object(_ values: [JSONValue]) -> JSONValue {
        .object(zip(columns, values).map { .init(name: $0, value: $1) })
    }

    /// On one line, without what would move a terminal's cursor.
    private static func cell(_ value: JSONValue, width: Int?) -> String {
        let cell = visible(plainText(value))
        guard let width, cell.count > width else { return cell }
        return cell.prefix(width - 1) + "…"
    }

    private static func plainText(_ value: JSONValue) -> String {
        switch value {
        case .string(let text): text
        case .null: ""
        default: value.text
        }
    }

    /// A field of CSV: in quotes where it holds what separates fields and records. Readers go by bytes, so that a
    /// comma is one whatever mark stands over it.
    static func field(_ value: JSONValue) -> String {
        let text = plainText(value)
        if text.isEmpty { if case .null = value { return "" } }
        let isSeparating = text.unicodeScalars.contains {
            $0 == "," || $0 == "\"" || Character($0).isNewline
        }
        guard isSeparating || text.isEmpty else { return text }
        var field = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" { field.unicodeScalars.append(scalar) }
            field.unicodeScalars.append(scalar)
        }
        field.unicodeScalars.append("\"")
        return field
    }
}
