#if Services
    import Roost
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
            _ workspace: Workspace, _ body: () async throws -> Result
        ) async rethrows -> Result {
            uses.withLock { $0[ObjectIdentifier(workspace), default: Uses()].count += 1 }
            defer { end(workspace) }
            return try await body()
        }

        private static func end(_ workspace: Workspace) {
            let ended = uses.withLock { uses -> [CheckedContinuation<Void, Never>] in
                let key = ObjectIdentifier(workspace)
                uses[key]?.count -= 1
                guard uses[key]?.count == 0 else { return [] }
                return uses.removeValue(forKey: key)?.waiting ?? []
            }
            for waiting in ended { waiting.resume() }
        }

        /// Waits until nobody uses the workspace, whether the task is cancelled or not.
        static func waitForEnd(of workspace: Workspace) async {
            await withCheckedContinuation { continuation in
                let isUsed = uses.withLock { uses in
                    let key = ObjectIdentifier(workspace)
                    uses[key]?.waiting.append(continuation)
                    return uses[key] != nil
                }
                if !isUsed { continuation.resume() }
            }
        }
    }
#endif
