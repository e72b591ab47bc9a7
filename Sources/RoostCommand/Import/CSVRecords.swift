import Foundation
import Roost

/// What the columns of a CSV file hold, beside text: `--column age=int`.
struct ColumnTypes {
    enum Kind: String, CaseIterable {
        case text, int, double, decimal, bool, date, json
    }

    var kinds: [String: Kind] = [:]

    init(_ options: [String]) throws {
        for option in options {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let kind = Kind(rawValue: parts[1]) else {
                let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.usage, "--column \(option): NAME=KIND, the kind one of \(names)")
            }
            kinds[parts[0]] = kind
        }
    }

    /// The field as JSON that `Codable` types read; an empty one that is no text is null.
    func json(_ text: String, column: String, place: String) throws -> JSONValue {
        let kind = kinds[column] ?? .text
        if kind == .text { return .string(text) }
        if text.isEmpty { return .null }
        let value: JSONValue? =
            switch kind {
            case .text: .string(text)
            case .int: Int128(text).map { .integer($0) }
            case .double: Double(text).flatMap { $0.isFinite ? .number($0.description) : nil }
            case .decimal: DecimalForm(text) == nil ? nil : try? JSONParser.parse(text)
            case .bool: Self.bool(text)
            // As `JSONDecoder` reads a `Date`.
            case .date:
                Self.date(text).map { .number($0.timeIntervalSinceReferenceDate.description) }
            case .json: try? JSONParser.parse(text)
            }
        guard let value else {
            throw Failure(
                .usage,
                "\(place), column \"\(column)\": \"\(text.prefix(60))\" is no \(kind.rawValue)")
        }
        return value
    }

    private static func bool(_ text: String) -> JSONValue? {
        switch text.lowercased() {
        case "true", "yes", "1": .bool(true)
        case "false", "no", "0": .bool(false)
        default: nil
        }
    }

    private static func date(_ text: String) -> Date? {
        for style in [
            Date.ISO8601FormatStyle(), .init(includingFractionalSeconds: true),
            Date.ISO8601FormatStyle().year().month().day(),
        ] {
            if let date = try? Date(text, strategy: style) { return date }
        }
        return nil
    }
}

/// The records of a CSV file (RFC 4180) whose first record has the names of the columns.
struct CSVRecords {
    private(set) var records: [ForeignRecord] = []

    init(_ data: Data, keys: ObjectKeys, columns: ColumnTypes) throws {
        var parser = CSVParser(bytes: Array(data))
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
            let members = try zip(names, fields).map { name, text in
                JSONValue.Member(
                    name: name, value: try columns.json(text, column: name, place: place))
            }
            records.append(try keys.record(of: .object(members), place: place))
        }
    }
}

/// Takes a CSV text apart, strictly: a quote that is not closed, or stands within a field, is an error.
struct CSVParser {
    private let bytes: [UInt8]
    private var index = 0
    /// Where the next record begins, counted from one.
    private(set) var line = 1

    init(bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xef, 0xbb, 0xbf]) { index = 3 }
    }

    /// The fields of the next record; `nil` behind the last. Empty lines are none.
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
            if end == UInt8(ascii: ",") { continue }
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
            guard index == bytes.count || Self.ends(bytes[index]) else {
                throw Failure(.usage, "line \(line): text behind a quoted field")
            }
        } else {
            while index < bytes.count, !Self.ends(bytes[index]) {
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

    private static func ends(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
