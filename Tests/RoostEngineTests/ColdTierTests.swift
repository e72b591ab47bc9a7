import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@testable import RoostEngine

/// Tiers of small snapshots beside a model of what they hold.
@Suite struct ColdTierTests {
    private struct Fixture {
        let directory: any Directory
        var number: UInt64 = 0
        var random: SeededGenerator

        init(_ path: String, seed: UInt64) throws {
            directory = try PosixFileSystem().openDirectory(at: path, create: false)
            random = SeededGenerator(seed: seed)
        }

        mutating func key() -> [UInt8] {
            let shared: [UInt8] = random.once(in: 2) ? [1, 100, 7, 7, 7, 7, 7, 7, 7, 7] : [1, 100]
            return shared + (0..<random.below(4)).map { _ in UInt8(random.below(3)) }
        }

        private mutating func snapshot(
            _ records: ArraySlice<(key: [UInt8], sequence: UInt64)>
        ) throws -> SnapshotReader {
            number += 1
            var writer = try SnapshotWriter(
                directory: directory, number: number, workspace: .init(first: 1, second: 2),
                hashSeed: sampleSeed, dictionary: nil, expectedRecordCount: records.count)
            for record in records {
                try record.key.withUnsafeBytes { key in
                    // Even numbers are tombstones.
                    if record.sequence % 2 == 0 {
                        try writer.addTombstone(key: key, sequence: record.sequence)
                    } else {
                        try [UInt8](arrayLiteral: 16, 5).withUnsafeBytes {
                            try writer.add(key: key, sequence: record.sequence, value: $0)
                        }
                    }
                }
            }
            _ = try writer.finish()
            return try SnapshotReader(number: number, in: directory)
        }

        /// A tier with the records that `model` is given of it. Some of its snapshots hold records that
        /// do not count any more.
        mutating func tier(_ level: UInt64, _ model: inout [[UInt8]: UInt64]) throws -> ColdTier {
            let keys = Set((0..<(1 + random.below(60))).map { _ in key() })
                .sorted { $0.lexicographicallyPrecedes($1) }
            let records = keys.enumerated().map {
                (key: $1, sequence: level * 1000 + UInt64($0) * 3 % 7 + 1)
            }
            var parts: [ColdTier.Part] = []
            var begin = 0
            while begin < records.count {
                let end = min(records.count, begin + 1 + random.below(15))
                var part = ColdTier.Part(
                    snapshot: try snapshot(records[begin..<end]),
                    lowerBound: begin == 0
                        ? []
                        : records[begin - 1].key.withUnsafeBytes { previous in
                            records[begin].key.withUnsafeBytes {
                                KeyRanges.bound(between: previous, and: $0)
                            }
                        })
                // Only the first of a tier is ever trimmed.
                if begin == 0, random.once(in: 2) {
                    part = .init(
                        snapshot: part.snapshot, lowerBound: records[(begin + end) / 2].key,
                        isTrimmed: true)
                    begin = (begin + end) / 2
                }
                for record in records[begin..<end] { model[record.key] = record.sequence }
                parts.append(part)
                begin = end
            }
            return ColdTier(parts)
        }
    }

    @Test func eachKeysNewestRecordIsFoundAndScanned() async throws {
        let seed = testSeed()
        try await withTemporaryDirectory { path in
            var fixture = try Fixture(path, seed: seed)
            for round in 0..<60 {
                var model: [[UInt8]: UInt64] = [:]
                var tiers: [ColdTier] = []
                for level in 0..<UInt64(1 + fixture.random.below(4)) {
                    tiers.insert(try fixture.tier(level, &model), at: 0)
                }
                let storage = ColdStorage(tiers)
                for _ in 0..<200 {
                    let key = fixture.key()
                    let found = try key.withUnsafeBytes {
                        try storage.find($0, hash: sampleSeed.hash($0))?.record.sequence
                    }
                    #expect(found == model[key], "seed \(seed) round \(round) key \(key)")
                }
                for _ in 0..<30 {
                    let (first, second) = (fixture.key(), fixture.key())
                    let isOrdered = first.lexicographicallyPrecedes(second)
                    let (lower, upper) = isOrdered ? (first, second) : (second, first)
                    let bound = fixture.random.once(in: 4) ? nil : upper
                    let expected = model.keys.filter { key in
                        !key.lexicographicallyPrecedes(lower)
                            && bound.map { key.lexicographicallyPrecedes($0) } ?? true
                    }.sorted { $0.lexicographicallyPrecedes($1) }
                    for order in [ScanOrder.ascending, .descending] {
                        let scan = try ViewScan(
                            newestOf: tiers, RecordRange(prefix: [], lower: lower, upper: bound),
                            order)
                        var found: [[UInt8]] = []
                        while let head = scan.currentHead {
                            found.append(Array(head.pointee.key))
                            #expect(head.pointee.sequence == model[found[found.count - 1]])
                            try scan.moveToNext()
                        }
                        #expect(
                            found == (order == .ascending ? expected : expected.reversed()),
                            "seed \(seed) round \(round) \(order) \(lower) to \(bound ?? [])")
                    }
                }
                for cut in try KeyRanges(snapshotSizeBytes: 256, threadCount: 2).cuts(of: tiers) {
                    #expect(!cut.isEmpty)
                }
            }
        }
    }

    /// The story: the second step of a merge took the output of the first for a part of the oldest tier
    /// that was still to be merged, where that tier had no keys of its own in between.
    @Test func aMergeInStepsKeepsWhatTheOldestTierHasNoKeysAround() async throws {
        try await withTemporaryDirectory { path in
            var configuration = EngineConfiguration()
            configuration.snapshotSizeBytes = 512
            configuration.compactionThreadCount = 1
            let name = DictionaryName("d")!
            func put(_ engine: Engine, _ keys: [String]) async throws {
                for key in keys {
                    let value = EncodedValue(
                        kind: ValueKind.bytes.rawValue,
                        payload: .bytes((0..<64).map { _ in .random(in: 0...255) }))
                    _ = try await engine.write(
                        value, key: key, name: name, durability: .process)
                }
                try await engine.flush()
            }
            let engine = try await Engine.open(
                at: "\(path)/w", fileSystem: PosixFileSystem(), configuration: configuration)
            let late = (0..<40).map { "m\(100 + $0)" }
            let early = (0..<40).map { "a\(100 + $0)" }
            try await put(engine, late)
            try await put(engine, early + late.prefix(10))
            #expect(engine.statistics.snapshotTierCount == 2)
            try await engine.compact()
            #expect(engine.statistics.snapshotTierCount == 1)
            #expect(engine.statistics.snapshotCount > 4)
            try await engine.close()
            configuration.shardCount = 2
            let reopened = try await Engine.open(
                at: "\(path)/w", fileSystem: PosixFileSystem(), configuration: configuration)
            for key in early + late { #expect(try reopened.find(key, name: name) != nil, "\(key)") }
            let view = try reopened.view()
            #expect(try view.count(of: name) == 80)
            view.close()
            #expect(try await reopened.verify().isSound)
            try await reopened.close()
        }
    }
}
