import ArgumentParser
import Roost

/// `roost --cluster … get`: one value.
struct ClusterGetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Prints the value of a key.")

    @OptionGroup var source: ClusterArgument
    @Argument(help: "The dictionary's name.") var dictionary: String
    @Argument(help: "The key.") var key: String
    @OptionGroup var format: FormatOption

    func run() async throws {
        let value = try await source.withStore {
            try await $0.value(forKey: key, in: dictionary)
        }
        try GetCommand.write(value, key, dictionary, format)
    }
}

/// `roost --cluster … keys`: the keys of a dictionary, or the dictionaries.
struct ClusterKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Lists the keys of a dictionary in the order of their bytes.",
        discussion: "Lists the dictionaries where none is given.")

    @OptionGroup var source: ClusterArgument
    @Argument(help: "The dictionary's name.") var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        let names = try await source.withStore { store in
            guard let dictionary else {
                return try await store.dictionaryNames().filter {
                    $0.utf8.starts(with: prefix.utf8)
                }
            }
            var keys: [String] = []
            let selected = store.workspace.dictionary(dictionary).keys(prefix: prefix)
            for try await key in selected { keys.append(key) }
            return keys
        }
        try KeysCommand.write(
            names, column: dictionary == nil ? "dictionary" : "key", format.format)
    }
}

/// `roost --cluster … scan`: keys and values, in order.
struct ClusterScanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scan", abstract: "Lists keys and values, in order, all of one revision.")

    @OptionGroup var source: ClusterArgument
    @OptionGroup var selection: ScanSelection
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        let range = selection.range
        try await source.withStore { store in
            try await ScanCommand.list(
                store.records(range), of: range.dictionary, expires: selection.expires,
                format.format)
        }
    }
}

/// `roost --cluster … watch`: the changes of a dictionary, as they come.
struct ClusterWatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Writes the changes of a dictionary as JSON Lines, as they come.",
        discussion: """
            In the order of their commits, each once, by whoever made them. Versions are the engine's \
            revisions; --since one begins with those after it, as far back as the engine keeps them, \
            and says how many are missing where it does not. Goes on after a lost connection.
            """)

    @OptionGroup var source: ClusterArgument
    @Argument(help: "The dictionary's name.") var dictionary: String
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(help: "Begin with the changes after this version.") var since: UInt64?
    @Option(help: "End after so many changes.") var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    }

    func run() async throws {
        try await source.withStore { store in
            let output = try Output()
            var count = 0
            let changes = store.workspace.dictionary(dictionary)
                .storedChanges(prefix: prefix, since: since)
            for await change in changes {
                try output.writeLine(WatchCommand.json(change))
                try output.flush()
                count += 1
                if count == limit { return }
            }
            throw Failure(.failed, "the changes have ended: watch again with --since")
        }
    }
}

/// `roost --cluster … stat`: counts and limits.
struct ClusterStatCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stat",
        abstract: "Prints the dictionaries with their counts, the revision and the limits.",
        discussion: "Counting reads all keys.")

    @OptionGroup var source: ClusterArgument
    @OptionGroup var format: FormatOption

    func run() async throws {
        let figures = try await source.withStore { try await $0.figures() }
        try StatCommand.write(figures, format)
    }
}

/// `roost --cluster … export`: everything as JSON Lines.
struct ClusterExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes a shared workspace as JSON Lines.",
        discussion: "All values of one revision, in the form that import reads.")

    @OptionGroup var source: ClusterArgument
    @Argument(help: "The file to write; - is standard output.", completion: .file())
    var output = "-"
    @Option(help: "Only this dictionary.") var dictionary: String?

    func run() async throws {
        try await source.withStore { store in
            try await store.require(dictionary)
            let lines = try Output(path: output)
            var progress = ProgressBar(verb: "exporting")
            var count = 0
            let cursor = store.records(StoredRange(dictionary: dictionary))
            while let record = try await cursor.next() {
                let line = RecordLine(
                    dictionary: record.dictionary, key: record.key, value: record.value)
                try lines.writeLine(line.json)
                count += 1
                progress.update(count: count, fraction: nil)
            }
            try lines.finish()
            progress.finish(count: count)
        }
    }
}
