import Foundation
import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Synchronization
import Testing

/// Pages of shared queries.
@Suite struct SharedPagesTests {
    private func connect(
        _ engine: HookedEngine = HookedEngine()
    ) async throws -> SharedRepository<Chore> {
        try await SharedWorkspace.connect(to: .engine(engine), namespace: "test")
            .repository(of: Chore.self)
    }

    /// Each page with a cursor that has been JSON meanwhile, as one that a browser sends back.
    private func pages(
        _ query: SharedQuery<Chore>, of limits: () -> Int,
        between: () async throws -> Void = {}
    ) async throws -> [[Chore]] {
        var pages: [[Chore]] = []
        var cursor: PageCursor?
        repeat {
            let limit = limits()
            let page = try await query.page(after: cursor, limit: limit)
            #expect(page.items.count == limit || page.next == nil && page.items.count <= limit)
            pages.append(page.items)
            cursor = try page.next.map {
                try JSONDecoder().decode(PageCursor.self, from: JSONEncoder().encode($0))
            }
            try await between()
        } while cursor != nil
        return pages
    }

    @Test(arguments: [0, 1, 2])
    func allPagesTogetherAreWhatAFetchGives(round: UInt64) async throws {
        let seed = testSeed() &+ round
        var random = SeededGenerator(seed: seed)
        let oracle = SharedQueryOracleTests()
        let tasks = try await connect()
        if round > 0 { try await tasks.buildIndexes() }
        for _ in 0..<100 { try await oracle.change(tasks, &random) }
        for number in 0..<150 {
            var query = oracle.makeCase(tasks.all.scanning(), &random).query
            if random.once(in: 3) {
                query = query.offset(random.below(4)).limit(1 + random.below(40))
            }
            let comment: Comment = "seed \(seed), case \(number): \(try await query.explain())"
            let expected = try await query.fetch()
            let found = try await pages(query) { 1 + random.below(12) }
            #expect(found.flatMap { $0 } == expected, comment)
        }
    }

    /// What is behind the cursor then comes next, whatever was written or removed before it.
    @Test func pagesStayRightWhileOthersWrite() async throws {
        let tasks = try await connect()
        try await tasks.buildIndexes()
        func chore(_ id: Int, _ priority: Int) -> Chore {
            Chore(id: id, owner: "ada", priority: priority, due: nil, slug: "s\(id)", tags: [])
        }
        for id in 0..<20 { try await tasks.save(chore(id, id / 2)) }
        var step = 0
        let query = tasks.order(by: \.priority, .descending)
        let found = try await pages(query, of: { 4 }) {
            step += 1
            // Before the cursor one more and one less; the last one of all goes too.
            try await tasks.save(chore(100 + step, 99))
            try await tasks.delete(19 - step)
            if step == 1 { try await tasks.delete(0) }
        }
        let ids = found.flatMap { $0 }.map(\.id)
        #expect(ids == [18, 19, 16, 17, 14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 1])
    }

    @Test(arguments: ["owner", "newest", "all", "priority"])
    func aPageReadsNoObjectOfAnEarlierOne(_ name: String) async throws {
        let engine = HookedEngine()
        let tasks = try await connect(engine)
        try await tasks.buildIndexes()
        for id in 0..<200 {
            try await tasks.save(
                Chore(
                    id: id, owner: id % 2 == 0 ? "ada" : "bea", priority: id, due: nil,
                    slug: "s\(id)", tags: []))
        }
        let query =
            switch name {
            case "owner": tasks.where { $0.owner == "ada" }
            case "newest": tasks.where { $0.owner == "ada" }.order(by: \.id, .descending)
            case "all": tasks.all
            default: tasks.order(by: \.priority)
            }
        let expected = try await query.fetch().map(\.id)
        let readKeys = Mutex<[String]>([])
        engine.set {
            $0.read = { read in
                let page = try await engine.engine.read(read, before: .now + .seconds(60))
                let start = Array("test/\(tasks.dictionary.name)/".utf8)
                let keys = page.records.filter { $0.key.starts(with: start) && !$0.value.isEmpty }
                readKeys.withLock {
                    $0 += keys.map { String(decoding: $0.key, as: UTF8.self) }
                }
                return page
            }
        }
        let found = try await pages(query) { 10 }
        #expect(found.flatMap { $0 }.map(\.id) == expected)
        let count = readKeys.withLock { $0.count }
        // One more in each page says whether there is another, and pages of the engine are as large as it likes.
        #expect(count >= expected.count && count <= expected.count * 3, "\(count) objects read")
    }

    @Test func aCursorOfAnotherQueryIsRefused() async throws {
        let tasks = try await connect()
        try await tasks.buildIndexes()
        for id in 0..<9 {
            try await tasks.save(
                Chore(id: id, owner: "a", priority: id, due: nil, slug: "s\(id)", tags: []))
        }
        let cursor = try #require(
            try await tasks.order(by: \.priority).page(after: nil, limit: 3).next)
        let others = [
            tasks.all, tasks.order(by: \.priority, .descending),
            tasks.order(by: \.priority).limit(8), tasks.order(by: \.slug),
            tasks.dictionary.workspace.repository(of: Chore.self, named: "others")
                .order(by: \.priority),
        ]
        for other in others {
            let error = await #expect(throws: RoostError.self) {
                try await other.page(after: cursor, limit: 3)
            }
            #expect(error?.code == .conflict)
        }
        // What a stranger made of it is a place in the order, or none.
        for place in ["", "AA==", "////////////////"] {
            var fields = try #require(
                JSONSerialization.jsonObject(with: JSONEncoder().encode(cursor))
                    as? [String: Any])
            fields["place"] = place
            let hostile = try JSONDecoder().decode(
                PageCursor.self, from: JSONSerialization.data(withJSONObject: fields))
            let page = try await tasks.order(by: \.priority).page(after: hostile, limit: 3)
            #expect(page.items.count <= 3)
        }
    }
}
