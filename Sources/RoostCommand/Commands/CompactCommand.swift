import ArgumentParser
import Roost

/// `roost compact`: everything into one snapshot per shard.
struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact",
        abstract: "Moves the log into snapshots and gives back the space of old values.")

    @OptionGroup var target: WorkspaceArgument

    func run() async throws {
        try await target.withExistingWorkspace { workspace in
            try await LiveProgress.show("compacting") { _ in try await workspace.compact() }
        }
    }
}
