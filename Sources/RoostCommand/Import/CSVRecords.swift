import Foundation
import Roost

/// The records of a CSV file (RFC 4180) whose first record has the names of the columns.
struct CSVRecords {
    private(set) var records: [ForeignRecord] = []

    /// - Parameter progress: told of the bytes that are read.
    init(
        _ data: Data, keys: ObjectKeys, columns: ColumnTypes, _ progress: LiveProgress
    ) throws {
        var parser = try CSVParser(bytes: Array(data), naming: keys.field)
        guard let names = try parser.next() else {
            throw Failure(.usage, "the CSV file is empty: its first line has the columns' names")
        }
        guard Set(names).count == names.count else {
            throw Failure(.usage, "line 1: two columns have one name")
        }
        for name in columns.kinds.keys where !names.contains(name) {
            throw Failure(.usage, "line 1: there is no column \"\(name)\"")
        }
        while true {
            let place = "line \(parser.line)"
            guard let fields = try parser.next() else { return }
            guard fields.count == names.count else {
                throw Failure(
                    .usage,
                    "\(place): \(fields.count) fields, where the first line has \(names.count)")
            }
            // What a spreadsheet writes of rows that look empty in it.
            if let index = names.firstIndex(of: keys.field), fields[index].isEmpty {
                throw Failure(
                    .usage, "\(place): \"\(keys.field)\", which is to be the key, is empty")
            }
            let members = try zip(names, fields).map { name, text in
                JSONValue.Member(
                    name: name, value: try columns.json(text, column: name, place: place))
            }
            records.append(try keys.record(of: .object(members), place: place))
            progress.update(
                count: records.count, fraction: Double(parser.index) / Double(data.count))
        }
    }
}

/// Takes a CSV text apart, strictly: a quote that is not closed, or stands within a field, is an error.
struct CSVParser {
    private let bytes: [UInt8]
    private(set) var index = 0
    /// Where the next record begins, counted from one.
    private(set) var line = 1
    /// What stands between the fields of a record.
    private var separator = UInt8(ascii: ",")

    /// Spreadsheets separate by semicolons where the comma is in numbers, and by tabulators: the separator is the one
    /// by which the first record has a column `name`, or that of a line `sep=;`, as Excel has it.
    init(bytes: [UInt8], naming name: String) throws {
        self.bytes = bytes
        index = ByteOrderMark.sizeBytes(in: bytes)
        let said = Array("sep=".utf8)
        if bytes[index...].starts(with: said), index + 5 < bytes.count,
            [UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(bytes[index + 5])
        {
            separator = bytes[index + 4]
            index += 5
            return
        }
        for candidate in [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")] {
            var parser = self
            parser.separator = candidate
            // What is wrong with the record by another separator is said when it is read by commas.
            if let names = try? parser.next(), names.contains(name) {
                separator = candidate
                return
            }
        }
    }

    /// The fields of the next record; `nil` after the last. Empty lines are none.
    mutating func next() throws -> [String]? {
        while index < bytes.count,
            bytes[index] == UInt8(ascii: "\n") || bytes[index] == UInt8(ascii: "\r")
        {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
        guard index < bytes.count else { return nil }
        var fields: [String] = []
        let first = line
        while true {
            fields.append(try field(first))
            guard index < bytes.count else { return fields }
            let end = bytes[index]
            index += 1
            if end == separator { continue }
            if end == UInt8(ascii: "\r"), index < bytes.count, bytes[index] == UInt8(ascii: "\n") {
                index += 1
            }
            line += 1
            return fields
        }
    }

    private mutating func field(_ first: Int) throws -> String {
        var text: [UInt8] = []
        if index < bytes.count, bytes[index] == UInt8(ascii: "\"") {
            index += 1
            while true {
                guard index < bytes.count else {
                    throw Failure(.usage, "line \(first): a quote is not closed")
                }
                let byte = bytes[index]
                index += 1
                if byte == UInt8(ascii: "\"") {
                    guard index < bytes.count, bytes[index] == byte else { break }
                    index += 1
                }
                if byte == UInt8(ascii: "\n") { line += 1 }
                text.append(byte)
            }
            guard index == bytes.count || ends(bytes[index]) else {
                throw Failure(.usage, "line \(line): text behind a quoted field")
            }
        } else {
            while index < bytes.count, !ends(bytes[index]) {
                guard bytes[index] != UInt8(ascii: "\"") else {
                    throw Failure(.usage, "line \(line): a quote within a field that is not quoted")
                }
                text.append(bytes[index])
                index += 1
            }
        }
        guard let string = String(validating: text, as: UTF8.self) else {
            throw Failure(.usage, "line \(line): not UTF-8")
        }
        return string
    }

    private func ends(_ byte: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
