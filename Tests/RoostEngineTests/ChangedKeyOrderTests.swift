import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// What a transaction that scans and writes often looks at.
@Suite struct ChangedKeyOrderTests {
    private let name = DictionaryName("d")!

    private func key(_ number: Int) -> [UInt8] { name.prefix + Array("\(number)".utf8) }

    /// Keys of changes, in memory that stays.
    private struct Keys: ~Copyable {
        var all: [UnsafeMutableRawBufferPointer] = []

        mutating func add(_ key: [UInt8]) {
            let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: key.count, alignment: 1)
            copy.copyBytes(from: key)
            all.append(copy)
        }

        deinit { for key in all { key.deallocate() } }
    }

    @Test func theLastChangesOfARangeAreFoundInOrder() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var keys = Keys()
            var order = ChangedKeyOrder()
            for _ in 0..<40 {
                for _ in 0..<random.below(random.below(4) == 0 ? 60 : 4) {
                    keys.add(key(random.below(80)))
                }
                if random.below(10) == 0 { order.removeAll() }
                let bounds = [random.below(80), random.below(80)].map { Array("\($0)".utf8) }
                let range =
                    random.below(3) == 0
                    ? RecordRange.everything
                    : RecordRange(name, lower: bounds[0], upper: bounds[1])
                var expected: [[UInt8]: Int] = [:]
                for (index, key) in keys.all.enumerated() where range.contains(.init(key)) {
                    expected[Array(key)] = index
                }
                let found = order.changes(in: range, count: keys.all.count) {
                    .init(keys.all[$0])
                }
                let sorted = expected.sorted { $0.key.lexicographicallyPrecedes($1.key) }
                #expect(Array(found) == sorted.map(\.value), "seed \(seed)")
            }
        }
    }

    /// How many keys are looked at by as many scans of one key each as there are changes.
    private func lookCount(_ count: Int) -> Int {
        var keys = Keys()
        for number in 0..<count { keys.add(key(number)) }
        var order = ChangedKeyOrder()
        var looks = 0
        for number in 0..<count {
            let range = RecordRange(
                prefix: name.prefix, lower: key(number), upper: key(number) + [0])
            let found = order.changes(in: range, count: count) {
                looks += 1
                return .init(keys.all[$0])
            }
            #expect(Array(found) == [number])
        }
        return looks
    }

    @Test func scansOfATransactionDoNotLookAtAllThatItHasChanged() {
        let (one, two) = (lookCount(2_000), lookCount(4_000))
        // Twice as many scans, of one step more each.
        #expect(Double(two) / Double(one) < 2.3, "\(one), \(two)")
    }

    @Test func severalRangesAreOneSetOfKeys() {
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            var ranges: Set<RecordRange> = []
            for _ in 0..<random.below(12) {
                let lower = key(random.below(100))
                let upper = random.below(12) == 0 ? nil : key(random.below(100))
                ranges.insert(RecordRange(prefix: name.prefix, lower: lower, upper: upper))
            }
            let merged = MergedRanges(ranges)
            #expect(merged.prefixes == (ranges.isEmpty ? [] : [name.prefix]))
            for number in 0..<100 {
                let isIn = key(number).withUnsafeBytes { key in
                    (merged.contains(key), ranges.contains { $0.contains(key) })
                }
                #expect(isIn.0 == isIn.1, "seed \(seed)")
            }
            for range in ranges { #expect(merged.contains(range), "seed \(seed)") }
            let other = RecordRange(
                prefix: name.prefix, lower: key(random.below(100)), upper: key(random.below(100)))
            let isCovered = (0..<100).map { key($0) }.allSatisfy { key in
                key.withUnsafeBytes { key in !other.contains(key) || merged.contains(key) }
            }
            if merged.contains(other) { #expect(isCovered, "seed \(seed)") }
        }
    }

    @Test func rangesThatTouchAreOne() {
        let ranges = (0..<1_000).map { number in
            RecordRange(
                prefix: name.prefix, lower: key(1_000 + number), upper: key(1_000 + number + 1))
        }
        #expect(MergedRanges(Set(ranges)).count == 1)
        #expect(MergedRanges(Set(ranges.filter { $0.lower.last! % 2 == 0 })).count == 500)
        #expect(MergedRanges(Set(ranges + [.everything])).count == 1)
        #expect(MergedRanges([.everything]).contains(ranges[3]))
        #expect(!MergedRanges(Set(ranges)).contains(.everything))
        #expect(MergedRanges.none.isEmpty)
    }

    /// Through a transaction, in both directions, beside what is stored.
    @Test func anAttemptScansWhatItHasChangedBesideWhatIsStored() async throws {
        let engine = try await Engine.open(
            at: "/scanned", fileSystem: MemoryFileSystem(), configuration: EngineConfiguration())
        for number in 0..<50 where number % 2 == 0 {
            _ = try await engine.write(
                SampleNumbers.value(1), key: "\(number + 100)", name: name, durability: nil)
        }
        var attempt = EngineTransaction(engine)
        var expected: [String: UInt64] = [:]
        for number in 0..<50 where number % 2 == 0 { expected["\(number + 100)"] = 1 }
        let seed = testSeed()
        var random = SeededGenerator(seed: seed)
        for step in 0..<300 {
            let key = "\(random.below(50) + 100)"
            if random.below(3) == 0 {
                try attempt.remove(key, in: name)
                expected[key] = nil
            } else {
                try attempt.put(SampleNumbers.value(UInt64(step)), forKey: key, in: name)
                expected[key] = UInt64(step)
            }
            let (lower, upper) = ("\(random.below(50) + 100)", "\(random.below(50) + 100)")
            let range = RecordRange(name, lower: Array(lower.utf8), upper: Array(upper.utf8))
            let order: ScanOrder = random.below(2) == 0 ? .ascending : .descending
            let limit = random.below(20) + 1
            var found: [String] = []
            var numbers: [UInt64?] = []
            try attempt.scan(range, order, limit: limit) { key, value in
                found.append(String(decoding: key.dropFirst(name.prefix.count), as: UTF8.self))
                numbers.append(SampleNumbers.number(value))
                return true
            }
            var keys = expected.keys.filter { lower <= $0 && $0 < upper }.sorted()
            if order == .descending { keys.reverse() }
            #expect(found == Array(keys.prefix(limit)), "seed \(seed)")
            #expect(numbers == keys.prefix(limit).map { expected[$0] }, "seed \(seed)")
            #expect(try attempt.count(of: name) == expected.count, "seed \(seed)")
        }
        attempt.close()
        try await engine.close()
    }
}
