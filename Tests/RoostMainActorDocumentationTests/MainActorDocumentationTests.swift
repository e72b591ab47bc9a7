import Foundation
import Roost
import RoostTestSupport
import Testing

/// The public API as its users write it, in a module whose default isolation is the main actor.
@Suite(.timeLimit(.minutes(10))) struct MainActorDocumentationTests {
    @Test(arguments: Blocks.all.map(\.name)) func aBlockRuns(name: String) async throws {
        let block = try #require(Blocks.all.first { $0.name == name })
        try await withTemporaryDirectory { home in
            guard block.isWatching else { return try await block.run(home) }
            let watching = Task { try await block.run(home) }
            try await Task.sleep(for: .milliseconds(300))
            watching.cancel()
            do { try await watching.value } catch let error as RoostError
                where error.code == .cancelled
            {
                // As documented for a call of a cancelled task.
            } catch is CancellationError {
                // On a busy machine it has not come to its first call.
            }
        }
    }
}
