import Foundation
import RoostTestSupport
import Testing

@testable import Roost
@testable import RoostEngine

/// Whether an index was written round is asked under the mutex of live results too, which those who are told of a write
/// take.
@Suite(.timeLimit(.minutes(5))) struct MarkLookTests {
    private struct Item: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        static var indexes: [Index<Item>] { [Index("rank", \.rank)] }
    }

    /// A view makes what others wait for, and tells of it.
    @Test func aLookAtAMarkBeginsNoView() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self)
        try await items.save(Item(id: 1, rank: 1))
        try await items.indexesBuilt()
        let indexes = try #require(items.indexes)
        let active = try #require(try indexes.current().active.first)
        let isMarked = answerWithoutViews(workspace.engine) { try indexes.isMarked(active) }
        #expect(isMarked == true)
        try await workspace.close()
    }

    /// What `look` says while no view can begin; `nil` where it waits for that.
    private func answerWithoutViews(
        _ engine: Engine, _ look: @escaping @Sendable () throws -> Bool
    ) -> Bool? {
        let answers = Events<Bool>()
        let gate = Gate()
        gate.close()
        return engine.publication.withLock {
            Thread.detachNewThread {
                do { answers.add(try look()) } catch { Issue.record(error) }
                gate.open()
            }
            gate.pass(limit: 20)
            return answers.all.first
        }
    }
}
