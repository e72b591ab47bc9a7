import Roost
import RoostIO
import RoostTestSupport

/// Where one workspace is kept and can be opened again, on disk or in memory.
struct WorkspaceHome: Sendable {
    fileprivate let path: String
    fileprivate let fileSystem: any FileSystem

    func open(_ configuration: Workspace.Configuration = .init()) async throws -> Workspace {
        try await Workspace.open(at: path, configuration: configuration, fileSystem: fileSystem)
    }
}

extension WorkspaceKind {
    /// Runs `body` with a place for a workspace of its own.
    func withHome<Result>(
        isolation: isolated (any Actor)? = #isolation,
        _ body: (WorkspaceHome) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .inMemory:
            let directory = try MemoryFileSystem().openDirectory(at: "(in memory)", create: true)
            return try await body(
                WorkspaceHome(path: "(in memory)", fileSystem: OneDirectory(directory: directory)))
        case .onDisk:
            return try await withTemporaryDirectory { path in
                try await body(WorkspaceHome(path: path, fileSystem: PosixFileSystem()))
            }
        }
    }
}

/// A memory's only directory, again at each opening.
private struct OneDirectory: FileSystem {
    let directory: any Directory

    func openDirectory(at path: String, create: Bool) throws -> any Directory { directory }
}
