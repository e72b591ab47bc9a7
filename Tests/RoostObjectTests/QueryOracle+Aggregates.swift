import Roost
import RoostTestSupport
import Testing

// What is made of the matches beside themselves: from an index alone where one says all.

extension QueryOracle {
    func checkAggregates(
        _ samples: Repository<Sample<Form>>, _ model: [Int: Sample<Form>],
        _ random: inout SeededGenerator
    ) throws {
        for round in 0..<4 {
            // Half of them of what an order and a limit leave.
            let made = makeCase(
                samples, model, &random, depth: 1 + round % 2, isLimited: round % 2 == 0)
            try checkValues(made.query, made.expected)
            try checkGroups(made.query, made.expected)
        }
    }

    private func checkValues(_ query: Query<Sample<Form>>, _ items: [Sample<Form>]) throws {
        var ids: [Int] = []
        try query.forEach { ids.append($0.id) }
        #expect(ids == items.map(\.id))
        let sum = items.reduce(Int128(0)) { $0 + Int128($1.number) }
        if let sum = Int(exactly: sum) {
            #expect(try query.sum(of: \.number) == sum)
        } else {
            #expect(throws: RoostError.self) { try query.sum(of: \.number) }
        }
        let ratioSum = try query.sum(of: \.ratio)
        let expectedSum = items.compactMap(\.ratio).reduce(0, +)
        #expect(ratioSum == expectedSum || (ratioSum.isNaN && expectedSum.isNaN))
        try checkAverages(query, items)
        #expect(try query.values(of: \.text) == items.map(\.text))
        #expect(try query.values(of: \.isDone) == items.map(\.isDone))
        let pairs = try query.values(of: \.id, \.owner.city)
        #expect(pairs.map(\.0) == items.map(\.id) && pairs.map(\.1) == items.map(\.owner.city))
        // Of both forms the type says where these are, and of orders that are of other fields.
        let stored = try query.values(of: \.number, \.tags, \.note)
        #expect(stored.map(\.0) == items.map(\.number) && stored.map(\.1) == items.map(\.tags))
        #expect(stored.map(\.2) == items.map(\.note))
        #expect(try query.distinct(\.number) == Set(items.map(\.number)).sorted())
        #expect(try query.distinct(\.text) == Set(items.map(\.text)).sorted())
        #expect(
            try query.distinct(\.score).count(where: { !$0.isNaN })
                == Set(items.map(\.score).filter { !$0.isNaN }).count)
        let scores = items.map(\.score).filter { !$0.isNaN }
        #expect(try query.min(of: \.score) == scores.min())
        #expect(try query.max(of: \.score) == scores.max())
        let ratios = items.compactMap(\.ratio).filter { !$0.isNaN }
        #expect(try query.max(of: \.ratio) == ratios.max())
        #expect(try query.min(of: \.note) == items.compactMap(\.note).min())
        #expect(try query.max(of: \.text) == items.map(\.text).max())
        #expect(try query.min(of: \.text) == items.map(\.text).min())
        #expect(try query.min(of: \.quota) == items.compactMap(\.quota).min())
        #expect(try query.max(of: \.quota) == items.compactMap(\.quota).max())
        #expect(try query.min(of: \.size) == items.compactMap(\.size).min())
        #expect(try query.max(of: \.size) == items.compactMap(\.size).max())
    }

    private func checkAverages(
        _ query: Query<Sample<Form>>, _ items: [Sample<Form>]
    ) throws {
        let numbers = items.map(\.number)
        #expect(try query.average(of: \.number) == average(numbers))
        let quotas = items.compactMap(\.quota)
        #expect(try query.average(of: \.quota) == average(quotas))
        let sizes = items.compactMap(\.size)
        #expect(try query.average(of: \.size) == average(sizes))
        let scores = items.map(\.score)
        let expected = scores.isEmpty ? nil : scores.reduce(0, +) / Double(scores.count)
        let found = try query.average(of: \.score)
        #expect(found == expected || (found?.isNaN == true && expected?.isNaN == true))
        let groups = Dictionary(grouping: items, by: \.owner.name)
        #expect(
            try query.grouped(by: \.owner.name).averages(of: \.number)
                == groups.compactMapValues { average($0.map(\.number)) })
        #expect(
            try query.grouped(by: \.owner.name).averages(of: \.quota)
                == groups.compactMapValues { average($0.compactMap(\.quota)) })
    }

    private func average(_ values: [some BinaryInteger]) -> Double? {
        guard !values.isEmpty else { return nil }
        return Double(values.reduce(Int128(0)) { $0 + Int128($1) }) / Double(values.count)
    }

    private func checkGroups(_ query: Query<Sample<Form>>, _ items: [Sample<Form>]) throws {
        let byText = Dictionary(grouping: items, by: \.text)
        #expect(try query.grouped(by: \.text).counts() == byText.mapValues(\.count))
        let byNumber = Dictionary(grouping: items, by: \.number)
        #expect(try query.grouped(by: \.number).counts() == byNumber.mapValues(\.count))
        let byQuota = Dictionary(grouping: items, by: \.quota)
        #expect(try query.grouped(by: \.quota).counts() == byQuota.mapValues(\.count))
        try checkGroupsOfSeveral(query, items)
        try checkGroupsOfElements(query, items)
        let byColor = Dictionary(grouping: items, by: \.color)
        let colors = query.grouped(by: \.color)
        #expect(try colors.counts() == byColor.mapValues(\.count))
        #expect(
            try colors.minima(of: \.number) == byColor.compactMapValues { $0.map(\.number).min() })
        #expect(
            try colors.maxima(of: \.score)
                == byColor.compactMapValues { $0.map(\.score).filter { !$0.isNaN }.max() })
    }

    private func checkGroupsOfSeveral(
        _ query: Query<Sample<Form>>, _ items: [Sample<Form>]
    ) throws {
        let byColorNumber = Dictionary(grouping: items) { GroupKey($0.color, $0.number) }
        #expect(
            try query.grouped(by: \.color, \.number).counts()
                == byColorNumber.mapValues(\.count))
        let numbers = query.grouped(by: \.number, \.color)
        let byNumberColor = Dictionary(grouping: items) { GroupKey($0.number, $0.color) }
        #expect(try numbers.counts() == byNumberColor.mapValues(\.count))
        #expect(
            try numbers.averages(of: \.size)
                == byNumberColor.compactMapValues { average($0.compactMap(\.size)) })
        #expect(
            try numbers.minima(of: \.text)
                == byNumberColor.compactMapValues { $0.map(\.text).min() })
        let byDone = Dictionary(grouping: items) { GroupKey($0.text, $0.isDone, $0.color) }
        #expect(
            try query.grouped(by: \.text, \.isDone, \.color).counts()
                == byDone.mapValues(\.count))
        // NaN is a group of its own in each object.
        let scores = try query.grouped(by: \.note, \.score).counts()
        #expect(scores.values.reduce(0, +) == items.count)
        let compared = items.filter { !$0.score.isNaN }
        #expect(
            scores.filter { !$0.key.values.1.isNaN }
                == Dictionary(grouping: compared) { GroupKey($0.note, $0.score) }
                .mapValues(\.count))
        let cities = Dictionary(grouping: items) { GroupKey($0.number, $0.owner.city) }
        #expect(
            try query.grouped(by: \.number, \.owner.city).counts() == cities.mapValues(\.count))
    }

    private func checkGroupsOfElements(
        _ query: Query<Sample<Form>>, _ items: [Sample<Form>]
    ) throws {
        let tags = query.grouped(byEach: \.tags)
        let expected = byTag(items)
        #expect(try tags.counts() == expected.mapValues(\.count))
        #expect(
            try tags.maxima(of: \.number) == expected.compactMapValues { $0.map(\.number).max() })
        #expect(
            try tags.averages(of: \.number)
                == expected.compactMapValues { average($0.map(\.number)) })
        // What an index of some objects is of.
        let open = query.where { !$0.isDone }
        #expect(
            try open.grouped(byEach: \.tags).counts()
                == byTag(try open.fetch()).mapValues(\.count))
    }

    private func byTag(_ items: [Sample<Form>]) -> [String: [Sample<Form>]] {
        var groups: [String: [Sample<Form>]] = [:]
        for item in items { for tag in Set(item.tags) { groups[tag, default: []].append(item) } }
        return groups
    }

    /// What a transaction makes of the matches and the model does not.
    func differences(
        _ query: Query<Sample<Form>>, _ items: [Sample<Form>], _ transaction: inout Transaction
    ) throws -> [String] {
        var checks: [(name: String, holds: Bool)] = []
        checks.append(("count", try transaction.count(of: query) == items.count))
        checks.append(("isEmpty", try transaction.isEmpty(query) == items.isEmpty))
        checks.append(
            (
                "distinct",
                try transaction.distinct(\.number, in: query) == Set(items.map(\.number)).sorted()
            ))
        checks.append(
            (
                "max",
                try transaction.max(of: \.quota, in: query) == items.compactMap(\.quota).max()
            ))
        checks.append(
            ("min", try transaction.min(of: \.text, in: query) == items.map(\.text).min()))
        let byText = Dictionary(grouping: items, by: \.text)
        checks.append(
            (
                "counts",
                try transaction.counts(of: query.grouped(by: \.text)) == byText.mapValues(\.count)
            ))
        checks.append(
            (
                "average",
                try transaction.average(of: \.number, in: query) == average(items.map(\.number))
            )
        )
        let pairs = query.grouped(by: \.number, \.color)
        checks.append(
            (
                "pairs",
                try transaction.counts(of: pairs)
                    == Dictionary(grouping: items) { GroupKey($0.number, $0.color) }
                    .mapValues(\.count)
            ))
        checks.append(
            (
                "each",
                try transaction.counts(of: query.grouped(byEach: \.tags))
                    == byTag(items).mapValues(\.count)
            ))
        checks.append(
            (
                "averages",
                try transaction.averages(of: \.size, in: query.grouped(by: \.text))
                    == byText.compactMapValues { average($0.compactMap(\.size)) }
            ))
        checks.append(
            (
                "values",
                try transaction.values(of: \.number, \.text, in: query).map { "\($0)" }
                    == items.map { "\(($0.number, $0.text))" }
            ))
        var ids: [Int] = []
        try transaction.forEach(query) { ids.append($0.id) }
        checks.append(("forEach", ids == items.map(\.id)))
        let page = try transaction.page(of: query, after: nil, limit: 5)
        checks.append(("page", page.items.map(\.id) == items.prefix(5).map(\.id)))
        return checks.filter { !$0.holds }.map { "\($0.name) of \(query)" }
    }
}
