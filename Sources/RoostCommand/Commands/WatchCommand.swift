import ArgumentParser
import Roost

/// `roost watch`: the changes of a dictionary, as they come.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Writes the changes of a dictionary as JSON Lines, as they come.",
        discussion: """
            Beside the program that has the workspace open, which it costs nothing; within \
            milliseconds of each commit, in commit order. A line is {"change": "set", "key": "…", \
            "value": …, "version": 12}, or removed, removedAll, unreadable, or missed with a count \
            where more came than were taken. Changes of one commit have one version, and --since a \
            version begins with those behind it, as far back as the log goes. Ends when it is \
            interrupted, or after --limit changes. Where the workspace can be followed no more, as one \
            that is damaged or replaced by another, it says so, with the exit status of that.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(help: "Begin with the changes behind this version.") var since: UInt64?
    @Option(help: "End after so many changes.") var limit: Int?

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is at least 1") }
    }

    func run() async throws {
        try await source.withWorkspace(.readOnly) { workspace in
            let output = try Output()
            var count = 0
            let changes = workspace.dictionary(dictionary)
                .storedChanges(prefix: prefix, since: since)
            for await change in changes {
                try output.writeLine(Self.json(change))
                try output.flush()
                count += 1
                if count == limit { return }
            }
            // The changes end where there can be no more of them: this throws why.
            try await workspace.catchUp()
            throw Failure(.failed, "the changes have ended: watch again with --since")
        }
    }

    static func json(_ change: DictionaryChange<StoredValue>) -> JSONValue {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue) {
            members.append(.init(name: name, value: value))
        }
        switch change {
        case .set(let key, let value, _):
            add("change", .string("set"))
            add("key", .string(key))
            add("value", ReadableForm.json(value))
            if let expiration = ReadableForm.expiration(value) {
                add("expires", .string(expiration))
            }
        case .removed(let key, _):
            add("change", .string("removed"))
            add("key", .string(key))
        case .removedAll: add("change", .string("removedAll"))
        case .unreadable(let key, let error, _):
            add("change", .string("unreadable"))
            add("key", .string(key))
            add("error", .string(error.description))
        case .missed(let count):
            add("change", .string("missed"))
            add("count", .integer(count))
        }
        if let version = change.version { add("version", .integer(version)) }
        return .object(members)
    }
}
