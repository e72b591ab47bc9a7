import Roost
import RoostTestSupport

/// Where a test's workspace is kept: everything but the files is to be the same.
enum WorkspaceKind: CaseIterable, Sendable {
    case onDisk
    case inMemory

    /// Runs `body` with a workspace of its own, which is closed afterwards.
    func withWorkspace<Result>(
        _ configuration: Workspace.Configuration = .init(),
        isolation: isolated (any Actor)? = #isolation, _ body: (Workspace) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .inMemory:
            let workspace = try await Workspace.inMemory(configuration: configuration)
            let result = try await body(workspace)
            try await workspace.close()
            return result
        case .onDisk:
            return try await withTemporaryDirectory { path in
                let workspace = try await Workspace.open(at: path, configuration: configuration)
                let result = try await body(workspace)
                try await workspace.close()
                return result
            }
        }
    }
}

extension AsyncSequence {
    /// The next `count` elements, or fewer where it ends.
    func first(
        _ count: Int, isolation: isolated (any Actor)? = #isolation
    ) async throws -> [Element] {
        var elements: [Element] = []
        var iterator = makeAsyncIterator()
        while elements.count < count, let element = try await iterator.next(isolation: isolation) {
            elements.append(element)
        }
        return elements
    }
}
