import Foundation
import Roost
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Queries over identifiers read the objects with their keys, and no others. What they give is among the cases of
/// `SharedQueryOracleTests`.
@Suite struct SharedIdentifierTests {
    private struct Note: Codable, Identifiable, Equatable, Sendable {
        var id: Int
        var text: String
    }

    private struct Named: Codable, Identifiable, Equatable, Sendable {
        var id: String
    }

    private struct Marked: Codable, Identifiable, Equatable, Sendable {
        var id: UUID
        var number: Int
    }

    /// Which records an engine has given.
    private final class Reads: Sendable {
        private let count = Mutex(0)
        func add(_ added: Int) { count.withLock { $0 += added } }
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    private func connect() async throws -> (SharedWorkspace, Reads) {
        let engine = HookedEngine()
        let reads = Reads()
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        engine.set {
            $0.read = { read in
                let page = try await engine.engine.read(
                    read, before: ContinuousClock.now + .seconds(10))
                reads.add(page.records.count)
                return page
            }
        }
        return (workspace, reads)
    }

    /// In pieces, as the engine takes only so many at once.
    private func save<Item: Identifiable & Sendable>(
        _ items: [Item], in repository: SharedRepository<Item>
    ) async throws where Item.ID: Sendable {
        for start in stride(from: 0, to: items.count, by: 100) {
            try await repository.saveAll(items[start..<min(start + 100, items.count)])
        }
    }

    @Test func aConditionOnTheIdentifierReadsWhatItGives() async throws {
        let (workspace, reads) = try await connect()
        let notes = workspace.repository(of: Note.self)
        try await save((-200..<200).map { Note(id: $0, text: "note \($0)") }, in: notes)
        _ = reads.take()
        #expect(try await notes.where { $0.id == 7 }.fetch().map(\.id) == [7])
        #expect(reads.take() == 1)
        #expect(try await notes.where { $0.id == 700 }.fetch().isEmpty)
        #expect(
            try await notes.where { $0.id.isIn([5, -3, 5, 900]) && $0.text != "note 5" }.fetch()
                .map(\.id) == [-3])
        #expect(reads.take() == 2)
        #expect(
            try await notes.where { $0.id >= -2 && $0.id < 3 }.fetch().map(\.id) == [
                -2, -1, 0, 1, 2,
            ])
        #expect(reads.take() == 5)
        #expect(try await notes.where { $0.id < -190 || $0.id > 190 }.count() == 19)
        #expect(reads.take() == 19)
        #expect(try await notes.where { $0.id > 5 && $0.id < 5 }.fetch().isEmpty)
        #expect(reads.take() == 0)
        await #expect(throws: RoostError.self) {
            try await notes.where { $0.text == "note 1" }.fetch()
        }
        await workspace.close()
    }

    /// As a list is shown page by page.
    @Test func theOrderOfIdentifiersIsThatOfTheKeys() async throws {
        let (workspace, reads) = try await connect()
        let notes = workspace.repository(of: Note.self)
        try await save((-200..<200).map { Note(id: $0, text: "note \($0)") }, in: notes)
        _ = reads.take()
        let newest = try await notes.order(by: \.id, .descending).limit(3).fetch()
        #expect(newest.map(\.id) == [199, 198, 197])
        #expect(reads.take() == 3)
        let next = try await notes.where { $0.id < 197 }.order(by: \.id, .descending).limit(3)
            .fetch()
        #expect(next.map(\.id) == [196, 195, 194])
        #expect(reads.take() == 3)
        let page = try await notes.where { $0.id > -3 }.offset(1).limit(2).fetch()
        #expect(page.map(\.id) == [-1, 0])
        #expect(reads.take() == 3)
        // Offsets are added up to the greatest number, and do not trap.
        #expect(try await notes.where { $0.id > -3 }.offset(.max).offset(1).fetch().isEmpty)
        _ = reads.take()
        #expect(
            try await notes.where { $0.id.isIn([4, 9]) }.order(by: \.id, .descending).first()?.id
                == 9)
        // A UUID's keys are in its order too.
        let marked = workspace.repository(of: Marked.self)
        let all = (0..<50).map { Marked(id: UUID(), number: $0) }
        try await marked.saveAll(all)
        let sorted = all.sorted { $0.id < $1.id }
        #expect(
            try await marked.where { $0.id > sorted[9].id }.limit(5).fetch()
                == Array(sorted[10..<15]))
        await workspace.close()
    }

    /// Texts have no order that keys have, but begin as their keys begin.
    @Test func textIdentifiersAreFoundByWhatTheyBeginWith() async throws {
        let (workspace, reads) = try await connect()
        let named = workspace.repository(of: Named.self)
        let names = (0..<100).map { "item-\($0)" } + (0..<100).map { "user-\($0)" } + ["caf\u{e9}"]
        try await save(names.map { Named(id: $0) }, in: named)
        _ = reads.take()
        #expect(try await named.where { $0.id.hasPrefix("user-9") }.count() == 11)
        #expect(reads.take() == 11)
        #expect(try await named.where { $0.id == "item-5" }.first()?.id == "item-5")
        #expect(reads.take() == 1)
        // An equal text may be written with other code points, and so have another key.
        await #expect(throws: RoostError.self) {
            try await named.where { $0.id == "\u{e9}" }.fetch()
        }
        await workspace.close()
    }

    /// Another client changes the last object behind the first read of each query.
    @Test func theObjectsOfOneQueryAreOfOneRevision() async throws {
        let engine = HookedEngine()
        let workspace = try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
        let notes = workspace.repository(of: Note.self)
        let other = try await SharedWorkspace.connect(
            to: .memory(engine.engine), namespace: "test"
        ).repository(of: Note.self)
        for query in [
            notes.where { $0.id.isIn([1, 2, 3]) }, notes.where { $0.id < 2 || $0.id > 2 },
            notes.where { $0.id.isIn([1, 2, 3]) }.order(by: \.id, .descending),
        ] {
            try await other.saveAll((1...3).map { Note(id: $0, text: "old") })
            let isFirst = Mutex(true)
            engine.set {
                $0.read = { read in
                    let page = try await engine.engine.read(
                        read, before: ContinuousClock.now + .seconds(10))
                    let wasFirst = isFirst.withLock { first in
                        defer { first = false }
                        return first
                    }
                    if wasFirst {
                        try await other.saveAll((1...3).map { Note(id: $0, text: "new") })
                    }
                    return page
                }
            }
            let found = try await query.fetch()
            engine.set { $0.read = { _ in nil } }
            #expect(found.count >= 2 && found.allSatisfy { $0.text == "old" }, "\(found)")
        }
        await workspace.close()
    }

    @Test func explainSaysThatIdentifiersAreRead() async throws {
        let (workspace, _) = try await connect()
        let notes = workspace.repository(of: Note.self)
        #expect(try await notes.where { $0.id == 7 }.explain() == "one identifier: id = 7")
        #expect(
            try await notes.where { $0.id > 7 }.explain() == "a range of identifiers: id > 7")
        #expect(
            try await notes.where { $0.id < 3 || $0.id > 7 }.explain()
                == "2 ranges of identifiers: id < 3 or id > 7")
        await workspace.close()
    }
}
