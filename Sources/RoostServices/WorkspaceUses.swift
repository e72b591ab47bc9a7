#if Services
    import Roost
    import RoostShared
    import Synchronization

    /// Who uses a workspace until its own end, however that comes: what closes it waits for them.
    ///
    /// - A workspace is in `uses` while somebody uses it, and so is not another's identity meanwhile.
    enum WorkspaceUses {
        private struct Uses {
            var count = 0
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private static let uses = Mutex<[ObjectIdentifier: Uses]>([:])

        /// Runs `body`; the workspace stays open until it returns or throws.
        static func during<Result: Sendable>(
            _ workspace: any KeyValueWorkspace, _ body: () async throws -> Result
        ) async rethrows -> Result {
            try await during(identity(of: workspace), body)
        }

        /// As the other, for whoever knows the workspace by what it is made of.
        static func during<Result: Sendable>(
            _ key: ObjectIdentifier, _ body: () async throws -> Result
        ) async rethrows -> Result {
            uses.withLock { $0[key, default: Uses()].count += 1 }
            defer { end(key) }
            return try await body()
        }

        private static func end(_ key: ObjectIdentifier) {
            let ended = uses.withLock { uses -> [CheckedContinuation<Void, Never>] in
                uses[key]?.count -= 1
                guard uses[key]?.count == 0 else { return [] }
                return uses.removeValue(forKey: key)?.waiting ?? []
            }
            for waiting in ended { waiting.resume() }
        }

        /// What is closed: of shared workspaces there may be several of one connection, with other deadlines.
        private static func identity(of workspace: any KeyValueWorkspace) -> ObjectIdentifier {
            if let shared = workspace as? SharedWorkspace {
                ObjectIdentifier(shared.connection)
            } else if let workspace = workspace as? Workspace {
                ObjectIdentifier(workspace.engine)
            } else {
                ObjectIdentifier(workspace as AnyObject)
            }
        }

        /// Waits until nobody uses the workspace, whether the task is cancelled or not.
        static func waitForEnd(of workspace: any KeyValueWorkspace) async {
            await withCheckedContinuation { continuation in
                let isUsed = uses.withLock { uses in
                    let key = identity(of: workspace)
                    uses[key]?.waiting.append(continuation)
                    return uses[key] != nil
                }
                if !isUsed { continuation.resume() }
            }
        }
    }
#endif
