import Foundation
import RoostTestSupport
import Testing

@testable import Roost
@testable import RoostEngine

/// Whether an index was written round, and which indexes there are, is asked under the mutex of live results too,
/// which those who are told of a write take.
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

    /// As it does where the indexes are looked up anew, behind a migration that is said while a query is live.
    @Test func aLiveResultThatIsReadAgainBeginsNoView() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self)
        try await items.saveAll([Item(id: 1, rank: 1), Item(id: 2, rank: 2)])
        try await items.indexesBuilt()
        let indexes = try #require(items.indexes)
        let view = try workspace.engine.view()
        defer { view.close() }
        let ids = answerWithoutViews(workspace.engine) {
            indexes.noteMigration()
            let load = try LiveLoad(items.where { $0.rank == 1 }, in: view)
            return load.objects.map { $0.item.id }
        }
        #expect(ids == [1])
        try await items.indexesBuilt()
        try await workspace.close()
    }

    /// What `look` says while no view can begin; `nil` where it waits for that.
    private func answerWithoutViews<Answer: Sendable>(
        _ engine: Engine, _ look: @escaping @Sendable () throws -> Answer
    ) -> Answer? {
        let answers = Events<Answer>()
        let gate = Gate()
        gate.close()
        return engine.publication.withLock {
            Thread.detachNewThread {
                do { answers.add(try look()) } catch { Issue.record(error) }
                gate.open()
            }
            gate.pass(limit: 60)
            return answers.all.first
        }
    }
}
