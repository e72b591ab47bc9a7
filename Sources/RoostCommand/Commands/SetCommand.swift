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
            disk when the command returns. The workspace is created where there is none. A deadline that the \
            key had before goes with the value that had it.
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
    @Option(
        help:
            "When the value is gone: after 90s, 15m, 12h or 7d, or at a moment, as 2026-11-20T10:00:00Z.",
        transform: Expiration.init(argument:))
    var expires: Expiration?

    /// - Throws: `Failure` where it is no value, or one that no workspace takes under these names.
    func stored(forKey key: String, in dictionary: String) throws -> StoredValue {
        var value = try parsed()
        if let deadline = try expires?.deadlineMilliseconds() {
            guard value.plain?.deadlineMilliseconds == nil else {
                throw Failure(.usage, "a \"$raw\" value says itself when it expires")
            }
            value = StoredValue(value, deadlineMilliseconds: deadline)
        }
        let record = RecordLine(dictionary: dictionary, key: key, value: value)
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
