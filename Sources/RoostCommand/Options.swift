import ArgumentParser
import Roost

/// For people or for programs.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text
    case json
}

struct FormatOption: ParsableArguments {
    @Option(name: .long, help: "For people (text) or for programs (json).")
    var format = OutputFormat.text
}

struct WorkspaceArgument: ParsableArguments {
    @Argument(help: "The workspace's directory.", completion: .directory)
    var workspace: String

    /// Runs `body` on the open workspace and closes it. For reading, nothing in the directory
    /// changes; for writing, it is created where there is none.
    func withWorkspace<Result>(
        _ access: Workspace.Configuration.Access, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        let opened = try await Workspace.open(at: workspace, configuration: .init(access: access))
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
