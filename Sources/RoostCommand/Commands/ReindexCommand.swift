import ArgumentParser
import Roost

/// `roost reindex`: has indexes built anew.
struct ReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex",
        abstract: "Has the program build the indexes of a repository anew.",
        discussion: """
            Marks them: they are not used any more, and the program builds them anew, in the \
            background, when it opens the workspace the next time. This command does not know the \
            type, and so cannot. stat lists the indexes, verify says which is wrong.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Argument(
        help: "The repository; all of them where it is left out.",
        completion: WorkspaceCompletion.dictionaries)
    var repository: String?
    @Argument(help: "The indexes; all of the repository where none is named.")
    var indexes: [String] = []

    func run() async throws {
        let marked = try await target.withExistingWorkspace { workspace in
            let all = try workspace.storedIndexes().filter { index in
                repository.map { index.isOf($0) } ?? true
            }
            if let repository, all.isEmpty {
                throw Failure(.notFound, "\"\(repository)\" has no indexes")
            }
            for name in indexes where !all.contains(where: { $0.name == name }) {
                let known = all.map { "\"\($0.name)\"" }.joined(separator: ", ")
                throw Failure(.notFound, "there is no index \"\(name)\"; there are \(known)")
            }
            let chosen = all.filter { indexes.isEmpty || indexes.contains($0.name) }
            try await workspace.markForBuilding(chosen)
            return chosen
        }
        for index in marked {
            printError(
                "index \"\(index.name)\" of \"\(index.dictionary)\" is built at the next opening")
        }
        if marked.isEmpty { printError("there are no indexes") }
    }
}
