import ArgumentParser
import Roost

/// `roost scan`: keys and values of a dictionary, in order.
struct ScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan",
        abstract: "Lists the keys and values of a dictionary, in order.",
        discussion: """
            All at one moment, by the bytes of the keys. Holds one value at a time in memory. \
            Without a dictionary all are listed.
            """)

    @OptionGroup var source: WorkspaceArgument
    @OptionGroup var selection: ScanSelection
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        let range = selection.range
        try await source.withWorkspace(.readOnly) { workspace in
            try await Self.list(
                try StoredRecords(workspace, range), of: range.dictionary,
                expires: selection.expires, format.format)
        }
    }

    static func list(
        _ records: any RecordCursor, of dictionary: String?, expires: Bool = false,
        _ format: OutputFormat
    ) async throws {
        let isOfAll = dictionary == nil
        var rows = RowWriter(
            columns: (isOfAll ? ["dictionary"] : []) + ["key", "value"]
                + (expires ? ["expires"] : []), format: format, output: try Output())
        while let record = try await records.next() {
            var row: [JSONValue] = isOfAll ? [.string(record.dictionary)] : []
            row += [.string(record.key), ReadableForm.json(record.value)]
            if expires {
                row.append(ReadableForm.expiration(record.value).map { .string($0) } ?? .null)
            }
            try rows.write(row)
        }
        try rows.finish()
    }
}

/// Which records are listed.
struct ScanSelection: ParsableArguments {
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(help: "The first key.") var from: String?
    @Option(help: "The first key that is not listed any more.") var below: String?
    @Flag(help: "The last key first.") var reverse = false
    @Option(help: "At most so many.") var limit: Int?
    @Flag(help: "With when each value expires, where it does.") var expires = false

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is not negative") }
    }

    var range: StoredRange {
        var range = StoredRange(dictionary: dictionary)
        range.prefix = prefix
        range.from = from
        range.below = below
        range.order = reverse ? .descending : .ascending
        range.limit = limit ?? .max
        return range
    }
}
