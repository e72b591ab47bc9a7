import ArgumentParser
import Roost

/// `roost diff`: what differs between two workspaces.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Lists the keys whose values differ between two workspaces.",
        discussion: """
            Values are compared as they are stored, bit for bit, with their deadlines. Exit status \
            0 where all are the same, 1 where something differs, 2 where neither has the dictionary that is named. \
            Holds one value of each at a time in memory.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(help: "The other workspace's directory.", completion: .directory)
    var other: String
    @Option(help: "Only this dictionary.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String?
    @Option(help: "Only keys that begin with this.") var prefix = ""
    @OptionGroup var format: ListFormatOption

    func run() async throws {
        let second = source.at(other)
        let count = try await source.withWorkspace(.readOnly) { left in
            try await second.withWorkspace(.readOnly) { right in try compare(left, right) }
        }
        if count > 0 { throw Failure(.notFound, nil) }
    }

    private func compare(_ left: Workspace, _ right: Workspace) throws -> Int {
        if let dictionary {
            // A name that is mistyped would say that all is the same.
            let names = try left.dictionaryNames + right.dictionaryNames
            guard names.contains(where: { $0.utf8.elementsEqual(dictionary.utf8) }) else {
                throw Failure(.usage, "neither workspace has a dictionary \"\(dictionary)\"")
            }
        }
        var range = StoredRange(dictionary: dictionary)
        range.prefix = prefix
        let (lefts, rights) = (try StoredRecords(left, range), try StoredRecords(right, range))
        var rows = RowWriter(
            columns: ["change", "dictionary", "key", "from", "to"], format: format.format,
            output: try Output())
        var (before, after) = (try lefts.next(), try rights.next())
        var count = 0
        let total = try WorkspaceStore(workspace: left).recordCount(of: range)
        var progress = ProgressBar(verb: "comparing", besideList: true)
        var comparedCount = 0
        while let record = Self.first(before, after) {
            let old = before.flatMap { $0.isBehind(record) ? nil : $0 }
            let new = after.flatMap { $0.isBehind(record) ? nil : $0 }
            if old?.value != new?.value {
                count += 1
                let change = old == nil ? "added" : new == nil ? "removed" : "changed"
                try rows.write([
                    .string(change), .string(record.dictionary), .string(record.key),
                    old.map { ReadableForm.json($0.value) } ?? .null,
                    new.map { ReadableForm.json($0.value) } ?? .null,
                ])
            }
            if old != nil { before = try lefts.next() }
            if new != nil { after = try rights.next() }
            comparedCount += old == nil ? 0 : 1
            progress.update(
                count: comparedCount,
                fraction: total.map { Double(comparedCount) / Double(max($0, 1)) })
        }
        progress.finish(count: comparedCount)
        try rows.finish()
        return count
    }

    private static func first(_ one: StoredRecord?, _ other: StoredRecord?) -> StoredRecord? {
        guard let one, let other else { return one ?? other }
        return one.isBehind(other) ? other : one
    }
}
