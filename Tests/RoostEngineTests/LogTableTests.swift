import RoostFormat
import RoostTestSupport
import Testing

@testable import RoostEngine

private func randomKey(_ random: inout SeededGenerator) -> [UInt8] {
    [1, 65] + (0..<random.below(4)).map { _ in [0, 1, 97, 255][random.below(4)] } + [
        UInt8(random.below(40))
    ]
}

@Suite struct LogTableTests {
    /// With few hashes for many keys, so that keys are told apart by their bytes.
    @Test(arguments: [1, 7, 1 << 40])
    func aTableBehavesAsADictionary(hashCount: UInt64) {
        var random = SeededGenerator(seed: testSeed())
        let log = SampleOperations()
        var table = LogTable()
        table.hold(log.region)
        var model: [[UInt8]: (sequence: UInt64, value: [UInt8]?)] = [:]
        for step in 1...3_000 {
            let key = randomKey(&random)
            let hash = (sampleHash(key) % hashCount) &* 0x9e37_79b9_7f4a_7c15
            // Now and then an older operation comes late, and must not win.
            let sequence = UInt64(random.once(in: 5) ? random.below(step) + 1 : step)
            let value = random.once(in: 4) ? nil : random.bytes(random.below(12))
            table.insert(
                log.add(key, sequence: sequence, value: value), hash: hash, sequence: sequence)
            if model[key].map({ $0.sequence <= sequence }) ?? true {
                model[key] = (sequence, value)
            }
            let probe = randomKey(&random)
            let probeHash = (sampleHash(probe) % hashCount) &* 0x9e37_79b9_7f4a_7c15
            let found = probe.withUnsafeBytes { table.find($0, hash: probeHash) }
            #expect(found?.sequence == model[probe]?.sequence)
            #expect(found.flatMap { $0.isPut ? Array($0.value) : nil } == model[probe]?.value)
        }
        #expect(table.count == model.count)
        var visited = 0
        table.forEach { _ in visited += 1 }
        #expect(visited == model.count)
    }

    /// Hashes that differ in their last bits only make some buckets much deeper than others.
    @Test(arguments: [0, 9, 14])
    func aTableOfManyBucketsHasEachKeyOnceInItsPart(sharedBits: UInt64) {
        var random = SeededGenerator(seed: testSeed())
        let log = SampleOperations(sizeBytes: 4 << 20)
        var table = LogTable()
        table.hold(log.region)
        var hashes: [[UInt8]: UInt64] = [:]
        var early: LogTable?
        for step in 0..<40_000 {
            let key = withUnsafeBytes(of: step.bigEndian) { Array($0) }
            let shared = random.once(in: 3) ? 0 : sharedBits
            hashes[key] = UInt64.random(in: .min ... .max, using: &random) >> shared
            if step == 15_000 { early = table }
            table.insert(
                log.add(key, sequence: UInt64(step + 1), value: []), hash: hashes[key]!,
                sequence: UInt64(step + 1))
        }
        #expect(table.count == hashes.count)
        #expect(early?.count == 15_000)
        for (key, hash) in hashes {
            let sequence = UInt64(key.reduce(0) { $0 << 8 | Int($1) }) + 1
            let found = key.withUnsafeBytes { table.find($0, hash: hash)?.sequence }
            let foundEarly = key.withUnsafeBytes { early?.find($0, hash: hash)?.sequence }
            guard found == sequence, foundEarly == (sequence <= 15_000 ? sequence : nil) else {
                Issue.record("key \(sequence) has \(found ?? 0) and \(foundEarly ?? 0)")
                return
            }
        }
        for bitCount in [0, 1, 5, 12] {
            var keys: Set<[UInt8]> = []
            for part in 0..<(1 << bitCount) {
                table.forEach(part: part, bitCount: bitCount) { operation, hash in
                    let key = Array(operation.key)
                    if !keys.insert(key).inserted || hashes[key] != hash {
                        Issue.record("twice, or with another hash: \(key)")
                    }
                    if bitCount > 0, hash >> UInt64(64 - bitCount) != UInt64(part) {
                        Issue.record("in a part that it is not of: \(key)")
                    }
                }
            }
            #expect(keys.count == hashes.count)
        }
        var visited = 0
        table.forEach { _ in visited += 1 }
        #expect(visited == hashes.count)
    }

    @Test func aPoolGivesBackWhatNobodyTakes() async throws {
        let pool = BucketPool(trimInterval: .milliseconds(20))
        var taken: [UInt] = []
        // The first asks for what the next ones get.
        while taken.count < 100 {
            if let memory = pool.take() {
                memory.storeBytes(of: taken.count, as: Int.self)
                taken.append(UInt(bitPattern: memory))
            } else {
                try await Task.sleep(for: .milliseconds(1))
            }
        }
        #expect(Set(taken).count == 100)
        for (index, address) in taken.enumerated() {
            let memory = try #require(UnsafeMutableRawPointer(bitPattern: address))
            #expect(memory.load(as: Int.self) == index)
            pool.give(memory)
        }
        let end = ContinuousClock.now + .seconds(120)
        while pool.freeCount > 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(pool.freeCount == 0)
    }

    @Test func aCopyIsAViewOfItsMoment() {
        let log = SampleOperations()
        var table = LogTable()
        table.insert(log.add([1], sequence: 1, value: [1]), hash: 9, sequence: 1)
        let view = table
        table.insert(log.add([1], sequence: 2, value: [2]), hash: 9, sequence: 2)
        let key: [UInt8] = [1]
        #expect(key.withUnsafeBytes { view.find($0, hash: 9)?.sequence } == 1)
        #expect(key.withUnsafeBytes { table.find($0, hash: 9)?.sequence } == 2)
    }

    @Test func aSortedTableIsInTheOrderOfItsKeysBytes() {
        var random = SeededGenerator(seed: testSeed())
        for round in 0..<60 {
            let log = SampleOperations()
            var table = LogTable()
            table.hold(log.region)
            var keys: Set<[UInt8]> = []
            let shared = random.bytes(random.below(12))
            for step in 0..<(round * 5) {
                var key = shared + randomKey(&random)
                if random.once(in: 4) { key += [UInt8](repeating: 0, count: random.below(12)) }
                keys.insert(key)
                table.insert(
                    log.add(key, sequence: UInt64(step + 1), value: []), hash: sampleHash(key),
                    sequence: UInt64(step + 1))
            }
            let sorted = SortedTable([table])
            let expected = keys.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(sorted.operations.map { Array($0.key) } == expected)
        }
    }

    @Test func severalTablesAreSortedTogether() {
        var random = SeededGenerator(seed: testSeed())
        for round in 0..<60 {
            let log = SampleOperations()
            var tables = (0..<4).map { _ in LogTable() }
            for index in tables.indices { tables[index].hold(log.region) }
            var keys: Set<[UInt8]> = []
            let shared = random.bytes(random.below(12))
            for step in 0..<(round * 5) {
                let key = shared + randomKey(&random)
                keys.insert(key)
                tables[Int(sampleHash(key) & 3)].insert(
                    log.add(key, sequence: UInt64(step + 1), value: []), hash: sampleHash(key),
                    sequence: UInt64(step + 1))
            }
            let expected = keys.sorted { $0.lexicographicallyPrecedes($1) }
            #expect(SortedTable(tables).operations.map { Array($0.key) } == expected)
        }
    }
}
