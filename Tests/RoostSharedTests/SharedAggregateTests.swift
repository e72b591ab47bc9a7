import Foundation
import Roost
import RoostIO
import RoostShared
import RoostTestSupport
import Testing

/// Sums, averages, extremes, groups and values of shared queries: what Swift makes of the objects that match.
@Suite struct SharedAggregateTests {
    enum Kind: String, Codable, IndexRepresentable, CaseIterable { case book, toy, tool }

    struct Cents: Codable, Averageable, Equatable {
        var amount: Int
        static var emptySum: Int.AverageSum { Int.emptySum }
        static func add(_ value: Cents, to sum: inout Int.AverageSum) {
            Int.add(value.amount, to: &sum)
        }
        static func average(of sum: Int.AverageSum, count: Int) -> String {
            "\(Int.average(of: sum, count: count))"
        }
    }

    struct Article: Codable, Identifiable, Equatable, Sendable, Indexed {
        var id: Int
        var kind: Kind
        var shelf: String
        var stock: Int
        var weight: Double
        var rating: Int?
        var discount: Double?
        var tags: [String]
        var price: Cents

        static var indexes: [Index<Article>] {
            [
                Index("kind-stock", \.kind, .descending(\.stock)),
                Index("weight", \.weight),
                Index("rating", \.rating),
                Index("shelf", \.shelf),
                Index("discount-shelf", \.discount, \.shelf),
                Index("tags", each: \.tags),
                Index("toys", \.stock, where: { $0.kind == .toy }),
            ]
        }
    }

    static let longShelf = String(repeating: "s", count: 1100)

    static func anyArticle(_ id: Int, _ random: inout SeededGenerator) -> Article {
        // Eighths, so that sums are exact in any order.
        let weights = [.nan, -0.0, 0.0, -.infinity, 2.5, -7.125, 1e9]
        return Article(
            id: id, kind: Kind.allCases.randomElement(using: &random)!,
            shelf: ["a", "b", "", longShelf + "1", longShelf + "2"].randomElement(using: &random)!,
            stock: Int.random(in: -6...6, using: &random),
            weight: Int.random(in: 0..<4, using: &random) == 0
                ? weights.randomElement(using: &random)!
                : Double(Int.random(in: -80...80, using: &random)) / 8,
            rating: Bool.random(using: &random) ? Int.random(in: -3...3, using: &random) : nil,
            discount: [nil, .nan, 0.5, -0.25].randomElement(using: &random)!,
            tags: (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                ["x", "y", longShelf + "1", longShelf + "2"].randomElement(using: &random)!
            }, price: Cents(amount: Int.random(in: -900...900, using: &random)))
    }

    private func condition(
        _ query: SharedQuery<Article>, _ random: inout SeededGenerator
    ) -> (SharedQuery<Article>, (Article) -> Bool) {
        let kind = Kind.allCases.randomElement(using: &random)!
        let stock = Int.random(in: -7...7, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return (query.where { $0.kind == kind }, { $0.kind == kind })
        case 1: return (query.where { $0.stock >= stock }, { $0.stock >= stock })
        case 2:
            return (
                query.where { $0.kind == kind && $0.stock < stock },
                { $0.kind == kind && $0.stock < stock }
            )
        case 3: return (query.where { $0.rating != nil }, { $0.rating != nil })
        case 4: return (query.where { $0.weight > 1 }, { $0.weight > 1 })
        case 5: return (query.where { $0.tags.contains("x") }, { $0.tags.contains("x") })
        case 6: return (query.where { $0.id < stock * 20 }, { $0.id < stock * 20 })
        case 7: return (query.where { $0.stock == 99 }, { _ in false })
        case 8:
            return (
                query.where { $0.kind == kind || $0.tags.contains("y") },
                { $0.kind == kind || $0.tags.contains("y") }
            )
        default: return (query, { _ in true })
        }
    }

    private func connect() async throws -> SharedWorkspace {
        let limits = SharedLimits(
            operationCount: 10_000, commitSizeBytes: 1 << 24, keySizeBytes: 1 << 12)
        return try await .connect(to: .memory(MemoryEngine(limits: limits)), namespace: "test")
    }

    /// Of floating point: NaN is itself here, and the zeros are one.
    private func same(_ left: Double?, _ right: Double?) -> Bool {
        if let left, let right { return left == right || left.isNaN && right.isNaN }
        return left == nil && right == nil
    }

    private func sum(_ values: [Double]) -> Double { values.reduce(0, +) }

    // MARK: Beside a plain computation

    @Test(arguments: [0, 1, 2])
    func whatIsGivenIsWhatSwiftMakesOfTheMatches(round: UInt64) async throws {
        let seed = testSeed() &+ round
        var random = SeededGenerator(seed: seed)
        let workspace = try await connect()
        let articles = workspace.repository(of: Article.self)
        if round > 0 { try await articles.buildIndexes() }
        for id in -30..<130 where Int.random(in: 0..<5, using: &random) > 0 {
            try await articles.save(Self.anyArticle(id, &random))
        }
        let all = try await articles.loadAll()
        for number in 0..<runCount(12, whole: 60) {
            var (query, matches) = condition(articles.all.scanning(), &random)
            if Bool.random(using: &random) {
                let first = matches
                let (narrower, others) = condition(query, &random)
                (query, matches) = (narrower, { first($0) && others($0) })
            }
            var expected = all.filter(matches)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                query = query.order(by: \.stock)
                expected = expected.enumerated()
                    .sorted { ($0.element.stock, $0.offset) < ($1.element.stock, $1.offset) }
                    .map(\.element)
                fallthrough
            case 1:
                let limit = Int.random(in: 0..<9, using: &random)
                query = query.offset(2).limit(limit)
                expected = Array(expected.dropFirst(2).prefix(limit))
            default: break
            }
            let comment: Comment =
                "seed \(seed), case \(number): \(try await query.explain()), \(expected.count)"
            try await expectValues(of: query, expected, comment)
            try await expectGroups(of: query, expected, comment)
            try await workspace.transaction { tx in
                if Bool.random(using: &random) {
                    // One that was there or comes.
                    let changed = Self.anyArticle(
                        Int.random(in: -30..<130, using: &random), &random)
                    let old = try await tx.find(changed.id, in: articles)
                    try await tx.save(changed, in: articles)
                    try await tx.delete(changed.id, in: articles)
                    if let old { try await tx.save(old, in: articles) }
                }
                #expect(
                    try await tx.sum(of: \.stock, in: query)
                        == expected.reduce(0) { $0 + $1.stock },
                    comment)
                #expect(
                    try await tx.counts(of: query.grouped(by: \.kind))
                        == Dictionary(grouping: expected, by: \.kind).mapValues(\.count), comment)
                #expect(
                    try await tx.max(of: \.stock, in: query) == expected.map(\.stock).max(), comment
                )
                #expect(
                    try await tx.distinct(\.kind, in: query)
                        == Set(expected.map(\.kind.rawValue)).sorted().map { Kind(rawValue: $0)! },
                    comment)
            }
        }
        await workspace.close()
    }

    private func expectValues(
        of query: SharedQuery<Article>, _ expected: [Article], _ comment: Comment
    ) async throws {
        let stocks = expected.map(\.stock)
        #expect(try await query.sum(of: \.stock) == stocks.reduce(0, +), comment)
        #expect(try await query.min(of: \.stock) == stocks.min(), comment)
        #expect(try await query.max(of: \.stock) == stocks.max(), comment)
        let average = expected.isEmpty ? nil : Double(stocks.reduce(0, +)) / Double(stocks.count)
        #expect(try await query.average(of: \.stock) == average, comment)
        #expect(try await query.distinct(\.stock) == Set(stocks).sorted(), comment)
        #expect(try await query.values(of: \.stock) == stocks, comment)

        let ratings = expected.compactMap(\.rating)
        #expect(try await query.sum(of: \.rating) == ratings.reduce(0, +), comment)
        #expect(try await query.min(of: \.rating) == ratings.min(), comment)
        #expect(try await query.max(of: \.rating) == ratings.max(), comment)
        let averageRating =
            ratings.isEmpty ? nil : Double(ratings.reduce(0, +)) / Double(ratings.count)
        #expect(try await query.average(of: \.rating) == averageRating, comment)
        let distinct = Set(expected.map(\.rating)).sorted { ($0 ?? .min) < ($1 ?? .min) }
        #expect(try await query.distinct(\.rating) == distinct, comment)

        let weights = expected.map(\.weight)
        let numbers = weights.filter { !$0.isNaN }
        #expect(same(try await query.min(of: \.weight), numbers.min()), comment)
        #expect(same(try await query.max(of: \.weight), numbers.max()), comment)
        #expect(same(try await query.sum(of: \.weight), sum(weights)), comment)
        let discounts = expected.compactMap(\.discount)
        #expect(
            same(try await query.min(of: \.discount), discounts.filter { !$0.isNaN }.min()), comment
        )
        #expect(same(try await query.sum(of: \.discount), sum(discounts)), comment)

        let cents = expected.map(\.price.amount)
        let averagePrice =
            cents.isEmpty ? nil : "\(Double(cents.reduce(0, +)) / Double(cents.count))"
        #expect(try await query.average(of: \.price) == averagePrice, comment)
        #expect(try await query.max(of: \.shelf) == expected.map(\.shelf).max(), comment)
        #expect(try await query.distinct(\.shelf) == Set(expected.map(\.shelf)).sorted(), comment)
        let pairs = try await query.values(of: \.id, \.shelf)
        #expect(pairs.map(\.0) == expected.map(\.id), comment)
        #expect(pairs.map(\.1) == expected.map(\.shelf), comment)
        #expect(try await query.values(of: \.id, \.kind, \.stock).map(\.2) == stocks, comment)
    }

    private func expectGroups(
        of query: SharedQuery<Article>, _ expected: [Article], _ comment: Comment
    ) async throws {
        let byKind = Dictionary(grouping: expected, by: \.kind)
        let kinds = query.grouped(by: \.kind)
        #expect(try await kinds.counts() == byKind.mapValues(\.count), comment)
        #expect(
            try await kinds.sums(of: \.stock)
                == byKind.mapValues { $0.reduce(0) { $0 + $1.stock } },
            comment)
        #expect(
            try await kinds.sums(of: \.rating)
                == byKind.mapValues { $0.compactMap(\.rating).reduce(0, +) }, comment)
        #expect(
            try await kinds.averages(of: \.rating)
                == byKind.compactMapValues { articles in
                    let ratings = articles.compactMap(\.rating)
                    return ratings.isEmpty
                        ? nil : Double(ratings.reduce(0, +)) / Double(ratings.count)
                }, comment)
        #expect(
            try await kinds.minima(of: \.weight)
                == byKind.compactMapValues { $0.map(\.weight).filter { !$0.isNaN }.min() }, comment)
        #expect(
            try await kinds.maxima(of: \.stock)
                == byKind.compactMapValues { $0.map(\.stock).max() },
            comment)

        let byBoth = Dictionary(grouping: expected) { GroupKey($0.stock, $0.kind) }
        #expect(
            try await query.grouped(by: \.stock, \.kind).counts() == byBoth.mapValues(\.count),
            comment)
        let byShelf = Dictionary(grouping: expected, by: \.shelf)
        #expect(
            try await query.grouped(by: \.shelf).counts() == byShelf.mapValues(\.count), comment)

        // Of NaN each is a group of its own.
        let discounts = try await query.grouped(by: \.discount).counts()
        #expect(discounts[0.5, default: 0] == expected.count { $0.discount == 0.5 }, comment)
        #expect(
            discounts[Double?.none, default: 0] == expected.count { $0.discount == nil }, comment)
        #expect(
            discounts.count { $0.key?.isNaN == true }
                == expected.count { $0.discount?.isNaN == true }, comment)

        var byTag: [String: [Article]] = [:]
        for article in expected {
            for tag in Set(article.tags) { byTag[tag, default: []] += [article] }
        }
        let tags = query.grouped(byEach: \.tags)
        #expect(try await tags.counts() == byTag.mapValues(\.count), comment)
        #expect(
            try await tags.sums(of: \.stock) == byTag.mapValues { $0.reduce(0) { $0 + $1.stock } },
            comment)
    }

    @Test func aRepositoryGivesOfAllWhatAQueryGives() async throws {
        let workspace = try await connect()
        let articles = workspace.repository(of: Article.self)
        #expect(try await articles.isEmpty)
        #expect(try await articles.sum(of: \.stock) == 0)
        #expect(try await articles.average(of: \.stock) == nil)
        #expect(try await articles.min(of: \.weight) == nil)
        #expect(try await articles.grouped(by: \.kind).counts().isEmpty)
        #expect(try await articles.distinct(\.kind).isEmpty)
        #expect(try await articles.first() == nil)
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        let saved = (0..<9).map { Self.anyArticle($0, &random) }
        for article in saved { try await articles.save(article) }
        #expect(try await articles.sum(of: \.stock) == saved.reduce(0) { $0 + $1.stock }, "\(seed)")
        #expect(try await articles.values(of: \.id) == Array(0..<9))
        #expect(try await articles.max(of: \.id) == 8)
        #expect(try await articles.first()?.id == 0)
        #expect(try await articles.limit(2).values(of: \.id) == [0, 1])
        let page = try await articles.page(after: nil, limit: 5)
        #expect(page.items.map(\.id) == Array(0..<5))
        var updates = articles.updates().makeAsyncIterator()
        #expect(try await updates.next()?.count == 9)
        #expect(try await articles.deleteAll() == 9)
        #expect(try await updates.next()?.isEmpty == true)
        #expect(try await articles.isEmpty)
        await workspace.close()
    }

    // MARK: Overflow

    struct Number: Codable, Identifiable, Sendable {
        var id: Int
        var value: Int
        var small: Int8?
        var group = "all"
    }

    @Test func aSumThatDoesNotFitIsAnErrorAndAnAverageIsNone() async throws {
        let workspace = try await connect()
        let numbers = workspace.repository(of: Number.self)
        for (id, value) in [Int.max, 1, -5, Int.max].enumerated() {
            try await numbers.save(Number(id: id, value: value, small: 100))
        }
        let error = await #expect(throws: RoostError.self) {
            _ = try await numbers.sum(of: \.value)
        }
        #expect(error?.code == .overflow)
        let small = await #expect(throws: RoostError.self) {
            _ = try await numbers.sum(of: \.small)
        }
        #expect(small?.code == .overflow)
        let grouped = await #expect(throws: RoostError.self) {
            _ = try await numbers.grouped(by: \.group).sums(of: \.value)
        }
        #expect(grouped?.code == .overflow)
        #expect(try await numbers.average(of: \.value) == (2 * Double(Int.max) - 4) / 4)
        #expect(try await numbers.average(of: \.small) == 100)
        // What goes over on the way, and not in the end, is no error.
        try await numbers.save(Number(id: 9, value: -Int.max))
        try await numbers.delete(1)
        try await numbers.delete(2)
        #expect(try await numbers.sum(of: \.value) == Int.max)
        await workspace.close()
    }

    @Test func whatNoIndexAnswersIsRefusedAsAFetchIs() async throws {
        let workspace = try await connect()
        let articles = workspace.repository(of: Article.self)
        try await articles.buildIndexes()
        let query = articles.where { $0.price.amount > 3 }
        for call in [
            { @Sendable in _ = try await query.sum(of: \.stock) },
            { @Sendable in _ = try await query.min(of: \.weight) },
            { @Sendable in _ = try await query.max(of: \.stock) },
            { @Sendable in _ = try await query.distinct(\.kind) },
            { @Sendable in _ = try await query.grouped(by: \.kind).counts() },
            { @Sendable in _ = try await query.values(of: \.id) },
        ] {
            let error = await #expect(throws: RoostError.self) { try await call() }
            #expect(error?.code == .notIndexed)
        }
        #expect(try await query.scanning().sum(of: \.stock) == 0)
        await workspace.close()
    }
}
