import Roost
import RoostForms

/// What the page's head shows.
enum WorkspaceLook {
    static func json(_ workspace: Workspace, _ allowsWriting: Bool) throws -> JSONValue {
        let recovery = workspace.recovery
        return .members([
            "path": .string(workspace.path), "allowsWriting": .bool(allowsWriting),
            "lastSequence": .integer(workspace.statistics.lastSequence),
            "replayedBatchCount": .integer(recovery.replayedBatchCount),
            "tornTailCount": .integer(recovery.tornTails.count),
        ])
    }
}
