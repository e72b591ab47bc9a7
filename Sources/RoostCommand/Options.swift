import ArgumentParser
import Roost

/// For people or for programs.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    /// As `table`.
    case text
    case table
    case json
    case jsonl
    case csv
}

/// As `OutputFormat`, of what is no list.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    /// As `text`.
    case table
    case json
    /// As `json`.
    case jsonl
}

/// Of commands that report one thing.
struct FormatOption: ParsableArguments {
    @Option(name: .long, help: "For people (text, table) or for programs (json).")
    var format = ReportFormat.text

    var isJSON: Bool { format == .json || format == .jsonl }
}

/// Of commands that list.
struct ListFormatOption: ParsableArguments {
    @Option(
        name: .long,
        help: "For people (table), or for programs (json: one array; jsonl: a line each; csv).")
    var format = OutputFormat.table
}

struct WorkspaceArgument: ParsableArguments {
    @Argument(help: "The workspace's directory.", completion: .directory)
    var workspace: String
    @OptionGroup var encryption: EncryptionOptions

    /// Another workspace, with the same key.
    func at(_ path: String) -> WorkspaceArgument {
        var other = self
        other.workspace = path
        return other
    }

    /// Runs `body` on the open workspace and closes it. For reading, nothing in the directory
    /// changes; for writing, it is created where there is none.
    func withWorkspace<Result>(
        _ access: Workspace.Configuration.Access, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        try await Self.withWorkspace(workspace, access, try encryption.encryption(), body)
    }

    static func withWorkspace<Result>(
        _ path: String, _ access: Workspace.Configuration.Access,
        _ encryption: WorkspaceEncryption?, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        try refuseAddress(path)
        let opened = try await Workspace.open(
            at: path, configuration: .init(access: access, encryption: encryption))
        let result: Result
        do { result = try await body(opened) } catch {
            // What stopped `body` says more than a failure to close after it.
            do { try await opened.close() } catch { printError("closing failed too: \(error)") }
            throw error
        }
        try await opened.close()
        return result
    }

    /// As `withWorkspace(.readWrite)`, but refuses to make a workspace where there is none.
    func withExistingWorkspace<Result>(
        _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        // Fails where there is nothing to read, before anything is created.
        try await withWorkspace(.readOnly) { _ in }
        return try await withWorkspace(.readWrite, body)
    }
}
