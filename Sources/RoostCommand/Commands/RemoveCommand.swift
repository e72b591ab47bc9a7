import ArgumentParser
import Roost

/// `roost remove`: one key.
struct RemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Removes a key.",
        discussion: """
            Exit status 1 where the key had no value. The removal is on disk when the command \
            returns.
            """)

    @OptionGroup var target: WorkspaceArgument
    @Argument(help: "The dictionary's name.", completion: WorkspaceCompletion.dictionaries)
    var dictionary: String
    @Argument(help: "The key.", completion: WorkspaceCompletion.keys)
    var key: String

    func run() async throws {
        try await target.withExistingWorkspace { workspace in
            let values = workspace.dictionary(dictionary)
            guard try values.contains(key) else {
                throw Failure(.notFound, "\"\(key)\" has no value in \"\(dictionary)\"")
            }
            try await values.removeValue(forKey: key, durability: .synced)
        }
    }
}
