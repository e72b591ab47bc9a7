import Foundation
import Roost

/// What the lines of a shell do to one open workspace, in files or in a cluster.
struct ShellSession {
    let store: any RecordStore
    /// `nil` of a cluster, whose files are the engine's.
    let workspace: Workspace?
    /// The dictionary that keys are of.
    var dictionary: String?
    var isEnded = false

    static let commands = [
        "count", "dictionaries", "exit", "get", "help", "keys", "remove", "scan", "set", "stat",
        "use",
        "verify",
    ]

    /// How many words stand behind the commands at the most that take none, or leave some out.
    private static let mostArguments = [
        "count": 0, "dictionaries": 0, "exit": 0, "keys": 2, "quit": 0, "scan": 2, "stat": 0,
        "verify": 0,
    ]

    private static let help = """
        dictionaries            the names of all dictionaries
        use NAME                the dictionary that the commands below are of
        keys [PREFIX]           its keys, in order
        scan [PREFIX] [LIMIT]   its keys and values, in order; 100 at most unless said
        get KEY                 a value
        set KEY JSON            sets a value; it is on disk when the prompt is back
        remove KEY              removes a key
        count                   how many keys there are
        stat, verify            sizes and counts; every checksum
        exit                    ends the shell, as the end of the input does
        Words with spaces stand in double quotes.
        """

    init(_ store: any RecordStore) async throws {
        self.store = store
        workspace = (store as? WorkspaceStore)?.workspace
        let names = try await store.dictionaryNames()
        if names.count == 1 { dictionary = names[0] }
    }

    var prompt: String { (dictionary.map { "roost \(visible($0))" } ?? "roost") + "> " }

    /// - Throws: `Failure` for what was typed wrong; what the workspace throws.
    mutating func run(_ text: String) async throws {
        let line: ShellLine
        do { line = try ShellLine(text) } catch { throw Failure(.usage, "a quote is not closed") }
        guard let command = line.words.first else { return }
        let arguments = Array(line.words.dropFirst())
        if let most = Self.mostArguments[command], arguments.count > most {
            throw Failure(.usage, "\"\(arguments[most])\" is too much: help lists the commands")
        }
        switch command {
        case "help", "?": try Output.write([Self.help])
        case "exit", "quit": isEnded = true
        case "dictionaries": try Output.write(try await store.dictionaryNames())
        case "use": dictionary = try Self.word(arguments, "use NAME")
        case "keys": try await list(arguments, keysOnly: true)
        case "scan": try await list(arguments, keysOnly: false)
        case "get": try await get(try Self.word(arguments, "get KEY"))
        case "set": try await set(line)
        case "remove": try await remove(try Self.word(arguments, "remove KEY"))
        case "count": try Output.write([grouped(try await store.count(of: try current()))])
        case "stat": try StatCommand.write(try await store.figures())
        case "verify":
            guard let workspace else {
                throw Failure(.usage, "a cluster's files are verified by its own tools")
            }
            let report = try await VerifyCommand.verify(workspace)
            for damage in report.damages { printError(damage.description) }
            try Output.write([report.isSound ? VerifyCommand.text(report) : "damaged"])
            if !report.isSound { throw Failure(.damaged, nil) }
        default: throw Failure(.usage, "\"\(command)\" is no command: help lists them")
        }
    }

    private static func word(_ arguments: [String], _ usage: String) throws -> String {
        guard arguments.count == 1 else { throw Failure(.usage, "usage: \(usage)") }
        return arguments[0]
    }

    private func current() throws -> String {
        guard let dictionary else {
            throw Failure(.usage, "which dictionary? use NAME; dictionaries lists them")
        }
        return dictionary
    }

    private func list(_ arguments: [String], keysOnly: Bool) async throws {
        var range = StoredRange(dictionary: try current())
        range.prefix = arguments.first ?? ""
        range.limit = keysOnly ? .max : 100
        if arguments.count > 1 {
            guard let limit = Int(arguments[1]), limit >= 0 else {
                throw Failure(.usage, "\"\(arguments[1])\" is no limit")
            }
            range.limit = limit
        }
        let records = try await store.records(range)
        guard keysOnly else { return try await ScanCommand.list(records, of: dictionary, .table) }
        let output = try Output()
        while let record = try await records.next() {
            try output.writeLine(isOutputTerminal ? visible(record.key) : record.key)
        }
        try output.flush()
    }

    private func get(_ key: String) async throws {
        guard let value = try await store.value(forKey: key, in: try current()) else {
            throw Failure(.notFound, "\"\(key)\" has no value")
        }
        try Output.write([ReadableForm.text(value)])
        if isOutputTerminal, let date = ReadableForm.date(value) {
            try Output.write(["(as a Date: \(date))"])
        }
        if isOutputTerminal, let expiration = ReadableForm.expiration(value) {
            try Output.write(["(expires \(expiration))"])
        }
    }

    private func set(_ line: ShellLine) async throws {
        guard line.words.count > 2 else { throw Failure(.usage, "usage: set KEY JSON") }
        let target = try current()
        let stored: StoredValue
        do { stored = try StoredForm.stored(try JSONParser.parse(line.rest(from: 2))) } catch let
            failure as StoredForm.Failure
        { throw Failure(.usage, failure.reason) } catch {
            throw Failure(.usage, "the value is not JSON: text stands in double quotes")
        }
        try await store.write([
            StoredRecord(dictionary: target, key: line.words[1], value: stored)
        ])
        try await store.synchronize()
    }

    private func remove(_ key: String) async throws {
        let dictionary = try current()
        guard try await store.value(forKey: key, in: dictionary) != nil else {
            throw Failure(.notFound, "\"\(key)\" has no value")
        }
        try await store.remove(key, from: dictionary)
        try await store.synchronize()
    }

    /// What may stand in the place of `word`, of a line that has `words` so far.
    static func completions(
        _ workspace: Workspace, _ dictionary: String?, _ words: [String], _ word: String
    ) -> [String] {
        guard let command = words.first, words.count > 1 || word.isEmpty else { return commands }
        // A line has no place for an error: what cannot be read completes to nothing.
        if command == "use" { return (try? workspace.dictionaryNames) ?? [] }
        guard ["get", "set", "remove", "keys", "scan"].contains(command), let dictionary else {
            return []
        }
        var range = StoredRange(dictionary: dictionary)
        range.prefix = word
        range.limit = 100
        guard let records = try? StoredRecords(workspace, range) else { return [] }
        var keys: [String] = []
        while let record = try? records.next() { keys.append(record.key) }
        return keys
    }
}
