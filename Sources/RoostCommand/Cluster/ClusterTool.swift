import ArgumentParser

/// The command `roost --cluster ADDRESS --namespace NAME …`: the commands that work on a cluster, without the
/// workspace's path.
struct ClusterTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost --cluster",
        abstract: "Looks into a shared workspace, which etcd or PostgreSQL keeps, and changes it.",
        discussion: """
            roost --cluster etcd://host:2379,host:2379 --namespace NAME <subcommand>, or \
            postgres://user@host/database. Values are shown and read as those of a directory. What is \
            written is acknowledged by a quorum when the command returns; reads are linearizable. set and \
            import make the namespace where there is none.

            Exit status: 0 done, 1 not found, 2 wrong usage or bad input, 3 damage found, 5 any other \
            failure, such as a cluster that nobody can reach.
            """,
        subcommands: [
            ClusterGetCommand.self, ClusterSetCommand.self, ClusterRemoveCommand.self,
            ClusterKeysCommand.self, ClusterScanCommand.self, ClusterWatchCommand.self,
            ClusterImportCommand.self, ClusterExportCommand.self, ClusterStatCommand.self,
            ClusterShellCommand.self,
        ])

    /// What this command is to parse; `nil` where `--cluster` is not among the arguments. Options may stand before
    /// the subcommand, where only its own are known: they are put after its name. Without one it is help that is asked for.
    static func arguments(_ all: [String]) -> [String]? {
        let words = all.prefix { $0 != "--" }
        guard words.contains(where: { $0 == "--cluster" || $0.hasPrefix("--cluster=") }) else {
            return nil
        }
        var leading: [String] = []
        var rest = all[...]
        while let word = rest.first, word.hasPrefix("--"), word != "--", word != "--help" {
            leading.append(rest.removeFirst())
            // What begins as an option is no value.
            if !word.contains("="), let value = rest.first, !value.hasPrefix("-") {
                leading.append(rest.removeFirst())
            }
        }
        guard let subcommand = rest.popFirst() else { return ["--help"] }
        if ["--help", "-h"].contains(subcommand) { return ["--help"] }
        return [subcommand] + leading + rest
    }
}

/// Which cluster, and which part of it.
struct ClusterArgument: ParsableArguments {
    @Option(help: "etcd://host:port,host:port, etcds://… with TLS, or postgres://….")
    var cluster: String
    @Option(help: "What the keys of the shared workspace begin with.") var namespace: String
    @OptionGroup var credentials: ClusterCredentials

    func validate() throws { try Self.checkNamespace(namespace) }

    /// - Throws: `ValidationError` where no shared workspace can have the name.
    static func checkNamespace(_ namespace: String) throws {
        guard (1...128).contains(namespace.utf8.count) else {
            throw ValidationError("a namespace has between 1 and 128 bytes")
        }
    }

    /// - Parameter makesNamespace: `false` for what only reads.
    func withStore<Result: Sendable>(
        makesNamespace: Bool = false,
        _ body: (ClusterStore) async throws -> Result
    ) async throws -> Result {
        guard let address = ClusterAddress(cluster) else {
            throw ValidationError("--cluster is etcd://…, etcds://… or postgres://…")
        }
        return try await credentials.withWorkspace(
            at: address, namespace: namespace, makesNamespace: makesNamespace
        ) {
            try await body(ClusterStore(workspace: $0))
        }
    }
}
