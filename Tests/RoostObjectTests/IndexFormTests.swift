import Foundation
import Roost
import RoostTestSupport
import Testing

/// Fields of every kind that an index takes: in order, equal and less as their own types say.
@Suite(.timeLimit(.minutes(10))) struct IndexFormTests {
    struct Version: Codable, Sendable, Comparable, IndexRepresentable {
        var major: Int
        var minor: Int
        static func < (left: Version, right: Version) -> Bool {
            (left.major, left.minor) < (right.major, right.minor)
        }
        static var indexShape: IndexShape { Int64.indexShape }
        func encode(into form: inout IndexForm) {
            Int64(major << 32 | minor).encode(into: &form)
        }
    }

    enum Level: Int, Codable, Sendable, IndexRepresentable {
        case low = -1
        case middle = 5
        case high = 70
    }

    struct Kinds: Codable, Identifiable, Sendable, Equatable, Indexed {
        var id: Int
        var price: Decimal
        var key: UUID
        var width: Float
        var wide: Int128
        var short: Int8
        var unsigned: UInt64
        var bytes: [UInt8]
        var level: Level
        var version: Version
        var flag: Bool?

        static var indexes: [Index<Kinds>] {
            [
                Index("price", \.price), Index("key", .descending(\.key)), Index("width", \.width),
                Index("wide", \.wide), Index("short", .descending(\.short)),
                Index("unsigned", \.unsigned), Index("bytes", \.bytes), Index("level", \.level),
                Index("version", \.version), Index("flag", \.flag, .descending(\.price)),
            ]
        }
    }

    private func kinds(id: Int, _ random: inout SeededGenerator) -> Kinds {
        let digits = Decimal(random.below(2_000) - 1_000)
        let power = random.below(40) - 20
        return Kinds(
            id: id,
            price: random.once(in: 20)
                ? .nan : power < 0 ? digits / pow(10, -power) : digits * pow(10, power),
            key: UUID(
                uuid: (
                    UInt8(random.below(2)), 0, 0, 0, 0, 0, 0, UInt8(random.below(256)), 0, 0, 0, 0,
                    0, 0, 0, UInt8(random.below(3))
                )), width: Float(random.below(9) - 4) / 2,
            wide: Int128(random.below(5) - 2) << random.below(120),
            short: Int8(random.below(9) - 4),
            unsigned: random.once(in: 2) ? UInt64.max - UInt64(random.below(3)) : 7,
            bytes: (0..<random.below(4)).map { _ in UInt8(random.below(2) * 255) },
            level: random.pick([.low, .middle, .high]),
            version: Version(major: random.below(3), minor: random.below(3)),
            flag: random.pick([nil, false, true]))
    }

    private func check<Value: IndexRepresentable>(
        _ path: KeyPath<Kinds, Value> & Sendable, _ items: Repository<Kinds>, _ all: [Kinds],
        _ precedes: (Value, Value) -> Bool
    ) throws {
        for order in [ScanOrder.ascending, .descending] {
            let expected = all.sorted { left, right in
                let (one, other) = (left[keyPath: path], right[keyPath: path])
                if one == other { return items.key(of: left.id) < items.key(of: right.id) }
                return order == .ascending ? precedes(one, other) : precedes(other, one)
            }
            let found = try items.order(by: path, order).limit(60).fetch()
            #expect(found.map(\.id) == expected.prefix(60).map(\.id))
        }
        let value = all[all.count / 2][keyPath: path]
        let equal = items.where { row in Field<Kinds, Value>.equal(row, path, value) }
        let expected = all.filter { $0[keyPath: path] == value }
        #expect(try equal.fetch() == expected)
        // Of half of all objects a scan costs less.
        if expected.count <= 60 { #expect(try equal.explain().hasPrefix("index")) }
    }

    @Test func everyKindOfFieldIsInTheOrderOfItsType() async throws {
        var random = SeededGenerator(seed: testSeed())
        let items = try await Workspace.inMemory().repository(of: Kinds.self)
        let all = (0..<300).map { kinds(id: $0, &random) }
        try await items.saveAll(all)
        try await items.indexesBuilt()
        let sorted = all.sorted { items.key(of: $0.id) < items.key(of: $1.id) }
        try check(\.price, items, sorted, <)
        try check(\.key, items, sorted) { $0.uuidString < $1.uuidString }
        try check(\.width, items, sorted, <)
        try check(\.wide, items, sorted, <)
        try check(\.short, items, sorted, <)
        try check(\.unsigned, items, sorted, <)
        try check(\.bytes, items, sorted) { $0.lexicographicallyPrecedes($1) }
        try check(\.level, items, sorted) { $0.rawValue < $1.rawValue }
        try check(\.version, items, sorted, <)
        try check(\.flag, items, sorted) { left, right in
            (left.map { $0 ? 2 : 1 } ?? 0) < (right.map { $0 ? 2 : 1 } ?? 0)
        }
        let price = sorted[0].price
        #expect(
            try items.where { $0.price < price }.count() == all.filter { $0.price < price }.count)
        #expect(
            try items.where { $0.version >= Version(major: 1, minor: 1) }.count()
                == all.filter { $0.version >= Version(major: 1, minor: 1) }.count)
    }
}

extension Field where Value: Equatable & Sendable {
    /// A comparison of a field that is known by its path.
    fileprivate static func equal(
        _ row: Row<Root>, _ path: KeyPath<Root, Value> & Sendable, _ value: Value
    ) -> Condition<Root> {
        row[dynamicMember: path] == value
    }
}
