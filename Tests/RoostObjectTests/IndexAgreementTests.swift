import Foundation
import RoostCoding
import RoostEngine
import RoostTestSupport
import Synchronization
import Testing

@testable import Roost

/// Indexes where the next program computes something else, or reads it from elsewhere, under the same name and shape.
@Suite(.timeLimit(.minutes(10))) struct IndexAgreementTests {
    private static let name = "items"

    /// Writes objects by one type, and leaves a closed workspace.
    private func write<Item: Codable & Identifiable & Sendable & Indexed>(
        _ items: [Item], to path: String, compacts: Bool = false
    ) async throws where Item.ID: KeyRepresentable & Sendable {
        let workspace = try await Workspace.open(at: path)
        let repository = workspace.repository(of: Item.self, named: Self.name)
        try await repository.saveAll(items)
        try await repository.indexesBuilt()
        if compacts { try await workspace.compact() }
        try await workspace.close()
    }

    // MARK: Another subscript

    private struct First: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var extra: [String: Int]
        static var indexes: [Index<First>] { [Index("extra", \.extra["k"])] }
    }

    private struct Second: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var extra: [String: Int]
        static var indexes: [Index<Second>] { [Index("extra", \.extra["l"])] }
    }

    @Test(arguments: [1, 2, 40, 3_000], [true, false])
    func anotherSubscriptHasItsIndexBuiltAnew(count: Int, compacts: Bool) async throws {
        try await withTemporaryDirectory { path in
            let items = (0..<count).map { First(id: $0, extra: ["k": $0 % 7, "l": $0 % 5 + 100]) }
            try await write(items, to: path, compacts: compacts)
            #expect(First.indexes[0].shape == Second.indexes[0].shape)
            func expectRight(_ items: Repository<Second>) throws {
                for value in [3, 100, 104] {
                    let found = try items.where { $0.extra["l"] == value }.fetch().map(\.id)
                    #expect(found == (0..<count).filter { $0 % 5 + 100 == value })
                }
            }
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            let read = reader.repository(of: Second.self, named: Self.name)
            try expectRight(read)
            let text = try read.where { $0.extra["l"] == 100 }.explain()
            #expect(
                text.hasSuffix(
                    "index \"extra\" does not have what its declaration makes of the objects, and is not used"
                ))
            try await reader.close()
            let workspace = try await Workspace.open(at: path)
            let written = workspace.repository(of: Second.self, named: Self.name)
            try expectRight(written)
            try await written.indexesBuilt()
            try expectRight(written)
            #expect(
                try written.where { $0.extra["l"] == 100 }.explain().hasPrefix("index \"extra\""))
            for state in try written.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    /// Of many objects few have a value, and the others have none in either.
    @Test func whatFewObjectsHaveIsLookedAtToo() async throws {
        try await withTemporaryDirectory { path in
            let items = (0..<3_000).map { id in
                First(id: id, extra: id % 500 == 77 ? ["k": id, "l": -id] : [:])
            }
            try await write(items, to: path)
            let workspace = try await Workspace.open(at: path)
            let written = workspace.repository(of: Second.self, named: Self.name)
            #expect(try written.where { $0.extra["l"] == -577 }.fetch().map(\.id) == [577])
            #expect(try written.where { $0.extra["l"] == nil }.count() == 2_994)
            try await written.indexesBuilt()
            #expect(try written.where { $0.extra["l"] == -577 }.fetch().map(\.id) == [577])
            try await workspace.close()
        }
    }

    @Test func whatWasBuiltInPartByAnotherDeclarationIsBuiltAnew() async throws {
        try await withTemporaryDirectory { path in
            let items = (0..<300).map { First(id: $0, extra: ["k": $0 % 7, "l": $0 % 5]) }
            try await write(items, to: path)
            let before = try await Workspace.open(at: path)
            let first = before.repository(of: First.self, named: Self.name)
            let set = try #require(try await first.indexes?.adopted())
            // As a process leaves it that ends while the index is built.
            var batch = EncodedBatch(hashSeed: before.engine.hashSeed)
            let last = Array(first.key(of: 150).utf8)
            batch.write(
                IndexCatalog.Progress.building(after: last).stored,
                recordKey: set.active[0].mark, in: IndexCatalog.name)
            _ = try await before.engine.commit(batch, durability: nil)
            try await before.close()
            let workspace = try await Workspace.open(at: path)
            let second = workspace.repository(of: Second.self, named: Self.name)
            try await second.indexesBuilt()
            #expect(try second.where { $0.extra["l"] == 3 }.count() == 60)
            for state in try second.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    // MARK: Other code of a property

    /// What the code of `Shelf.label` is, and how often it may be run until something is let go on.
    private struct LabelCode {
        var factor = 1
        var runsLeft = Int.max
    }

    private struct Shelf: Codable, Identifiable, Sendable, Indexed {
        static let code = Mutex(LabelCode())
        var id: Int
        var number: Int
        var label: Int {
            while true {
                let factor: Int? = Self.code.withLock { code in
                    guard code.runsLeft > 0 else { return nil }
                    code.runsLeft -= 1
                    return code.factor
                }
                if let factor { return number * factor }
                usleep(1000)
            }
        }
        static var indexes: [Index<Shelf>] { [Index("label", \.label)] }
    }

    @Test func aPropertyWithOtherCodeHasItsIndexBuiltAnew() async throws {
        try await withTemporaryDirectory { path in
            try await write((0..<2_000).map { Shelf(id: $0, number: $0) }, to: path)
            // The building is stopped, so that it is seen.
            Shelf.code.withLock { $0 = LabelCode(factor: 3, runsLeft: 500) }
            let workspace = try await Workspace.open(at: path)
            let shelves = workspace.repository(of: Shelf.self, named: Self.name)
            let text = try shelves.where { $0.label == 300 }.limit(0).explain()
            #expect(
                text.hasSuffix(
                    "index \"label\" does not have what its declaration makes of the objects, and is built anew"
                ))
            Shelf.code.withLock { $0.runsLeft = .max }
            #expect(try shelves.where { $0.label == 300 }.fetch().map(\.id) == [100])
            try await shelves.indexesBuilt()
            #expect(try shelves.where { $0.label == 300 }.fetch().map(\.id) == [100])
            #expect(try shelves.where { $0.label == 300 }.explain().hasPrefix("index \"label\""))
            try await workspace.close()
        }
    }

    // MARK: The same field, read otherwise

    private struct Short: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String?
        var code: String
        static var indexes: [Index<Short>] {
            [Index("name", \.name), Index("code", \.code, isUnique: true)]
        }
    }

    /// Both fields are stored under other keys than those of `Short`, and `name` has a default.
    private struct Moved: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String?
        var code: String
        static var indexes: [Index<Moved>] {
            [Index("name", \.name), Index("code", \.code, isUnique: true)]
        }
        private enum CodingKeys: String, CodingKey {
            case id
            case name = "title"
            case code = "name"
        }

        init(id: Int, name: String?, code: String) {
            self.id = id
            self.name = name
            self.code = code
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            name = try values.decodeIfPresent(String.self, forKey: .name) ?? "none"
            code = try values.decode(String.self, forKey: .code)
        }
    }

    @Test(arguments: [1, 40, 3_000]) func aFieldThatIsReadFromAnotherKeyHasItsIndexBuiltAnew(
        count: Int
    ) async throws {
        try await withTemporaryDirectory { path in
            try await write(
                (0..<count).map { Short(id: $0, name: "n\($0)", code: "c\($0)") }, to: path)
            #expect(Short.indexes.map(\.shape) == Moved.indexes.map(\.shape))
            func expectRight(_ items: Repository<Moved>) throws {
                #expect(try items.where { $0.name == "none" }.fetch().count == count)
                #expect(try items.where { $0.name == "n0" }.count() == 0)
                #expect(try items.where { $0.code == "n0" }.fetch().map(\.id) == [0])
            }
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            try expectRight(reader.repository(of: Moved.self, named: Self.name))
            try await reader.close()
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Moved.self, named: Self.name)
            try expectRight(items)
            let error = await #expect(throws: RoostError.self) {
                try await items.insert(Moved(id: -1, name: nil, code: "n0"))
            }
            #expect(error?.code == .notUnique)
            try await items.indexesBuilt()
            try expectRight(items)
            #expect(try items.where { $0.name == "n0" }.explain().hasPrefix("index \"name\""))
            for state in try items.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    // MARK: Another closure

    private struct Even: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        static let isPicked = Row<Even>().satisfies { $0.rank % 2 == 0 }
        static var indexes: [Index<Even>] { [Index("rank", \.rank, where: { _ in isPicked })] }
    }

    private struct Third: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var rank: Int
        static let isPicked = Row<Third>().satisfies { $0.rank % 3 == 0 }
        static var indexes: [Index<Third>] { [Index("rank", \.rank, where: { _ in isPicked })] }
    }

    @Test func anotherClosureHasItsIndexBuiltAnew() async throws {
        try await withTemporaryDirectory { path in
            try await write((0..<1_000).map { Even(id: $0, rank: $0) }, to: path)
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Third.self, named: Self.name)
            try await items.indexesBuilt()
            for state in try items.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    // MARK: Values that are to be unique

    private struct Upper: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String
        var code: String { name.uppercased() }
        static var indexes: [Index<Upper>] { [Index("code", \.code, isUnique: true)] }
    }

    private struct Initial: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String
        var code: String { String(name.prefix(3)) }
        static var indexes: [Index<Initial>] { [Index("code", \.code, isUnique: true)] }
    }

    @Test func aTransactionChecksUniqueValuesByTheDeclarationOfToday() async throws {
        try await withTemporaryDirectory { path in
            try await write((100..<200).map { Upper(id: $0, name: "\($0)-name") }, to: path)
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Initial.self, named: Self.name)
            let error = await #expect(throws: RoostError.self) {
                try await workspace.transaction {
                    try $0.insert(Initial(id: 1, name: "123!"), in: items)
                }
            }
            #expect(error?.code == .notUnique)
            try await workspace.close()
        }
    }

    // MARK: What has not changed

    private struct Same: Codable, Identifiable, Sendable, Indexed {
        static let decodeCount = Mutex<[String: Int]>([:])
        var id: Int
        var rank: Int
        var test: String
        var name: String { "n\(rank)" }
        var half: Double { rank % 3 == 0 ? .nan : Double(rank) / 2 }
        var digits: [String] { "\(rank)".map { "\($0)" } }
        static var indexes: [Index<Same>] {
            [
                Index("name", \.name), Index("half", .descending(\.half), .ascending(\.name)),
                Index("digits", each: \.digits), Index("id", \.name, isUnique: true),
                Index("halves", \.half, \.id, isUnique: true),
                Index("picked", \.rank, where: { $0.satisfies { $0.rank % 5 == 0 } }),
            ]
        }

        init(_ id: Int, _ test: String) {
            self.id = id
            rank = id
            self.test = test
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(Int.self, forKey: .id)
            rank = try values.decode(Int.self, forKey: .rank)
            let test = try values.decode(String.self, forKey: .test)
            self.test = test
            Self.decodeCount.withLock { $0[test, default: 0] += 1 }
        }
    }

    @Test(arguments: [0, 1, 5, 4_000], [true, false])
    func whatHasNotChangedIsNotBuiltAgain(count: Int, compacts: Bool) async throws {
        let test = "\(count) \(compacts)"
        let time = SettableTime()
        try await withTemporaryDirectory { path in
            let configuration = Workspace.Configuration(clock: .settable(time))
            let before = try await Workspace.open(at: path, configuration: configuration)
            let items = before.repository(of: Same.self, named: Self.name)
            try await items.saveAll((0..<count).map { Same($0, test) })
            for id in count..<(count + count / 100) {
                try await items.dictionary.set(
                    Same(id, test), forKey: items.key(of: id), expiresIn: .seconds(60))
            }
            try await items.indexesBuilt()
            if compacts { try await before.compact() }
            try await before.close()
            time.advance(by: .seconds(61))
            let decodes = Same.decodeCount.withLock { $0[test, default: 0] }
            let workspace = try await Workspace.open(at: path, configuration: configuration)
            let again = workspace.repository(of: Same.self, named: Self.name)
            try await again.indexesBuilt()
            let made = Same.decodeCount.withLock { $0[test, default: 0] } - decodes
            #expect(made <= 32 * Same.indexes.count)
            #expect(made >= min(count, 10))
            if count > 7 {
                let query = again.where { $0.name == "n7" }
                #expect(try query.fetch().map(\.id) == [7])
                let text = try query.explain()
                #expect(
                    text.hasPrefix("index")
                        && text.hasSuffix(" = \"n7\": 1 entries, 1 objects read"))
            }
            for state in try again.indexStates() { #expect(state.faults == []) }
            try await workspace.close()
        }
    }

    private struct Named: Codable, Identifiable, Sendable, Indexed {
        var id: String
        var slug: String
        var code: String?
        static var indexes: [Index<Named>] {
            [
                Index("slug", \.slug, isUnique: true), Index("code", \.code, isUnique: true),
                Index("either", \.slug),
            ]
        }
    }

    /// Its entries have an empty key where others have one.
    @Test(arguments: ["", "a"], [nil, "home"])
    func anObjectWhoseIdentifierIsEmptyAgrees(id: String, code: String?) async throws {
        try await withTemporaryDirectory { path in
            let items = [
                Named(id: id, slug: "home", code: code), Named(id: "b", slug: "other", code: "z"),
            ]
            try await write(items, to: path)
            let reader = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            let read = reader.repository(of: Named.self, named: Self.name)
            let bySlug = read.where { $0.slug == "home" }
            #expect(try bySlug.explain().hasPrefix("index \"slug\""))
            #expect(try bySlug.fetch().map(\.id) == [id])
            let byCode = read.where { $0.code == code }
            #expect(try byCode.explain().hasPrefix("index \"code\""))
            #expect(try byCode.fetch().map(\.id) == [id])
            for state in try read.indexStates() { #expect(state.faults == []) }
            try await reader.close()
        }
    }

    private struct Longer: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var extra: [String: Int]
        var more: String
        static var indexes: [Index<Longer>] { [Index("extra", \.extra["k"])] }
    }

    @Test func anObjectThatDoesNotDecodeKeepsNoIndexFromBeingAdopted() async throws {
        try await withTemporaryDirectory { path in
            try await write((0..<3).map { First(id: $0, extra: ["k": $0]) }, to: path)
            let workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Longer.self, named: Self.name)
            try await items.save(Longer(id: 9, extra: ["k": 5], more: ""))
            #expect(try items.where { $0.extra["k"] == 5 }.explain().hasPrefix("index \"extra\""))
            #expect(try items.where { $0.extra["k"] == 5 }.fetch().map(\.id) == [9])
            try await workspace.close()
        }
    }
}
