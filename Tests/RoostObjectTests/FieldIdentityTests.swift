import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Which fields and which conditions are taken for one.
@Suite(.timeLimit(.minutes(5))) struct FieldIdentityTests {
    private struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        struct Meta: Codable, Sendable, Equatable {
            var values: [String: String]
            var size: Size
            var inner: Size?
            subscript(tag tag: String) -> String { values[tag] ?? "" }
        }
        struct Size: Codable, Sendable, Equatable {
            var width: Int
            var name: String?
        }
        var id: Int
        var meta: Meta?
        static var indexes: [Index<Item>] {
            [
                Index("width", \.meta?.size.width), Index("inner", \.meta?.inner?.width),
                Index("name", \.meta?.inner?.name),
                Index("red", \.id, where: { $0.meta.values["color"] == "red" }),
            ]
        }
    }

    private func items() async throws -> Repository<Item> {
        let items = try await Workspace.inMemory().repository(of: Item.self)
        for id in 0..<12 {
            try await items.save(
                Item(
                    id: id,
                    meta: id % 4 == 0
                        ? nil
                        : .init(
                            values: ["color": id % 2 == 0 ? "red" : "blue", "size": "s\(id % 3)"],
                            size: .init(width: id),
                            inner: id % 3 == 0 ? nil : .init(width: id * 2, name: "n\(id)"))))
        }
        try await items.indexesBuilt()
        return items
    }

    @Test func twoArgumentsOfASubscriptAreTwoFields() async throws {
        let items = try await items()
        // What says of the size that it is "red" says nothing of the color, whose index has no object of it.
        let sizes = items.where {
            $0.meta.values["size"] == "s1" || $0.meta.values["size"] == "red"
        }
        let expected = [1, 7, 10]
        #expect(try sizes.fetch().map(\.id) == expected)
        let red = items.where { $0.meta.values["size"] == "red" }.order(by: \.id).limit(9)
        #expect(try !red.explain().contains("index \"red\""))
        var odd = try #require(try items[1])
        odd.meta?.values = ["color": "blue", "size": "red"]
        try await items.save(odd)
        #expect(try red.fetch().map(\.id) == [1])
        let color = items.where { $0.meta.values["color"] == "red" }.order(by: \.id).limit(9)
        #expect(try color.explain().hasPrefix("index \"red\""))
        #expect(try color.fetch().map(\.id) == [2, 6, 10])
        let tagged = items.where { $0.meta[tag: "color"] == "red" && $0.meta[tag: "size"] == "s2" }
        #expect(try tagged.fetch().map(\.id) == [2])
    }

    @Test func liveResultsTellTheArgumentsOfASubscriptApart() async throws {
        let items = try await items()
        let sizes = items.where { $0.meta.values["size"] == "new" }
        var updates = sizes.updates().makeAsyncIterator()
        #expect(await updates.next()?.isEmpty == true)
        // Another live query of the same text.
        var others = items.where { $0.meta.values["color"] == "new" }.updates().makeAsyncIterator()
        #expect(await others.next()?.isEmpty == true)
        try await items.update(1) { $0.meta?.values["size"] = "new" }
        #expect(await updates.next()?.map(\.id) == [1])
    }

    @Test func indexesBehindOneAndTwoOptionalsAreUsed() async throws {
        let items = try await items()
        let width = items.where { $0.meta.size.width == 7 }
        #expect(try width.fetch().map(\.id) == [7])
        #expect(
            try width.explain()
                == "index \"width\", meta?.size.width = 7: 1 entries, 1 objects read")
        let inner = items.where { $0.meta.inner.width > 10 }
        #expect(try inner.explain().hasPrefix("index \"inner\""))
        #expect(try inner.fetch().map(\.id) == [7, 10, 11])
        let name = items.where { $0.meta.inner.name == "n5" }
        #expect(try name.explain().hasPrefix("index \"name\""))
        #expect(try name.fetch().map(\.id) == [5])
        #expect(try items.where { $0.meta.inner.name == nil }.count() == 6)
    }

    /// A field of what may be `nil` that may be `nil` itself can be asked for with one optional or with two, which are
    /// not one field: an index has one, for which no object is "there, and without a name".
    @Test func optionalsOfOptionalsAreNotTakenForOptionals() async throws {
        let items = try await items()
        try await items.save(
            Item(id: 20, meta: .init(values: [:], size: .init(width: 1), inner: .init(width: 2))))
        let plain = try items.all.fetch()
        let there: String?? = .some(nil)
        let nameless = items.where { $0.meta.inner.name == there }
        #expect(
            try nameless.fetch().map(\.id)
                == plain.filter { $0.meta?.inner.map { $0.name == nil } ?? false }.map(\.id))
        let named = items.where { $0.meta.inner.name == .some(.some("n5")) }
        #expect(try named.fetch().map(\.id) == [5])
        let missing: Item.Size?? = .some(nil)
        #expect(
            try items.where { $0.meta.inner == missing }.fetch().map(\.id)
                == plain.filter { $0.meta.map { $0.inner == nil } ?? false }.map(\.id))
        let one: String? = "n5"
        let name = items.where { $0.meta.inner.name == one }
        #expect(try name.explain().hasPrefix("index \"name\""))
        #expect(try name.fetch().map(\.id) == [5])
        let width: Int? = 7
        #expect(try items.where { $0.meta.size.width == width }.fetch().map(\.id) == [7])
        #expect(
            try items.where { $0.meta.inner.width == nil }.fetch().map(\.id)
                == plain.filter { $0.meta?.inner == nil }.map(\.id))
    }

    private struct File: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var head: Data
        @TaskLocal static var wanted = Data([1])
        static var indexes: [Index<File>] { [Index("id", \.id, where: { $0.head == wanted })] }
    }

    /// All data of one size is described alike, and dates within a second.
    @Test func aConditionsValuesAreOfAnIndexesShape() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var files = workspace.repository(of: File.self)
            for id in 0..<9 { try await files.save(File(id: id, head: Data([UInt8(id % 3)]))) }
            try await files.indexesBuilt()
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            try await File.$wanted.withValue(Data([2])) {
                files = workspace.repository(of: File.self)
                let query = files.where { $0.head == Data([2]) }.order(by: \.id).limit(9)
                #expect(try query.fetch().map(\.id) == [2, 5, 8])
                try await files.indexesBuilt()
                #expect(try query.fetch().map(\.id) == [2, 5, 8])
                #expect(try query.explain().hasPrefix("index \"id\""))
                #expect(try workspace.storedIndexes().count == 1)
            }
            try await workspace.close()
        }
    }

    @Test(arguments: [
        ("price:decimal-nan-first", 1, false, false),
        ("price:decimal-nan-first, unique", 1, true, false),
        ("price:decimal-nan-first?, where price > 3 #00", 1, false, true),
        ("price:decimal-nan-first descending, name:string", 2, false, false),
        ("price:decimal-nan-first, name:string?, unique, where a, b, version 3 #1", 2, true, true),
    ])
    func shapesWithDecimalsAreReadBack(
        text: String, fieldCount: Int, isUnique: Bool, isPartial: Bool
    ) throws {
        let shape = try #require(StoredIndexShape(text))
        #expect(shape.fields.count == fieldCount)
        #expect(shape.isUnique == isUnique)
        #expect(shape.isPartial == isPartial)
        #expect(
            shape.fields[0].layout
                == (text.contains("?, where") ? .optional(.fixed(19)) : .fixed(19)))
    }

    /// As an earlier version named the decimals whose NaN is first.
    @Test func aShapeThatIsNotWhollyKnownIsNotReadHalf() {
        #expect(StoredIndexShape("price:decimal, NaN first") == nil)
        #expect(StoredIndexShape("price:decimal, NaN first, unique") == nil)
        #expect(StoredIndexShape("price:int64, unique, version 4")?.isMigrated == true)
        #expect(StoredIndexShape("price:int64, version 4")?.isMigrated == true)
        #expect(StoredIndexShape("price:int64, sorted by moon") == nil)
    }

    private struct Priced: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var price: Decimal
        var old: Decimal?
        static var indexes: [Index<Priced>] {
            [
                Index("price", \.price, isUnique: true), Index("down", .descending(\.price), \.id),
                Index("old", \.old, where: { $0.price > 3 }),
            ]
        }
    }

    @Test func theShapesThatAreWrittenAreRead() async throws {
        for index in Priced.indexes {
            let shape = try #require(StoredIndexShape(index.shape), "\(index.shape)")
            #expect(shape.isUnique == index.isUnique)
            #expect(shape.isPartial == (index.filter != nil))
            #expect(shape.fields.map(\.layout) == index.layouts.map(\.layout))
            #expect(shape.fields.map(\.isDescending) == index.layouts.map(\.isInverted))
        }
    }

    private struct Tagged: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var tags: [String]
        var others: [String]?
        static var indexes: [Index<Tagged>] {
            [
                Index("first", \.tags.first), Index("others", \.others?.first),
                Index("last", .descending(\.tags.last), where: { $0.tags.first != nil }),
            ]
        }
    }

    /// What `\.tags[0]` would be, of objects without tags too: these have `nil`, which is less than all.
    @Test func theFirstElementIsAnOrderAConditionAndAnIndex() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            var items = workspace.repository(of: Tagged.self)
            try await items.saveAll([
                Tagged(id: 1, tags: ["b", "x"]), Tagged(id: 2, tags: []),
                Tagged(id: 3, tags: ["a"], others: ["c"]), Tagged(id: 4, tags: ["b"], others: []),
            ])
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            items = workspace.repository(of: Tagged.self)
            try await items.indexesBuilt()
            let b = items.where { $0.tags.first == "b" }
            #expect(try b.fetch().map(\.id) == [1, 4])
            #expect(try b.explain().hasPrefix("index \"first\""))
            #expect(try items.where { $0.tags.first == nil }.fetch().map(\.id) == [2])
            let ordered = items.order(by: \.tags.first)
            #expect(try ordered.fetch().map(\.id) == [2, 3, 1, 4])
            #expect(try ordered.limit(2).fetch().map(\.id) == [2, 3])
            #expect(try ordered.limit(2).explain().hasPrefix("index \"first\" in order"))
            #expect(try items.where { $0.others.first == "c" }.fetch().map(\.id) == [3])
            let last = items.where { $0.tags.first != nil }.order(by: \.tags.last, .descending)
            #expect(try last.fetch().map(\.id) == [1, 4, 3])
            #expect(try last.limit(1).fetch().map(\.id) == [1])
            #expect(try items.grouped(by: \.tags.first).counts() == [nil: 1, "a": 1, "b": 2])
            #expect(try items.values(of: \.tags.first) == ["b", nil, "a", "b"])
            try await workspace.close()
        }
    }
}
