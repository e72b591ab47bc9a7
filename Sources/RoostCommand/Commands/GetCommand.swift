import ArgumentParser
import Roost

/// `roost get`: one value.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the value of a key.",
        discussion: "Exit status 1 where the key has no value. Text is printed as it is.")

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.") var dictionary: String
    @Argument(help: "The key.") var key: String
    @OptionGroup var format: FormatOption

    func run() async throws {
        let value = try await source.withWorkspace(.readOnly) { workspace in
            try workspace.dictionary(dictionary).storedValue(forKey: key)
        }
        guard let value else {
            throw Failure(.notFound, "\"\(key)\" has no value in \"\(dictionary)\"")
        }
        let record = RecordLine(dictionary: dictionary, key: key, value: value)
        switch (format.format, StoredForm.json(value)) {
        case (.json, _): try Output.write(record.json)
        case (.text, .string(let text)): try Output.write([text])
        case (.text, let json): try Output.write(json)
        }
    }
}
