import ArgumentParser
import Roost

/// `roost --cluster … set`: one value.
struct ClusterSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Sets the value of a key.",
        discussion: "The value is JSON, so text stands in quotes, or is given with --string.")

    @OptionGroup var target: ClusterArgument
    @Argument(help: "The dictionary's name.") var dictionary: String
    @Argument(help: "The key.") var key: String
    @OptionGroup var value: ValueArgument

    func run() async throws {
        let record = StoredRecord(
            dictionary: dictionary, key: key, value: try value.stored(forKey: key, in: dictionary))
        try await target.withStore(makesNamespace: true) { try await $0.write([record]) }
    }
}

/// `roost --cluster … remove`: one key.
struct ClusterRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes a key.",
        discussion: "Exit status 1 where the key had no value.")

    @OptionGroup var target: ClusterArgument
    @Argument(help: "The dictionary's name.") var dictionary: String
    @Argument(help: "The key.") var key: String

    func run() async throws {
        try await target.withStore { store in
            guard try await store.value(forKey: key, in: dictionary) != nil else {
                throw Failure(.notFound, "\"\(key)\" has no value in \"\(dictionary)\"")
            }
            try await store.remove(key, from: dictionary)
        }
    }
}

/// `roost --cluster … import`: JSON Lines.
struct ClusterImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Reads JSON Lines, as export writes them.",
        discussion: """
            In commits as large as the engine takes. A bad line ends the import and is named by its \
            number; what came before it stays.
            """)

    @OptionGroup var target: ClusterArgument
    @Argument(help: "The file to read; - is standard input.", completion: .file())
    var input = "-"

    func validate() throws { try refuseAddress(input) }

    func run() async throws {
        let reader = try LineReader(path: input)
        let count = try await target.withStore(makesNamespace: true) { store in
            try await ImportCommand.importAll(from: reader, into: store)
        }
        printError(count.text())
    }
}

/// `roost --cluster … shell`: line by line.
struct ClusterShellCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shell", abstract: "Reads commands line by line and answers them.",
        discussion: "As the shell of a directory, without verify; it completes commands.")

    @OptionGroup var target: ClusterArgument

    func run() async throws {
        try await target.withStore { store in
            try await ShellCommand.answer(store) { _, words, word in
                words.count > 1 || word.isEmpty ? [] : ShellSession.commands
            }
        }
    }
}
