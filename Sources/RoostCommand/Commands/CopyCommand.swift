import ArgumentParser
import Roost

/// `roost copy`: records from one workspace into another.
struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies records into another workspace.",
        discussion: """
            Values keep their kinds, deadlines and versions. Keys that the target has are \
            overwritten, others stay. Written in batches of about a mebibyte: a copy that is \
            interrupted is made again. For a whole workspace use backup.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The other workspace's directory.", completion: .directory)
    var target: String
    @Option(help: "Only this dictionary.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @Option(name: .customLong("as"), help: "What the dictionary is called in the target.")
    var newName: String?

    func validate() throws {
        if newName != nil && dictionary == nil {
            throw ValidationError("--as needs --dictionary")
        }
    }

    func run() async throws {
        let other = try WorkspaceArgument.parse([target])
        let count = try await source.withWorkspace(.readOnly) { from in
            try await other.withWorkspace(.readWrite) { into in try await copy(from, into) }
        }
        printError("\(grouped(count)) records copied")
    }

    private func copy(_ from: Workspace, _ into: Workspace) async throws -> Int {
        var range = StoredRange(dictionary: dictionary)
        range.prefix = prefix
        let records = try StoredRecords(from, range)
        let total = try range.recordCount(of: from)
        var progress = ProgressBar(verb: "copying")
        var count = 0
        var next = try records.next()
        while next != nil {
            try await into.write(durability: .process) { batch in
                var sizeBytes = 0
                while let record = next, sizeBytes < 1 << 20 {
                    batch.setStored(
                        record.value, forKey: record.key,
                        in: into.dictionary(newName ?? record.dictionary))
                    sizeBytes += record.value.payload.count + record.key.utf8.count
                    count += 1
                    next = try records.next()
                }
            }
            progress.update(count: count, fraction: total.map { Double(count) / Double($0) })
        }
        try await into.synchronize()
        progress.finish(count: count)
        return count
    }
}

extension StoredRange {
    /// How many records a walk of a dictionary, or of all, gives; `nil` where it is of a part.
    func recordCount(of workspace: Workspace) throws -> Int? {
        guard prefix.isEmpty, from == nil, below == nil else { return nil }
        let names = try dictionary.map { [$0] } ?? workspace.dictionaryNames
        return max(1, try names.reduce(0) { try $0 + workspace.dictionary($1).count })
    }
}
