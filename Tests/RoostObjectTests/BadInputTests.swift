import Foundation
import Roost
import RoostTestSupport
import Testing

/// What data, other programs and other versions can bring before a query: a clear error each, or the
/// right answer, and the rest of the store goes on.
@Suite(.timeLimit(.minutes(10))) struct BadInputTests {
    /// Items as an older program wrote them, without the field that came later.
    private struct OldItem: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
    }

    private struct Item: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var name: String
        var rank: Int?
        static var indexes: [Index<Item>] {
            [Index("name", \.name), Index("rank", \.rank)]
        }
    }

    /// As `Item`, where the later field has no default.
    private struct StrictItem: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String
        var rank: Int
        static var indexes: [Index<StrictItem>] { [Index("rank", \.rank)] }
    }

    /// As `Item`, whose name became a number.
    private struct NumberedItem: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: Int
        static var indexes: [Index<NumberedItem>] { [Index("name", \.name)] }
    }

    private func code(_ body: () async throws -> Void) async -> RoostError.Code? {
        do {
            try await body()
            return nil
        } catch { return (error as? RoostError)?.code }
    }

    @Test func anObjectThatDoesNotDecodeIsNamedAndTheRestGoesOn() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        for id in 0..<50 { try await items.save(Item(id: id, name: "n\(id)", rank: id)) }
        try await items.indexesBuilt()
        // Round the repository, and no item.
        let bad = items.key(of: 7)
        struct Other: Codable, Sendable { var weight = 1.5 }
        try await items.dictionary.set(Other(), forKey: bad)
        #expect {
            try items.where { $0.name.contains("n") }.fetch()
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .decodingFailed && error.message.contains("\"\(bad)\"")
        }
        // The index cannot be built, which says why, and queries say that they do without.
        await #expect {
            try await items.indexesBuilt()
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .conflict && error.message.contains("\"\(bad)\"")
        }
        #expect(await code { try await items.reindex() } == .conflict)
        // Others are read, written and found by their identifiers.
        try await items.save(Item(id: 8, name: "new", rank: 1))
        #expect(try items[8]?.name == "new")
        #expect(try items.all.limit(5).fetch().map(\.id) == [0, 1, 2, 3, 4])
        // What takes its place makes all well again.
        try await items.save(Item(id: 7, name: "seven", rank: 7))
        try await items.reindex()
        try await items.indexesBuilt()
        let seven = items.where { $0.name == "seven" }
        #expect(try seven.fetch().map(\.id) == [7])
        #expect(try seven.explain().hasPrefix("index \"name\""))
    }

    @Test func anIndexOfATypeThatChangedIsAnotherIndex() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            let items = workspace.repository(of: Item.self, named: "items")
            for id in 0..<20 { try await items.save(Item(id: id, name: "\(id)", rank: nil)) }
            try await items.indexesBuilt()
            try await workspace.close()
            workspace = try await Workspace.open(at: path)
            let numbered = workspace.repository(of: NumberedItem.self, named: "items")
            // Nothing of the text's entries is taken for a number's.
            #expect(
                await code { _ = try numbered.where { $0.name == 5 }.fetch() } == .decodingFailed)
            #expect(await code { try await numbered.indexesBuilt() } == .conflict)
            try await numbered.dictionary.removeAll()
            for id in 0..<20 { try await numbered.save(NumberedItem(id: id, name: id % 4)) }
            try await numbered.reindex()
            let threes = numbered.where { $0.name == 3 }
            #expect(try threes.fetch().map(\.id) == [3, 7, 11, 15, 19])
            #expect(try threes.explain().hasPrefix("index \"name\""))
            try await workspace.close()
        }
    }

    @Test func aConditionOnAFieldThatOldObjectsLack() async throws {
        var workspace = try await Workspace.inMemory()
        let old = workspace.repository(of: OldItem.self, named: "items")
        for id in 0..<10 { try await old.save(OldItem(id: id, name: "old")) }
        let items = workspace.repository(of: Item.self, named: "items")
        try await items.save(Item(id: 10, name: "new", rank: 3))
        try await items.indexesBuilt()
        #expect(try items.where { $0.rank == nil }.count() == 10)
        #expect(try items.where { $0.rank > 1 }.fetch().map(\.id) == [10])
        #expect(try items.order(by: \.rank, .descending).first()?.id == 10)
        // Where the field must be there, who lacks it is named.
        workspace = try await Workspace.inMemory()
        let oldest = workspace.repository(of: OldItem.self, named: "items")
        try await oldest.save(OldItem(id: 0, name: "old"))
        let strict = workspace.repository(of: StrictItem.self, named: "items")
        #expect {
            try strict.where { $0.rank > 1 }.fetch()
        } throws: { error in
            guard let error = error as? RoostError else { return false }
            return error.code == .decodingFailed && error.message.contains(items.key(of: 0))
        }
    }

    @Test func aFieldOfAMebibyteIsFoundAndToldApart() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        let long = String(repeating: "x", count: 1 << 20)
        for id in 0..<4 { try await items.save(Item(id: id, name: long + "\(id)", rank: id)) }
        try await items.save(Item(id: 9, name: "x", rank: nil))
        try await items.indexesBuilt()
        #expect(try items.where { $0.name == long + "2" }.fetch().map(\.id) == [2])
        #expect(try items.where { $0.name > long + "1" }.fetch().map(\.id) == [2, 3])
        #expect(try items.where { $0.name.hasPrefix(long) }.count() == 4)
        let order = items.order(by: \.name, .descending)
        #expect(try order.fetch().map(\.id) == [3, 2, 1, 0, 9])
        #expect(try items.distinct(\.name).count == 5)
        #expect(try items.grouped(by: \.name).counts().values.allSatisfy { $0 == 1 })
        let page = try order.page(after: nil, limit: 2)
        #expect(try order.page(after: page.next, limit: 5).items.map(\.id) == [1, 0, 9])
    }

    /// A cursor has the whole value that the order is by.
    @Test func pagesGoOnBehindAFieldOfSomeMebibytes() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        let long = String(repeating: "x", count: 5 << 20)
        for id in 0..<3 { try await items.save(Item(id: id, name: long + "\(id)", rank: id)) }
        let order = items.order(by: \.name)
        var (ids, cursor): ([Int], PageCursor?) = ([], nil)
        repeat {
            let page = try order.page(after: cursor, limit: 1)
            ids += page.items.map(\.id)
            cursor = page.next
        } while cursor != nil
        #expect(ids == [0, 1, 2])
    }

    @Test func aUniqueValueThatIsTooLongIsRefused() async throws {
        struct Named: Codable, Identifiable, Sendable, Indexed {
            var id: Int
            var name: String
            static var indexes: [Index<Named>] { [Index("name", \.name, isUnique: true)] }
        }
        let named = try await Workspace.inMemory().repository(of: Named.self)
        let long = String(repeating: "x", count: 1 << 20)
        #expect(await code { try await named.save(Named(id: 1, name: long)) } == .valueTooLarge)
        #expect(try named.count == 0)
    }

    private struct Unique: Codable, Identifiable, Sendable, Indexed {
        var id: Int
        var name: String
        static var indexes: [Index<Unique>] { [Index("name", \.name, isUnique: true)] }
    }

    /// As an older program has it, whose names were not to be unique.
    private struct Plain: Codable, Identifiable, Sendable {
        var id: Int
        var name: String
    }

    /// What keeps an index from being built is changed and deleted as anything else.
    @Test func aUniqueValueThatIsTooLongAndThereAlreadyIsMended() async throws {
        let workspace = try await Workspace.inMemory()
        let plain = workspace.repository(of: Plain.self, named: "Unique")
        let long = String(repeating: "x", count: 1_100)
        try await plain.saveAll([
            Plain(id: 1, name: "a"), Plain(id: 2, name: long), Plain(id: 3, name: long),
            Plain(id: 4, name: long), Plain(id: 5, name: long),
        ])
        let named = workspace.repository(of: Unique.self)
        #expect(await code { try await named.indexesBuilt() } == .conflict)
        try await named.update(2) { $0.name = "b" }
        try await named.save(Unique(id: 3, name: "c"))
        try await named.delete(4)
        #expect(try await named.where { $0.name == long }.deleteAll() == 1)
        try await named.reindex()
        #expect(try named.where { $0.name >= "b" }.fetch().map(\.id) == [2, 3])
        #expect(try named.where { $0.name >= "b" }.count() == 2)
        #expect(await code { try await named.insert(Unique(id: 6, name: "c")) } == .notUnique)
    }

    /// Two objects have had one value before the index, which cannot be built; a third was given it. Whoever of the first two
    /// is mended leaves the third its entry.
    @Test(arguments: ["update", "save", "saveAll", "delete", "deleteAll"])
    func whoIsMendedLeavesAnotherItsUniqueValue(how: String) async throws {
        let workspace = try await Workspace.inMemory()
        let plain = workspace.repository(of: Plain.self, named: "Unique")
        try await plain.saveAll([Plain(id: 1, name: "a"), Plain(id: 2, name: "a")])
        let named = workspace.repository(of: Unique.self)
        #expect(await code { try await named.indexesBuilt() } == .conflict)
        // No entry was made of the first two.
        try await named.save(Unique(id: 3, name: "a"))
        for id in 1...2 {
            switch how {
            case "update": try await named.update(id) { $0.name = "b\(id)" }
            case "save": try await named.save(Unique(id: id, name: "b\(id)"))
            case "saveAll": try await named.saveAll([Unique(id: id, name: "b\(id)")])
            case "delete": try await named.delete(id)
            default: try await named.where { $0.id == id }.deleteAll()
            }
            let other = Unique(id: 4, name: "a")
            #expect(await code { try await named.insert(other) } == .notUnique)
        }
        try await named.reindex()
        #expect(try named.where { $0.name == "a" }.fetch().map(\.id) == [3])
        // What is its own goes with it.
        try await named.delete(3)
        try await named.insert(Unique(id: 4, name: "a"))
    }

    /// What goes round the repository is part of what is to be unique from the next change on.
    @Test func aUniqueValueIsNotToldByAnIndexThatDoesNotCount() async throws {
        let workspace = try await Workspace.inMemory()
        let named = workspace.repository(of: Unique.self)
        for round in 0..<20 {
            let (first, second) = (round * 2, round * 2 + 1)
            try await named.save(Unique(id: first, name: "a"))
            try await named.dictionary.removeAll()
            // The entry of what is gone is there still.
            try await named.insert(Unique(id: second, name: "a"))
            try await named.dictionary.set(
                Unique(id: first, name: "b"), forKey: named.key(of: first))
            let other = Unique(id: -1, name: "b")
            #expect(await code { try await named.insert(other) } == .notUnique)
            try await named.dictionary.removeAll()
            try await named.dictionary.set(
                Unique(id: first, name: "c"), forKey: named.key(of: first))
            try await workspace.transaction { transaction in
                do {
                    try transaction.save(Unique(id: second, name: "c"), in: named)
                    Issue.record("saved")
                } catch {}
                try transaction.save(Unique(id: second, name: "d"), in: named)
            }
            #expect(try named.all.fetch().map(\.name) == ["c", "d"])
            try await named.all.deleteAll()
        }
    }

    /// The entries of what it takes away by keys are there still, and hold no value.
    @Test func aValueThatATransactionTakesAwayByKeysIsFree() async throws {
        let workspace = try await Workspace.inMemory()
        let named = workspace.repository(of: Unique.self)
        try await named.saveAll([
            Unique(id: 1, name: "a"), Unique(id: 2, name: "b"), Unique(id: 3, name: "c"),
        ])
        try await workspace.transaction { transaction in
            try transaction.removeAll(in: named.dictionary)
            try transaction.insert(Unique(id: 4, name: "a"), in: named)
            try transaction.saveAll(
                [Unique(id: 1, name: "b"), Unique(id: 2, name: "c")], in: named)
            // Of what is there after that none is free.
            for name in ["a", "b", "c"] {
                do {
                    try transaction.insert(Unique(id: 5, name: name), in: named)
                    Issue.record("\(name) is taken")
                } catch {}
            }
        }
        try await named.indexesBuilt()
        #expect(try named.all.fetch().map(\.name) == ["b", "c", "a"])
        try await workspace.transaction { transaction in
            try transaction.removeValue(forKey: named.key(of: 4), in: named.dictionary)
            try transaction.set(
                Unique(id: 1, name: "d"), forKey: named.key(of: 1), in: named.dictionary)
            try transaction.save(Unique(id: 2, name: "a"), in: named)
            try transaction.insertAll(
                [Unique(id: 5, name: "b"), Unique(id: 6, name: "c")], in: named)
        }
        try await named.indexesBuilt()
        #expect(try named.order(by: \.name).fetch().map(\.id) == [2, 5, 6, 1])
        #expect(await code { try await named.insert(Unique(id: 7, name: "b")) } == .notUnique)
        for state in try named.indexStates() { #expect(state.faults == []) }
    }

    /// A transaction waits for a unique index that is new.
    @Test func aUniqueIndexThatIsNewIsWaitedFor() async throws {
        struct Plain: Codable, Identifiable, Sendable {
            var id: Int
            var name: String
        }
        for _ in 0..<20 {
            let workspace = try await Workspace.inMemory()
            let plain = workspace.repository(of: Plain.self, named: "items")
            try await plain.saveAll((0..<200).map { Plain(id: $0, name: "n\($0)") })
            let named = workspace.repository(of: Unique.self, named: "items")
            #expect(
                await code {
                    try await workspace.transaction {
                        try $0.insert(Unique(id: 900, name: "n150"), in: named)
                    }
                } == .notUnique)
            try await workspace.transaction {
                try $0.insert(Unique(id: 900, name: "new"), in: named)
            }
            try await named.indexesBuilt()
            try await workspace.close()
        }
    }

    @Test func aQueryInAClosedWorkspaceSaysSo() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        try await items.save(Item(id: 1, name: "a"))
        let query = items.where { $0.name == "a" }
        let first = try query.page(after: nil, limit: 1).next
        try await workspace.close()
        #expect(await code { _ = try query.fetch() } == .closed)
        #expect(await code { _ = try query.count() } == .closed)
        #expect(await code { _ = try query.explain() } == .closed)
        #expect(await code { _ = try items.distinct(\.name) } == .closed)
        #expect(await code { _ = try items.grouped(by: \.name).counts() } == .closed)
        #expect(await code { _ = try query.page(after: first, limit: 1) } == .closed)
        #expect(await code { for try await _ in query.objects {} } == .closed)
        #expect(await code { try await query.deleteAll() } == .closed)
        #expect(await code { try await items.insert(Item(id: 2, name: "b")) } == .closed)
        #expect(await code { try await items.indexesBuilt() } == .closed)
    }

    @Test func aStoreThatIsOpenedForReadingWithANewIndexIsScanned() async throws {
        try await withTemporaryDirectory { path in
            var workspace = try await Workspace.open(at: path)
            let old = workspace.repository(of: OldItem.self, named: "items")
            for id in 0..<10 { try await old.save(OldItem(id: id, name: "\(id % 2)")) }
            try await workspace.close()
            workspace = try await Workspace.open(at: path, configuration: .init(access: .readOnly))
            let items = workspace.repository(of: Item.self, named: "items")
            let even = items.where { $0.name == "0" }
            #expect(try even.fetch().count == 5)
            let explanation = try even.explain()
            #expect(explanation.hasPrefix("every object"))
            #expect(explanation.contains("index \"name\" is not built yet"))
            #expect(await code { try await items.indexesBuilt() } == .readOnly)
            try await workspace.close()
        }
    }

    // MARK: Cursors

    @Test func aCursorOfAnotherQueryIsRefused() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        let others = workspace.repository(of: Item.self, named: "others")
        for id in 0..<9 { try await items.save(Item(id: id, name: "\(id)", rank: id)) }
        let cursor = try #require(try items.order(by: \.rank).page(after: nil, limit: 3).next)
        for query in [
            items.all, items.order(by: \.name), items.order(by: \.rank, .descending),
            items.order(by: \.rank).order(by: \.name), others.order(by: \.rank),
        ] {
            #expect(await code { _ = try query.page(after: cursor, limit: 3) } == .conflict)
        }
        // A place in an order is one in all that is in it.
        let narrower = items.where { $0.name != "4" }.order(by: \.rank)
        #expect(try narrower.page(after: cursor, limit: 2).items.map(\.id) == [3, 5])
    }

    /// All pages of a query with a limit have as many objects as it allows, and no cursor makes it more.
    @Test func aLimitHoldsAcrossPages() async throws {
        let workspace = try await Workspace.inMemory()
        let items = workspace.repository(of: Item.self, named: "items")
        for id in 0..<50 { try await items.save(Item(id: id, name: "\(id)", rank: id)) }
        let query = items.order(by: \.rank).offset(3).limit(20)
        for size in [1, 7, 10, 19, 20, 21, .max] {
            var (ids, cursor): ([Int], PageCursor?) = ([], nil)
            repeat {
                let page = try query.page(after: cursor, limit: size)
                ids += page.items.map(\.id)
                cursor = page.next
            } while cursor != nil
            #expect(ids == Array(3..<23), "pages of \(size)")
        }
        #expect(try items.all.limit(0).page(after: nil, limit: 5).next == nil)
        let cursor = try #require(try query.page(after: nil, limit: 10).next)
        let text = String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self)
        #expect(text.contains("\"remainingCount\":10"))
        for count in ["-1", "0", "20", "21", "9223372036854775807", "null"] {
            let hostile = text.replacing(
                "\"remainingCount\":10", with: "\"remainingCount\":\(count)")
            let made = try JSONDecoder().decode(PageCursor.self, from: Data(hostile.utf8))
            #expect(
                await code { _ = try query.page(after: made, limit: 5) } == .conflict, "\(count)")
        }
        #expect(
            await code { _ = try items.order(by: \.rank).page(after: cursor, limit: 5) }
                == .conflict)
    }

    @Test func aCursorThatAStrangerMadeIsAPlaceOrRefused() async throws {
        let workspace = try await Workspace.inMemory()
        let indexed = workspace.repository(of: Item.self, named: "items")
        for id in 0..<60 {
            try await indexed.save(
                Item(id: id, name: "n\(id % 7)", rank: id % 5 == 0 ? nil : id % 11))
        }
        try await indexed.indexesBuilt()
        // The same objects where nothing has an index.
        struct Plain: Codable, Identifiable, Sendable {
            var id: Int
            var name: String
            var rank: Int?
        }
        let plain = workspace.repository(of: Plain.self, named: "items")
        var random = SeededGenerator(seed: testSeed())
        for round in 0..<700 {
            let isDown = random.once(in: 2)
            let order: ScanOrder = isDown ? .descending : .ascending
            let byIndex = indexed.order(by: \.rank, order).order(by: \.name)
            let byScan = plain.order(by: \.rank, order).order(by: \.name)
            let honest = try #require(
                try byIndex.page(after: nil, limit: 1 + random.below(50)).next)
            let hostile = try mutated(honest, &random, round)
            guard let hostile else { continue }
            #expect(
                try byIndex.page(after: hostile, limit: 70).items.map(\.id)
                    == byScan.page(after: hostile, limit: 70).items.map(\.id))
        }
        for text in [
            "{}", "[]", "{\"order\":1}", "{\"order\":\"items,rank+\",\"place\":\"!\"}",
        ] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(PageCursor.self, from: Data(text.utf8))
            }
        }
    }

    /// A cursor as JSON whose place is other bytes; `nil` where these are the same.
    private func mutated(
        _ cursor: PageCursor, _ random: inout SeededGenerator, _ round: Int
    ) throws -> PageCursor? {
        let text = try JSONSerialization.jsonObject(with: JSONEncoder().encode(cursor))
        guard var fields = text as? [String: String],
            var place = fields["place"].flatMap({ Data(base64Encoded: $0) })
        else { return nil }
        switch random.below(5) {
        case 0: place = Data((0..<random.below(30)).map { _ in UInt8(random.below(256)) })
        case 1: place = place.prefix(random.below(place.count + 1))
        case 2: place += Data((0..<random.below(3_000)).map { _ in UInt8(random.below(256)) })
        case 3: place = Data(repeating: random.once(in: 2) ? 0xff : 0, count: random.below(40))
        default: place[random.below(place.count)] = UInt8(random.below(256))
        }
        fields["place"] = place.base64EncodedString()
        return try JSONDecoder().decode(
            PageCursor.self, from: JSONSerialization.data(withJSONObject: fields))
    }

    @Test func aPredicateThatFailsIsTheQuerysError() async throws {
        let items = try await Workspace.inMemory().repository(of: Item.self, named: "items")
        for id in 0..<9 {
            try await items.save(Item(id: id, name: "\(id)", rank: id > 4 ? id : nil))
        }
        #expect(try items.where(#Predicate { $0.id > 6 }).fetch().map(\.id) == [7, 8])
        let both = items.where { $0.name != "8" }.where(#Predicate { $0.id > 6 })
        #expect(try both.fetch().map(\.id) == [7])
        #expect(try both.explain().contains("a predicate"))
        #expect(throws: PredicateError.self) {
            try items.where(#Predicate { $0.rank! > 6 }).fetch()
        }
        // Not asked where the rest says no.
        #expect(
            try items.where { $0.rank != nil }.where(#Predicate { $0.rank! > 6 }).count() == 2)
    }
}
