import ArgumentParser
import Foundation
import Roost

/// `roost set`: one value.
struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets the value of a key.",
        discussion: """
            The value is JSON, so text stands in quotes, or is given with --string. It is on \
            disk when the command returns. The workspace is created where there is none.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String
    @Argument(help: "The key.", completion: WorkspaceCompletion.keys)
    var key: String
    @OptionGroup var value: ValueArgument

    func run() async throws {
        let stored = try value.stored(forKey: key, in: dictionary)
        try await target.withWorkspace(.readWrite) { workspace in
            try await workspace.write(durability: .synced) { batch in
                batch.setStored(stored, forKey: key, in: workspace.dictionary(dictionary))
            }
        }
    }

}

/// A value on the command line.
struct ValueArgument: ParsableArguments {
    @Argument(help: "The value; - reads it from standard input. Put -- before a negative number.")
    var value: String
    @Flag(name: .customLong("string"), help: "The value is text, not JSON.")
    var isString = false

    /// - Throws: `Failure` where it is no value, or one that no workspace takes under these names.
    func stored(forKey key: String, in dictionary: String) throws -> StoredValue {
        let record = RecordLine(dictionary: dictionary, key: key, value: try parsed())
        do { try record.check() } catch { throw Failure(.usage, error.reason) }
        return record.value
    }

    private func parsed() throws -> StoredValue {
        var text = value
        if value == "-" {
            let input = try Descriptor.readToEnd(STDIN_FILENO, named: "standard input")
            guard let decoded = String(validating: input, as: UTF8.self) else {
                throw Failure(.usage, "standard input is not UTF-8")
            }
            text = decoded
        }
        if isString { return StoredForm.string(text) }
        let json: JSONValue
        do { json = try JSONParser.parse(text) } catch {
            throw Failure(
                .usage,
                "the value is not JSON: \(error.reason) (column \(error.offset + 1)); "
                    + "give text with --string, or in quotes")
        }
        do { return try StoredForm.stored(json) } catch { throw Failure(.usage, error.reason) }
    }
}
