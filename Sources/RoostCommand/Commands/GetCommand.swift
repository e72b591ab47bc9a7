import ArgumentParser
import Roost

/// `roost get`: one value.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the value of a key.",
        discussion: """
            Exit status 1 where the key has no value. Text is printed as it is, a Codable value as \
            the tree that it is; with --format json as import reads it. On a terminal it is said \
            what eight bytes would be as a Date, which is stored as such, and when a value expires.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String
    @Argument(help: "The key.", completion: WorkspaceCompletion.keys)
    var key: String
    @OptionGroup var format: FormatOption

    func run() async throws {
        let value = try await source.withWorkspace(.readOnly) { workspace in
            try workspace.dictionary(dictionary).storedValue(forKey: key)
        }
        try Self.write(value, key, dictionary, format)
    }

    static func write(
        _ value: StoredValue?, _ key: String, _ dictionary: String, _ format: FormatOption
    ) throws {
        guard let value else {
            throw Failure(.notFound, "\"\(key)\" has no value in \"\(dictionary)\"")
        }
        if format.isJSON {
            let record = RecordLine(dictionary: dictionary, key: key, value: value)
            try Output.write(record.json)
        } else {
            try Output.write([ReadableForm.text(value)])
            // For people alone: a program that reads the value gets the value.
            if isOutputTerminal, let date = ReadableForm.date(value) {
                try Output.write(["(as a Date: \(date))"])
            }
            if isOutputTerminal, let expiration = ReadableForm.expiration(value) {
                try Output.write(["(expires \(expiration))"])
            }
        }
    }
}
