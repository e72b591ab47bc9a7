import ArgumentParser
import Roost

/// `roost objects`: the objects of a repository that match a condition, in an order.
struct ObjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects",
        abstract: "Lists the objects of a repository that match a condition, in an order.",
        discussion: """
            Of objects whose stored form names its fields: those of Codable types, unless they are \
            BinaryCodable. Members go by the names under which they are stored.

              roost objects data Post --where 'priority > 100 && color == "red"' --order -priority

            A condition is written as in Swift: ==, !=, <, <=, >, >= of a member and a literal, \
            or another member with $0 before it ('spent > $0.granted'), joined by &&, || and ! \
            (or and, or, not), with parentheses; title.contains("x"), .hasPrefix, .hasSuffix, \
            color.isIn([.red, .blue]); a member that is a Bool. Literals are 12, -0.5, "text", true, \
            nil, and .red for the case of an enum. A date is compared as text: "2026-11-24".

            An index is used where it leaves most objects out; --explain says which.
            """)

    @OptionGroup var source: WorkspaceArgument
    @Argument(
        help: "The repository: its dictionary's name, which is its type's.",
        completion: WorkspaceCompletion.dictionaries)
    var repository: String
    @Option(name: .customLong("where"), parsing: .unconditional, help: "The condition.")
    var condition: String?
    @Option(
        parsing: .unconditional,
        help: "Members to order by, separated by commas; -name is from the greatest down.")
    var order: String?
    @Option(help: "At most so many.") var limit: Int?
    @Option(help: "The members to show, separated by commas.") var fields: String?
    @Flag(help: "Say how the objects were found, and how many were read; list none.")
    var explain = false
    @OptionGroup var format: ListFormatOption

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is not negative") }
    }

    func run() async throws {
        let names = fields?.split(separator: ",").map(String.init)
        var search = ObjectSearch(
            condition: try condition.map { text in
                try Self.reading("--where", text) { text throws(ConditionError) in
                    try ConditionParser.parse(text)
                }
            },
            order: try order.map { text in
                try Self.reading("--order", text) { text throws(ConditionError) in
                    try ObjectOrderTerm.terms(text)
                }
            } ?? [],
            limit: limit ?? .max, shown: (names ?? []).map { .init($0) })
        var rows = ObjectRows(
            fields: names, format: format.format,
            output: try Output())
        let isListing = !explain
        try await source.withWorkspace(.readOnly) { workspace in
            let stored = try StoredRepository(workspace, repository)
            let total = Double(max(1, try stored.objectCount()))
            let besideList = isListing && search.order.isEmpty
            var progress = ProgressBar(verb: "reading", besideList: besideList)
            search.onRead = { progress.update(count: $0, fraction: Double($0) / total) }
            try search.run(stored) { object in
                if isListing { try rows.write(object) }
            }
            search.onRead = { _ in }
            progress.finish(count: search.objectCount)
        }
        if explain { return try write(explanationOf: search) }
        try rows.finish()
        for path in search.unknownPaths {
            printError("no object that was read has a member \"\(path)\"")
        }
        if !rows.hiddenMembers.isEmpty {
            let names = rows.hiddenMembers.sorted().joined(separator: ", ")
            printError(
                "not shown, as the first objects have no such members: \(names); see --fields")
        }
    }

    /// What is wrong with a text is said with its column.
    private static func reading<Result>(
        _ option: String, _ text: String, _ body: (String) throws(ConditionError) -> Result
    ) throws -> Result {
        do throws(ConditionError) { return try body(text) } catch {
            throw Failure(
                .usage, "\(option), column \(error.column): \(error.reason); in: \(text)")
        }
    }

    private func write(explanationOf search: ObjectSearch) throws {
        guard format.format == .json || format.format == .jsonl else {
            return try Output.write([Self.explanation(of: search)])
        }
        try Output.write(
            .members([
                "way": .string(search.way), "isSorted": .bool(!search.order.isEmpty),
                "entryCount": .integer(search.entryCount),
                "objectCount": .integer(search.objectCount),
                "notes": .array(search.notes.map { .string($0) }),
            ]))
    }

    private static func explanation(of search: ObjectSearch) -> String {
        var text = search.way
        if !search.order.isEmpty { text += ", sorted" }
        text += ": "
        if search.entryCount > 0 { text += "\(grouped(search.entryCount)) entries, " }
        text += "\(grouped(search.objectCount)) objects read"
        for note in search.notes { text += "; \(note)" }
        return text
    }
}
