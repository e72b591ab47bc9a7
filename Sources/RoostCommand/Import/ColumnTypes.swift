import Foundation
import Roost

/// What the columns of a CSV file or of a table hold, beside what they seem to: `--column age=int`.
///
/// What a column is said to hold it holds, or the import ends: nothing is passed on as something else.
struct ColumnTypes {
    enum Kind: String, CaseIterable {
        case text, int, double, decimal, bool
        /// A date as text; of a number the seconds since 1970.
        case date
        case unixDate = "date:unix"
        case millisecondDate = "date:milliseconds"
        /// Seconds since 2001, as `Codable` has a date.
        case referenceDate = "date:reference"
        case uuid, json

        /// The date that a number is; `nil` for one that no calendar of four digits has: milliseconds that are
        /// said to be seconds.
        func date(_ number: Double) -> Date? {
            let date =
                switch self {
                case .millisecondDate: Date(timeIntervalSince1970: number / 1000)
                case .referenceDate: Date(timeIntervalSinceReferenceDate: number)
                default: Date(timeIntervalSince1970: number)
                }
            let years = Self.beginOfYearZero..<Self.endOfYear9999
            return years.contains(date.timeIntervalSince1970) ? date : nil
        }

        private static let beginOfYearZero = -62_167_219_200.0
        private static let endOfYear9999 = 253_402_300_800.0
    }

    var kinds: [String: Kind] = [:]

    init(_ options: [String]) throws {
        for option in options {
            // The last one, since a name may have it too.
            guard let mark = option.lastIndex(of: "="),
                let kind = Kind(rawValue: String(option[option.index(after: mark)...]))
            else {
                let names = Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw Failure(.usage, "--column \(option): NAME=KIND, the kind one of \(names)")
            }
            guard kinds.updateValue(kind, forKey: String(option[..<mark])) == nil else {
                throw Failure(.usage, "--column \(option): this column is there twice")
            }
        }
    }

    /// A text as JSON that `Codable` types read; an empty one that is no text is null.
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
            case .date: ForeignDate.secondsSinceReference(text).map(Self.json)
            case .unixDate, .millisecondDate, .referenceDate:
                Double(text).flatMap(kind.date).map(Self.json)
            case .uuid: UUID(uuidString: text).map { .string($0.uuidString) }
            case .json: try? JSONParser.parse(text)
            }
        guard let value else { throw Self.failure(text, kind, column, place) }
        return value
    }

    /// A number as JSON that `Codable` types read; as it is where nothing is said of the column.
    func json(number text: String, column: String, place: String) throws -> JSONValue {
        guard let kind = kinds[column] else { return .number(text) }
        let value: JSONValue? =
            switch kind {
            case .text: .string(text)
            case .int: Int128(text).map { .integer($0) } ?? Self.whole(text)
            case .double, .decimal, .json: .number(text)
            case .bool: text == "0" ? .bool(false) : text == "1" ? .bool(true) : nil
            case .date, .unixDate, .millisecondDate, .referenceDate:
                Double(text).flatMap(kind.date).map(Self.json)
            case .uuid: nil
            }
        guard let value else { throw Self.failure(text, kind, column, place) }
        return value
    }

    /// Bytes as JSON that `Codable` types read: in base 64, as a `Data`, where nothing is said of the column.
    func json(_ bytes: [UInt8], column: String, place: String) throws -> JSONValue {
        guard let kind = kinds[column] else { return .string(Data(bytes).base64EncodedString()) }
        switch kind {
        case .uuid where bytes.count == 16:
            return .string(
                bytes.withUnsafeBytes { $0.loadUnaligned(as: UUID.self) }.uuidString)
        case .text, .json:
            if let text = String(validating: bytes, as: UTF8.self) {
                return try json(text, column: column, place: place)
            }
        default: break
        }
        throw Self.failure("\(bytes.count) bytes", kind, column, place)
    }

    private static func failure(
        _ text: String, _ kind: Kind, _ column: String, _ place: String
    ) -> Failure {
        Failure(
            .usage, "\(place), column \"\(column)\": \"\(text.prefix(60))\" is no \(kind.rawValue)")
    }

    /// As `JSONDecoder` reads a `Date`.
    private static func json(_ date: Date) -> JSONValue {
        json(date.timeIntervalSinceReferenceDate)
    }
    private static func json(_ seconds: Double) -> JSONValue { .number(seconds.description) }

    private static func whole(_ text: String) -> JSONValue? {
        Double(text).flatMap { Int128(exactly: $0) }.map { .integer($0) }
    }

    private static func bool(_ text: String) -> JSONValue? {
        switch text.lowercased() {
        case "true", "yes", "1": .bool(true)
        case "false", "no", "0": .bool(false)
        default: nil
        }
    }
}
