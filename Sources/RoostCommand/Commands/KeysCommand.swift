import ArgumentParser
import Roost

/// `roost keys`: the keys of a dictionary, or the dictionaries.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of a dictionary in the order of their bytes.",
        discussion: """
            Lists the dictionaries where none is given. On a terminal control characters are shown as \\u{…}; \
            a file or a program gets the bytes of the keys.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        try await source.withWorkspace(.readOnly) { workspace in
            guard let dictionary else {
                // By bytes, as keys are compared everywhere.
                let names = try workspace.dictionaryNames.filter {
                    $0.utf8.starts(with: prefix.utf8)
                }
                return try Self.write(names, column: "dictionary", format.format)
            }
            var range = StoredRange(dictionary: dictionary)
            range.prefix = prefix
            let records = try StoredRecords(workspace, range)
            var rows = try NameWriter(column: "key", format.format)
            while let key = try records.nextKey() { try rows.write(key) }
            try rows.finish()
        }
    }

    static func write(_ names: [String], column: String, _ format: OutputFormat) throws {
        var rows = try NameWriter(column: column, format)
        for name in names { try rows.write(name) }
        try rows.finish()
    }
}

/// Writes names: a line each, one array, or rows of one column.
private struct NameWriter {
    private let output: Output
    private let format: OutputFormat
    private var rows: RowWriter
    private var count = 0

    init(column: String, _ format: OutputFormat) throws {
        output = try Output()
        self.format = format
        rows = RowWriter(columns: [column], format: format, output: output)
    }

    mutating func write(_ name: String) throws {
        count += 1
        switch format {
        // A terminal's line is one name.
        case .text, .table: try output.writeLine(isOutputTerminal ? visible(name) : name)
        case .json: try output.write((count == 1 ? "[" : ",") + JSONValue.string(name).text)
        case .jsonl, .csv: try rows.write([.string(name)])
        }
    }

    mutating func finish() throws {
        switch format {
        case .text, .table: break
        case .json: try output.write(count == 0 ? "[]\n" : "]\n")
        case .jsonl, .csv: try rows.finish()
        }
        try output.flush()
    }
}
