import Foundation
import RoostCoding
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// What queries read: in pages and pieces, of objects that do not decode, and by what is computed.
@Suite(.timeLimit(.minutes(10))) struct QueryReadingTests {
    private struct Counted: Codable, Identifiable, Sendable, Indexed {
        static let decodeCount = Mutex<[String: Int]>([:])
        var id: Int
        var group: Int
        var rank: Int
        /// Tells the tests that run at once from each other.
        var test: String
        static var indexes: [Index<Counted>] {
            [Index("group", \.group), Index("group-rank", \.group, \.rank)]
        }

        init(_ id: Int, _ test: String) {
            self.id = id
            group = id % 2
            rank = (id * 7919) % 1_000
            self.test = test
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            group = try values.decode(Int.self, forKey: .group)
            rank = try values.decode(Int.self, forKey: .rank)
            let test = try values.decode(String.self, forKey: .test)
            self.test = test
            Self.decodeCount.withLock { $0[test, default: 0] += 1 }
        }
    }

    /// How often an object is made by `body`.
    private func decodes(_ test: String, _ body: () async throws -> Void) async throws -> Int {
        let before = Counted.decodeCount.withLock { $0[test, default: 0] }
        try await body()
        return Counted.decodeCount.withLock { $0[test, default: 0] } - before
    }

    private func counted(_ count: Int, _ test: String) async throws -> Repository<Counted> {
        let items = try await Workspace.inMemory().repository(of: Counted.self)
        try await items.saveAll((0..<count).map { Counted($0, test) })
        try await items.indexesBuilt()
        return items
    }

    // MARK: Pages and pieces

    @Test func aPageReadsNoObjectOfAnEarlierOne() async throws {
        let items = try await counted(2_000, "pages")
        let queries = [
            items.where { $0.group == 1 }, items.where { $0.group.isIn([0, 1]) && $0.rank >= 0 },
            items.where { $0.group == 1 && $0.rank.isIn(Array(0..<1_000)) },
            items.where { $0.group == 1 }.order(by: \.group).order(by: \.rank),
        ]
        for query in queries {
            let expected = try query.fetch().map(\.id)
            var ids: [Int] = []
            let count = try await decodes("pages") {
                var cursor: PageCursor?
                repeat {
                    let page = try query.page(after: cursor, limit: 50)
                    ids += page.items.map(\.id)
                    cursor = page.next
                } while cursor != nil
            }
            #expect(ids == expected)
            #expect(count <= expected.count * 3, "\(count) of \(expected.count)")
        }
    }

    @Test func aQueryWithoutRoomReadsNothingAndSaysSo() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Counted.self)
        for id in 0..<20 { try await items.save(Counted(id, "no room")) }
        for query in [items.all, items.where { $0.rank > 3 }.order(by: \.rank)] {
            #expect(try query.limit(0).explain().contains(": 0 objects read"))
            #expect(try await decodes("no room") { _ = try query.limit(0).fetch() } == 0)
        }
        try await workspace.close()
    }

    @Test func theObjectsOfASortedQueryAreSortedOnce() async throws {
        let items = try await counted(3_000, "objects")
        let queries = [
            items.order(by: \.rank), items.order(by: \.rank, .descending).offset(10),
            items.order(by: \.rank).limit(700), items.where { $0.group == 1 },
            items.where { $0.group.isIn([0, 1]) && $0.rank < 900 }.limit(900), items.all,
            items.where { $0.group == 0 }.order(by: \.rank), items.order(by: \.group).offset(3),
        ]
        for query in queries {
            let expected = try query.fetch().map(\.id)
            var ids: [Int] = []
            let count = try await decodes("objects") {
                for try await item in query.objects { ids.append(item.id) }
            }
            #expect(ids == expected)
            // A first piece, one look at each, and each that is given.
            #expect(count <= 3 * 3_000, "\(count) for \(expected.count)")
            ids = []
            try query.forEach { ids.append($0.id) }
            #expect(ids == expected)
        }
    }

    /// The values of two long lists make more ranges together than memory has room for.
    @Test func ofManyValuesTogetherTheObjectsAreAsked() async throws {
        let items = try await counted(2_000, "many")
        let many = items.where { $0.group.isIn(Array(0..<100)) && $0.rank.isIn(Array(0..<100)) }
        let some = items.where { $0.group.isIn(Array(0..<40)) && $0.rank.isIn(Array(0..<100)) }
        let active = IndexSet<Counted>.Active(Counted.indexes[1], 1)
        let manyRanges = try #require(IndexRanges(active, many.condition))
        #expect(manyRanges.ranges.count == 100)
        #expect(manyRanges.fieldCount == 1 && !manyRanges.isCovering)
        let someRanges = try #require(IndexRanges(active, some.condition))
        #expect(someRanges.ranges.count == 4_000)
        #expect(someRanges.fieldCount == 2 && someRanges.isCovering)
        let expected = (0..<2_000).map { Counted($0, "") }.filter { $0.rank < 100 }.map(\.id)
        for query in [many, some] {
            #expect(try query.fetch().map(\.id) == expected)
            #expect(try query.count() == expected.count)
        }
    }

    /// In any order, some of them in parts of others: all are put in order once, and not once more for each.
    @Test func ofManyComparisonsAnyMayHold() async throws {
        let items = try await counted(2_000, "any")
        var random = SeededGenerator(seed: testSeed())
        let values = (0..<20_000).map { _ in Int.random(in: 2..<100_000, using: &random) } + [1]
        let all = items.where { item in
            Condition.any(
                of: values.map { item.group == $0 } + [item.group > 50_000, item.group < -1])
        }
        #expect(try all.fetch().map(\.id) == (0..<2_000).filter { $0 % 2 == 1 })
        #expect(try all.count() == 1_000)
    }

    // MARK: Objects that do not decode

    @Test func whatDoesNotDecodeIsPassedByAndReportedWhereThatIsAskedFor() async throws {
        let items = try await counted(20, "undecodable")
        struct Other: Codable, Sendable { var weight = 1.5 }
        let bad = items.key(of: 7)
        try await items.dictionary.set(Other(), forKey: bad)
        #expect(throws: RoostError.self) { try items.order(by: \.rank).fetch() }
        let reported = Mutex<[String: RoostError.Code]>([:])
        let query = items.order(by: \.rank).skippingUndecodable { key, error in
            reported.withLock { $0[key] = error.code }
        }
        #expect(try query.fetch().count == 19)
        #expect(try query.count() == 19)
        #expect(try query.where { $0.group == 1 }.count() == 9)
        #expect(try query.max(of: \.id) == 19)
        #expect(try query.page(after: nil, limit: 30).items.count == 19)
        #expect(reported.withLock { $0 } == [bad: .decodingFailed])
        let workspace = items.dictionary.workspace
        #expect(try workspace.read { try $0.sum(of: \.id, in: query) } == 190 - 7)
        #expect(try await query.updateAll { $0.rank = 0 } == 19)
    }

    /// As an older program has it.
    private struct Untitled: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        static var indexes: [Index<Untitled>] { [Index("rank", \.rank)] }
    }

    private struct Titled: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        var title: String
        static var indexes: [Index<Titled>] { [Index("rank", \.rank)] }
    }

    /// An index has the entries of objects that do not decode any more.
    @Test func whatDoesNotDecodeAnyMoreIsPassedByWhereEntriesSayAll() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            let old = workspace.repository(of: Untitled.self, named: "items")
            try await old.saveAll((1...4).map { Untitled(id: $0, rank: $0 % 2) })
            try await old.indexesBuilt()
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Titled.self, named: "items")
            try await items.saveAll([
                Titled(id: 0, rank: 1, title: "a"), Titled(id: 9, rank: 7, title: "b"),
            ])
            try await items.indexesBuilt()
            #expect(try items.where { $0.rank == 7 }.explain().hasPrefix("index \"rank\""))
            let query = items.all.skippingUndecodable { _, _ in }
            #expect(try query.fetch().map(\.id) == [0, 9])
            #expect(try query.count() == 2)
            #expect(try query.where { $0.rank == 1 }.count() == 1)
            #expect(try query.where { $0.rank == 0 }.isEmpty())
            #expect(try query.where { $0.id < 9 }.count() == 1)
            #expect(try query.grouped(by: \.rank).counts() == [1: 1, 7: 1])
            #expect(try query.distinct(\.rank) == [1, 7])
            #expect(try workspace.read { try $0.count(of: query) } == 2)
            let inTransaction = try await workspace.transaction { transaction in
                try transaction.count(of: query)
            }
            #expect(inTransaction == 2)
            try await workspace.close()
        }
    }

    // MARK: What is computed

    private struct Box: Codable, Identifiable, Sendable, Indexed {
        struct Size: Codable, Sendable {
            var width: Int
            var half: Int { width / 2 }
        }
        var id: Int
        var size: Size
        var cover: Size?
        var labels: [String]?
        var area: Int { size.width * size.width }
        static var indexes: [Index<Box>] {
            [
                Index("area", \.area), Index("half", \.size.half, where: { $0.area > 3 }),
                Index("cover", \.cover?.width), Index("labels", each: \.labels),
            ]
        }
    }

    /// A key path of a computed property is printed with the address of its code, another in each launch.
    @Test func anIndexOverWhatIsComputedHasOneShapeInAllLaunches() async throws {
        // Behind the # is a hash of the 3.
        let shapes = Box.indexes.map(\.shape)
        #expect(
            shapes == [
                "<computed>:int64", "size.<computed>:int64, where <computed> > 3 #f125bba6ffe07850",
                "cover?.width?:int64?", "each labels:string",
            ])
        #expect(StoredIndexShape(shapes[0])?.isOfStoredFields == false)
        #expect(StoredIndexShape("size.width:int64")?.isOfStoredFields == true)
        let boxes = try await Workspace.inMemory().repository(of: Box.self)
        for id in 0..<9 { try await boxes.save(Box(id: id, size: .init(width: id))) }
        try await boxes.indexesBuilt()
        let query = boxes.where { $0.area == 16 }
        #expect(try query.fetch().map(\.id) == [4])
        #expect(try query.explain() == "index \"area\", <computed> = 16: 1 entries, 1 objects read")
        #expect(try boxes.where { $0.size.half == 3 && $0.area > 3 }.count() == 2)
    }

    /// Another way to look for a text makes another index, and is shown.
    @Test func howATextIsLookedForIsPartOfTheShape() {
        let ways: [TextMatching] = [.exact, .ignoringCase, .ignoringCaseAndMarks]
        var shapes: [String] = []
        for way in ways {
            shapes += [
                Index<Titled>("a", \.rank, where: { $0.title.contains("x", way) }).shape,
                Index<Titled>("a", \.rank, where: { $0.title.hasPrefix("x", way) }).shape,
                Index<Titled>("a", \.rank, where: { $0.title.hasSuffix("x", way) }).shape,
            ]
        }
        #expect(shapes[0] == "rank:int64, where title contains \"x\"")
        #expect(shapes[3] == "rank:int64, where title contains \"x\" whatever the case")
        #expect(Set(shapes).count == shapes.count)
    }

    private struct Labelled: Codable, Identifiable, Sendable {
        var id: Int
        var labels: Set<String>
        var others: [String]?
        var parts: Set<Data>
    }

    /// What a condition names comes in another order in each launch where a set has it, and is the same all the same.
    @Test func aSetsOrderIsNotPartOfTheShape() {
        let some = Set((0..<12).map { "label \($0)" })
        // Of another capacity, and so in another order.
        var same = Set<String>(minimumCapacity: 5_000)
        same.formUnion(some)
        #expect(Array(same) != Array(some))
        let numbers = Dictionary(uniqueKeysWithValues: some.map { ($0, 1) })
        var sameNumbers = [String: Int](minimumCapacity: 5_000)
        sameNumbers.merge(numbers) { $1 }
        func shapes(_ set: Set<String>, _ keys: Dictionary<String, Int>.Keys) -> [String] {
            [
                Index<Labelled>("a", \.id, where: { $0.labels.contains(anyOf: set) }).shape,
                Index<Labelled>("a", \.id, where: { $0.labels.contains(allOf: keys) }).shape,
                Index<Labelled>("a", \.id, where: { $0.others.contains(anyOf: keys) }).shape,
                Index<Labelled>("a", \.id, where: { $0.labels == set }).shape,
                Index<Titled>("a", \.id, where: { $0.title.isIn(keys) }).shape,
                Index<Titled>("a", \.id, where: { $0.title.isIn(set) }).shape,
            ]
        }
        #expect(shapes(some, numbers.keys) == shapes(same, sameNumbers.keys))
        #expect(shapes(some, numbers.keys)[3].hasPrefix("id:int64, where labels = [\"label 0\", "))
        // These are all shown alike.
        let parts = Set((0..<12).map { Data([UInt8($0)]) })
        var sameParts = Set<Data>(minimumCapacity: 5_000)
        sameParts.formUnion(parts)
        func shape(_ parts: Set<Data>) -> String {
            Index<Labelled>("a", \.id, where: { $0.parts.contains(allOf: parts) }).shape
        }
        #expect(shape(parts) == shape(sameParts))
    }

    private struct Shape: Codable, Identifiable, Sendable {
        var id: Int
        var width: Int
        var area: Int { width * width }
        var ratio: Double { Double(width) / 2 }
    }

    /// A computed property has no name that is the same in each launch. Its type tells some apart.
    @Test func aCursorOfAComputedOrderIsRefusedByOneOfAnotherType() async throws {
        let shapes = try await Workspace.inMemory().repository(of: Shape.self)
        for id in 0..<9 { try await shapes.save(Shape(id: id, width: 9 - id)) }
        let cursor = try #require(try shapes.order(by: \.area).page(after: nil, limit: 3).next)
        #expect(
            try shapes.order(by: \.area).page(after: cursor, limit: 3).items.map(\.id) == [5, 4, 3])
        let error = #expect(throws: RoostError.self) {
            try shapes.order(by: \.ratio).page(after: cursor, limit: 3)
        }
        #expect(error?.code == .conflict)
    }

    @Test func fieldsBehindAnOptionalAreFoundByTheirIndex() async throws {
        let boxes = try await Workspace.inMemory().repository(of: Box.self)
        for id in 0..<9 {
            try await boxes.save(
                Box(
                    id: id, size: .init(width: id),
                    cover: id % 3 == 0 ? nil : .init(width: id % 3),
                    labels: id % 2 == 0 ? nil : ["a", "b\(id % 4)"]))
        }
        try await boxes.indexesBuilt()
        let covered = boxes.where { $0.cover.width == 2 }
        #expect(try covered.fetch().map(\.id) == [2, 5, 8])
        #expect(try covered.explain().hasPrefix("index \"cover\""))
        let labelled = boxes.where { $0.labels.contains("b3") }
        #expect(try labelled.fetch().map(\.id) == [3, 7])
        #expect(try labelled.count() == 2)
        #expect(try labelled.explain().hasPrefix("index \"labels\""))
        #expect(try boxes.where { !$0.labels.contains("a") }.count() == 5)
        #expect(try boxes.where { $0.labels == nil }.count() == 5)
    }

    // MARK: Migrations

    private struct OldPrice: Codable, Identifiable, Sendable {
        var id: Int
        var price: Int
    }

    private struct Price: Codable, Identifiable, Sendable, StoredFields {
        var id: Int
        /// In cents, which was in euros before.
        var price: Int
        static var storedFields: [StoredField<Price>] { [StoredField(\.price, CodingKeys.price)] }
    }

    /// What an older program writes is brought up to date before it is asked whether it matches.
    @Test func aLiveResultHasWhatIsWrittenInAnEarlierVersion() async throws {
        let workspace = try await Workspace.inMemory()
        workspace.dictionary("prices").migrating(from: OldPrice.self, to: Price.self, version: 2) {
            Price(id: $0.id, price: $0.price * 100)
        }
        let old = workspace.repository(of: OldPrice.self, named: "prices")
        let prices = workspace.repository(of: Price.self, named: "prices")
        let query = prices.where { $0.price == 500 }
        var updates = query.updates().makeAsyncIterator()
        #expect(await updates.next()?.isEmpty == true)
        try await old.save(OldPrice(id: 1, price: 5))
        try await prices.save(Price(id: 2, price: 500))
        #expect(try query.fetch().map(\.id) == [1, 2])
        #expect(await updates.next()?.map(\.id) == [1, 2])
    }
}
