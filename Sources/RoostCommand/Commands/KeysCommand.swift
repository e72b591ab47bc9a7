import ArgumentParser
import Roost

/// `roost keys`: the keys of a dictionary, or the dictionaries.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of a dictionary in the order of their bytes.",
        discussion: "Lists the dictionaries where none is given.")

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        let names = try await source.withWorkspace(.readOnly) { workspace in
            if let dictionary { return try workspace.dictionary(dictionary).keys }
            return try workspace.dictionaryNames
        }
        // By bytes, as keys are compared everywhere.
        let shown = prefix.isEmpty ? names : names.filter { $0.utf8.starts(with: prefix.utf8) }
        try Self.write(shown, column: dictionary == nil ? "dictionary" : "key", format.format)
    }

    static func write(_ names: [String], column: String, _ format: OutputFormat) throws {
        switch format {
        case .text, .table: try Output.write(names)
        case .json: try Output.write(.array(names.map { .string($0) }))
        case .jsonl, .csv:
            var rows = RowWriter(columns: [column], format: format, output: try Output())
            for name in names { try rows.write([.string(name)]) }
            try rows.finish()
        }
    }
}
