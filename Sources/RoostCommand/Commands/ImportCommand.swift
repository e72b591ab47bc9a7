import ArgumentParser
import Foundation
import Roost
import RoostFormat

/// `roost import`: JSON Lines into a workspace.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract:
            "Reads JSON Lines, property lists, JSON, CSV, or a SQLite table into a workspace.",
        discussion: """
            records, the default, is what export writes: each line is {"dictionary": "…", "key": \
            "…", "value": …}. Lines are written in batches of up to \(ImportCommand.batchCount); a bad \
            line ends the import, is named by its number, and nothing of its batch is written.

            Other formats go into one dictionary, --into, and are imported whole or not at all, as \
            one batch (1 GiB at most):
              plist  a property list, as a UserDefaults file: each key with its type
              json   an array of objects, as a repository of one file has it
              jsonl  an object in each line
              csv    a record in each line, the first with the columns' names; separated by commas, or by \
            semicolons or tabulators where --id is a column by them; --column NAME=KIND for what is no text: \(ColumnTypes.Kind.allCases.map(\.rawValue).joined(separator: ", "))
              sqlite a table of a SQLite file, --table; with the types that the rows have, and \
            --column for what they mean, as at=date for seconds since 1970 (where roost was built \
            with the trait SQLite)

            Of objects the member that --id names is the key, as a repository with such identifiers \
            has it; with --id-kind int a text of digits becomes a number, with string a number a text, in \
            the value too; without, all are numbers or all are text. The values are read back as the Codable types that read them from JSON.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Argument(help: "The file to read; - is standard input.", completion: .file())
    var input = "-"
    @Option(help: "What the file is.") var format = ImportFormat.records
    @Option(help: "The dictionary, for all formats but records.") var into: String?
    @Option(help: "The table of a SQLite file, where it has several.") var table: String?
    @Option(
        name: .customLong("id"), help: "The member, or column, that is the key; id unless said.")
    var idField: String?
    @Option(help: "What the identifiers are in the program: string, int or uuid.")
    var idKind = ObjectKeys.Kind.automatic
    @Option(
        name: .customLong("column"),
        help: "What a column of CSV or SQLite holds, as age=int. Repeatable.")
    var columns: [String] = []
    @Flag(help: "Keep the values of keys that are there already.") var keep = false
    @Flag(help: "Check everything and say what would be written; write nothing.") var dryRun = false

    static let batchCount = 1000
    private static let batchSizeBytes = 8 << 20

    func validate() throws {
        try refuseAddress(input)
        if format == .records {
            guard into == nil, columns.isEmpty, !keep else {
                throw ValidationError(
                    "--into, --column and --keep are for other formats than records")
            }
        } else if into == nil {
            throw ValidationError("which dictionary? say --into NAME")
        }
        if let into, into.utf8.count > Limits.dictionaryNameSizeBytes {
            throw ValidationError(
                "--into: a dictionary's name has up to \(Limits.dictionaryNameSizeBytes) bytes")
        }
        if !columns.isEmpty, format != .csv, format != .sqlite {
            throw ValidationError(
                "--column is for CSV and SQLite: JSON and property lists have types")
        }
        if idField != nil || idKind != .automatic, format == .records || format == .plist {
            throw ValidationError(
                "--id and --id-kind are for objects: records and property lists have their keys")
        }
        if table != nil, format != .sqlite {
            throw ValidationError("--table is for SQLite files")
        }
    }

    func run() async throws {
        if format != .records { return try await importForeign() }
        let reader = try LineReader(path: input)
        if dryRun {
            var count = ImportedRecords()
            while case let batch = try Self.nextBatch(reader), !batch.isEmpty {
                _ = count.take(batch)
            }
            return printError("\(count.text("would be")); nothing was written")
        }
        // Before there is a workspace: a file that is no such lines makes none.
        let first = try Self.nextBatch(reader)
        let count = try await target.withWorkspace(.readWrite) { workspace in
            try await Self.importAll(
                beginningWith: first, from: reader, into: WorkspaceStore(workspace: workspace))
        }
        printError(count.text())
    }

    private func importForeign() async throws {
        let file = ForeignFile(
            path: input, format: format, keys: ObjectKeys(field: idField ?? "id", kind: idKind),
            columns: try ColumnTypes(columns), table: table)
        let records = try file.records()
        // Before there is a workspace; with --keep once it has said what is left out.
        if !keep { try check(records) }
        if dryRun {
            let records = try await taken(of: records)
            if keep { try check(records) }
            for record in records.prefix(3) { printError("would set \"\(record.key)\"") }
            return printError(
                "\(grouped(records.count)) values would be imported into \"\(into ?? "")\"; nothing was written"
            )
        }
        let count = try await target.withWorkspace(.readWrite) { workspace in
            try await write(records, into: workspace)
        }
        printError("\(grouped(count)) values imported into \"\(into ?? "")\"")
    }

    /// The records that a workspace would get: with --keep, those whose keys it does not have.
    private func taken(of records: [ForeignRecord]) async throws -> [ForeignRecord] {
        guard keep, FileManager.default.fileExists(atPath: target.workspace) else { return records }
        return try await target.withWorkspace(.readOnly) { workspace in
            let dictionary = workspace.dictionary(into ?? "")
            return try records.filter { try !dictionary.contains($0.key) }
        }
    }

    private func check(_ records: [ForeignRecord]) throws {
        try ForeignRecord.checkSizes(of: records, in: into ?? "")
    }

    /// As one batch, on disk when it returns.
    private func write(_ records: [ForeignRecord], into workspace: Workspace) async throws -> Int {
        let dictionary = workspace.dictionary(into ?? "")
        let taken = keep ? try records.filter { try !dictionary.contains($0.key) } : records
        if keep { try check(taken) }
        try await LiveProgress.show("writing") { progress in
            try await workspace.write(durability: .synced) { batch in
                for (index, record) in taken.enumerated() {
                    switch record.value {
                    case .json(let stored):
                        batch.setStored(stored, forKey: record.key, in: dictionary)
                    case .propertyList(let tree): tree.set(record.key, in: dictionary, &batch)
                    }
                    progress.update(
                        count: index + 1, fraction: Double(index + 1) / Double(taken.count))
                }
            }
        }
        return taken.count
    }

    /// Writes every line of `reader` that has not expired. On disk when it returns.
    ///
    /// - Parameter first: The first batch, of who has read it already.
    static func importAll(
        beginningWith first: [RecordLine]? = nil, from reader: LineReader,
        into store: some RecordStore
    ) async throws -> ImportedRecords {
        var progress = ProgressBar(verb: "importing")
        var imported = ImportedRecords()
        var known = first
        while true {
            let firstLine = known == nil ? reader.lineNumber + 1 : 1
            let batch: [RecordLine]
            if let read = known {
                batch = read
                known = nil
            } else {
                do { batch = try nextBatch(reader, store.check) } catch let failure as Failure {
                    progress.clear()
                    // What came before the bad batch stays, so the message says how much that is.
                    try await store.synchronize()
                    let message = failure.message ?? "the input could not be read"
                    throw Failure(
                        failure.status,
                        "\(message); \(grouped(imported.count)) records before it were imported")
                }
            }
            if batch.isEmpty { break }
            var after = imported
            do { try await store.write(after.take(batch)) } catch {
                progress.clear()
                guard var failed = error as? RoostError else { throw error }
                // A cluster takes a batch in several steps.
                failed.message +=
                    "; \(grouped(imported.count)) records before line \(firstLine) were imported, and of those up to line \(reader.lineNumber) none or some"
                throw failed
            }
            imported = after
            let total = reader.sizeBytes.map(Double.init)
            progress.update(
                count: imported.count, fraction: total.map { Double(reader.offsetBytes) / $0 })
        }
        try await store.synchronize()
        progress.finish(count: imported.count)
        return imported
    }

    /// - Parameter check: Throws where a record is not to be written.
    private static func nextBatch(
        _ reader: LineReader, _ check: (StoredRecord) throws -> Void = { _ in }
    ) throws -> [RecordLine] {
        var batch: [RecordLine] = []
        let begin = reader.offsetBytes
        // An empty batch means the end of the input: blank lines alone, however many, are none.
        while batch.count < batchCount,
            batch.isEmpty || reader.offsetBytes - begin < batchSizeBytes
        {
            let parsed = try reader.withNextLine { line -> RecordLine? in
                if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) {
                    return nil
                }
                let record: RecordLine
                do throws(RecordLine.Failure) { record = try RecordLine(parsing: line) } catch {
                    throw Failure(.usage, "line \(reader.lineNumber): \(error.reason)")
                }
                do { try check(record.record) } catch let error as RoostError {
                    throw Failure(.usage, "line \(reader.lineNumber): \(error.message)")
                }
                return record
            }
            // The outer nil is the end, the inner one a blank line.
            guard let parsed else { break }
            if let record = parsed { batch.append(record) }
        }
        return batch
    }
}
