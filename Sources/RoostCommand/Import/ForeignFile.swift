import ArgumentParser
import Foundation
import Roost
import RoostFormat

/// What `import` reads beside its own lines.
enum ImportFormat: String, ExpressibleByArgument, CaseIterable {
    /// Lines of `{"dictionary", "key", "value"}`.
    case records
    /// A property list, binary or XML: each key of its dictionary.
    case plist
    /// A JSON array of objects.
    case json
    /// A JSON object in each line.
    case jsonl
    /// Records of named fields (RFC 4180).
    case csv
    /// A table of a SQLite file.
    case sqlite
}

/// One value of a foreign file, and where in it it stands.
struct ForeignRecord {
    var key: String
    var value: Value
    /// For messages: "line 3".
    var place: String
    /// What its identifier is, where that was not said.
    var identifier: Identifier?

    enum Identifier: String { case text, number }

    enum Value {
        case json(StoredValue)
        case propertyList(PropertyListTree)

        /// What is stored beside the kind; of a number or a date not more than that.
        func sizeBytes() throws -> Int {
            switch self {
            case .json(let stored): return stored.payload.count
            case .propertyList(.string(let text)): return text.utf8.count
            case .propertyList(.data(let data)): return data.count
            case .propertyList(let tree):
                switch tree {
                case .array, .dictionary: break
                default: return 1
                }
                let encoder = PropertyListEncoder()
                encoder.outputFormat = .binary
                // As the store has it: in an array.
                return try encoder.encode([tree]).count
            }
        }
    }

    /// Checks what a workspace would refuse of values, so that it is named.
    ///
    /// - Parameter dictionary: Whose name is in each record of the batch.
    /// - Throws: `Failure` where a value, or with it all so far, are more than `valueLimitBytes` and `batchLimitBytes`.
    static func checkSizes(
        of records: [ForeignRecord], in dictionary: String,
        valueLimitBytes: Int = Limits.valueSizeBytes,
        batchLimitBytes: Int = Limits.framePayloadSizeBytes
    ) throws {
        var wholeBytes = 0
        for record in records {
            let sizeBytes = try record.value.sizeBytes()
            guard sizeBytes <= valueLimitBytes else {
                throw Failure(
                    .usage,
                    "\(record.place): the value has \(grouped(sizeBytes)) bytes; up to \(grouped(valueLimitBytes)) are allowed"
                )
            }
            // The name's length, and the kind.
            wholeBytes += RoostFormat.Operation.headerSizeBytes + 1 + dictionary.utf8.count
            wholeBytes += record.key.utf8.count + 1 + sizeBytes
            guard wholeBytes <= batchLimitBytes else {
                throw Failure(
                    .usage,
                    "\(record.place): up to here the values have more than the \(grouped(batchLimitBytes)) bytes that are imported as one batch: split the file"
                )
            }
        }
    }
}

/// Reads the whole of a foreign file: nothing is written before all of it is sound.
struct ForeignFile {
    /// The file's name, for messages.
    let path: String
    let format: ImportFormat
    let keys: ObjectKeys
    let columns: ColumnTypes
    /// Of a SQLite file.
    var table: String?

    func records() throws -> [ForeignRecord] {
        let records = try LiveProgress.show("reading") { progress in
            switch format {
            case .records: preconditionFailure("its own lines are read line by line")
            case .plist: try propertyList()
            case .json: try array()
            case .jsonl: try lines(progress)
            case .csv: try CSVRecords(try text(), keys: keys, columns: columns, progress).records
            case .sqlite: try sqliteRecords(progress)
            }
        }
        try check(records)
        return records
    }

    private func check(_ records: [ForeignRecord]) throws {
        // By bytes, as keys are: texts that look the same may be two.
        var places: [[UInt8]: String] = [:]
        let first = records.first
        for record in records {
            let key = Array(record.key.utf8)
            guard key.count <= Limits.keySizeBytes else {
                throw Failure(
                    .usage,
                    "\(record.place): the key has \(grouped(key.count)) bytes; up to \(grouped(Limits.keySizeBytes)) are allowed"
                )
            }
            if let other = places.updateValue(record.place, forKey: key) {
                throw Failure(
                    .usage, "\(record.place): the key \"\(record.key)\" is at \(other) already")
            }
            // A type has identifiers of one kind, and could not read the others.
            if let first, let kind = record.identifier, let other = first.identifier, kind != other
            {
                throw Failure(
                    .usage,
                    "\(record.place): \"\(keys.field)\" is a \(kind.rawValue), and at \(first.place) a \(other.rawValue): say --id-kind string or int"
                )
            }
        }
    }

    private func sqliteRecords(_ progress: LiveProgress) throws -> [ForeignRecord] {
        #if SQLite
            let table = SQLiteTable(path: path, table: table, keys: keys, columns: columns)
            return try table.records { done, total in
                progress.update(count: done, fraction: Double(done) / Double(max(total, 1)))
            }
        #else
            throw Failure(
                .usage, "this roost was built without SQLite: build it with --traits SQLite")
        #endif
    }

    /// - Throws: also where it is UTF-16, which no format here is.
    private func text() throws -> Data {
        let data = try data()
        if let reason = ByteOrderMark.refusal(of: data) {
            throw Failure(.usage, "\(path): \(reason)")
        }
        return data
    }

    private func data() throws -> Data {
        guard path == "-" else { return try InputFile.contents(of: path) }
        return try Descriptor.readToEnd(STDIN_FILENO, named: "standard input")
    }

    private func propertyList() throws -> [ForeignRecord] {
        do {
            return try PropertyListTree.members(ofPropertyList: try data()).map { key, tree in
                ForeignRecord(key: key, value: .propertyList(tree), place: "key \"\(key)\"")
            }
        } catch let error as RoostError { throw Failure(.usage, "\(path): \(error.message)") }
    }

    private func array() throws -> [ForeignRecord] {
        let data = try text()
        let mark = ByteOrderMark.sizeBytes(in: data)
        let parsed = data.withUnsafeBytes { bytes -> Result<JSONValue, JSONSyntaxError> in
            let text = UnsafeRawBufferPointer(rebasing: bytes[mark...])
            do throws(JSONSyntaxError) { return .success(try JSONParser.parse(text)) } catch {
                return .failure(error)
            }
        }
        switch parsed {
        case .failure(let error):
            let offset = mark + error.offset
            let line = data.prefix(offset).count { $0 == UInt8(ascii: "\n") } + 1
            throw Failure(.usage, "\(path): line \(line) (offset \(offset)): \(error.reason)")
        case .success(.array(let elements)):
            return try elements.enumerated().map { index, json in
                try keys.record(of: json, place: "element \(index + 1)")
            }
        case .success: throw Failure(.usage, "\(path): not a JSON array of objects")
        }
    }

    private func lines(_ progress: LiveProgress) throws -> [ForeignRecord] {
        let reader = try LineReader(path: path)
        var records: [ForeignRecord] = []
        while true {
            let record = try reader.withNextLine { line -> ForeignRecord? in
                if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
                    return nil
                }
                let place = "line \(reader.lineNumber)"
                let json: JSONValue
                do throws(JSONSyntaxError) { json = try JSONParser.parse(line) } catch {
                    throw Failure(.usage, "\(place): \(error.reason) (column \(error.offset + 1))")
                }
                return try keys.record(of: json, place: place)
            }
            // The outer nil is the end, the inner one a blank line.
            guard let record else { return records }
            if let record { records.append(record) }
            progress.update(
                count: records.count,
                fraction: reader.sizeBytes.map { Double(reader.offsetBytes) / Double(max($0, 1)) })
        }
    }
}
