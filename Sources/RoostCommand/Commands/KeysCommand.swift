import ArgumentParser
import Roost

/// `roost keys`: the keys of a dictionary, or the dictionaries.
struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of a dictionary in the order of their bytes.",
        discussion: "Lists the dictionaries where none is given.")

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.") var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @OptionGroup var format: FormatOption

    func run() async throws {
        let names = try await source.withWorkspace(.readOnly) { workspace in
            if let dictionary { return try workspace.dictionary(dictionary).keys }
            return try workspace.dictionaryNames
        }
        // By bytes, as keys are compared everywhere.
        let shown = prefix.isEmpty ? names : names.filter { $0.utf8.starts(with: prefix.utf8) }
        switch format.format {
        case .text: try Output.write(shown)
        case .json: try Output.write(.array(shown.map { .string($0) }))
        }
    }
}
