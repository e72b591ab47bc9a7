import RoostFormat
import RoostTestSupport
import Testing

/// A record as docs/FORMAT.md, "Groups", has it.
private struct PlainRecord: Equatable {
    var flags: UInt8
    var shared: Int
    var suffix: [UInt8]
    var sequence: UInt64
    var stored: [UInt8]
    var rawCount: Int

    init(
        flags: UInt8, shared: Int, suffix: [UInt8], sequence: UInt64, stored: [UInt8], rawCount: Int
    ) {
        self.flags = flags
        self.shared = shared
        self.suffix = suffix
        self.sequence = sequence
        self.stored = stored
        self.rawCount = rawCount
    }

    init(_ record: RecordGroup.Record) {
        self.init(
            flags: record.flags.rawValue, shared: record.shared, suffix: Array(record.suffix),
            sequence: record.sequence, stored: Array(record.stored), rawCount: record.rawCount)
    }
}

/// Reads a group byte by byte, to compare with: its records, and whether all of them made sense.
private func plainRecords(_ group: [UInt8]) -> (records: [PlainRecord], isWhole: Bool) {
    var rest = group.dropFirst(9)
    func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst(), shift < 63 || byte <= 1 else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
    func bytes(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }
    func record(_ base: UInt64) -> PlainRecord? {
        guard let flags = rest.popFirst(), let shared = number(), let suffixCount = number(),
            let delta = number(), shared <= 65_792, suffixCount <= 65_792,
            1...65_792 ~= shared + suffixCount
        else { return nil }
        var stored: UInt64 = 0
        var raw: UInt64 = 0
        if flags & 1 != 0 {
            guard let count = number() else { return nil }
            stored = count
            raw = count
            if flags & 4 != 0 {
                guard let count = number() else { return nil }
                raw = count
            }
            let least = flags & 8 != 0 ? 9 : 0
            guard (least...268_435_472).contains(Int(clamping: stored)),
                (least...268_435_472).contains(Int(clamping: raw))
            else { return nil }
        } else if flags & 2 == 0 || flags & 8 != 0 {
            return nil
        }
        guard let suffix = bytes(Int(suffixCount)), let value = bytes(Int(stored)) else {
            return nil
        }
        let step = UInt64(bitPattern: Int64(bitPattern: delta >> 1) ^ -Int64(delta & 1))
        return PlainRecord(
            flags: flags, shared: Int(shared), suffix: suffix, sequence: base &+ step,
            stored: value, rawCount: Int(raw))
    }
    guard group.count > 9, group[8] > 0, let base = number() else { return ([], false) }
    var records: [PlainRecord] = []
    for _ in 0..<group[8] {
        guard let next = record(base) else { return (records, false) }
        records.append(next)
    }
    return (records, true)
}

private func readRecords(_ group: [UInt8]) -> (records: [PlainRecord], isWhole: Bool) {
    group.withUnsafeBytes { bytes in
        guard var cursor = RecordGroup.Cursor(bytes) else { return ([], false) }
        var records: [PlainRecord] = []
        while !cursor.isAtEnd {
            guard let record = cursor.next() else { return (records, false) }
            records.append(PlainRecord(record))
        }
        return (records, true)
    }
}

/// Writes numbers of all lengths and keys that share much.
private struct RandomGroup {
    var bytes = [UInt8](repeating: 0, count: 9)
    var keys: [[UInt8]] = []

    init(_ random: inout SeededGenerator) {
        var sorted: Set<[UInt8]> = []
        let count = 1 + random.below(16)
        while sorted.count < count {
            var key =
                sorted.randomElement(using: &random).map { Array($0.prefix(random.below(9))) } ?? []
            for _ in 0...random.below(4) { key.append([0, 97, 98, 255][random.below(4)]) }
            if random.once(in: 20) { key += random.bytes(random.below(200)) }
            sorted.insert(key)
        }
        keys = sorted.sorted { $0.lexicographicallyPrecedes($1) }
        bytes[8] = UInt8(count)
        append(number(&random))
        var previous: [UInt8] = []
        for key in keys {
            let shared = zip(previous, key).prefix { $0 == $1 }.count
            let flags = UInt8([1, 1, 1, 2, 5, 5, 9, 13][random.below(8)])
            bytes.append(flags)
            append(UInt64(shared))
            append(UInt64(key.count - shared))
            append(number(&random))
            let value = random.bytes([0, 3, 60, 127, 128, 300, 20_000][random.below(7)] + 9)
            if flags & 1 != 0 { append(UInt64(value.count)) }
            if flags & 4 != 0 { append(UInt64(9 + random.below(40_000))) }
            bytes += key[shared...]
            if flags & 1 != 0 { bytes += value }
            previous = key
        }
    }

    private func number(_ random: inout SeededGenerator) -> UInt64 {
        random.next() >> UInt64(random.below(64))
    }

    private mutating func append(_ number: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { buffer in
            let count = Varint.write(number, to: buffer.baseAddress!)
            bytes += buffer[..<count]
        }
    }
}

@Suite struct RecordGroupTests {
    @Test func recordsAreReadAsTheFormatHasThem() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<500 {
            let group = RandomGroup(&random)
            let expected = plainRecords(group.bytes)
            let found = readRecords(group.bytes)
            #expect(expected.isWhole && expected.records.count == group.keys.count)
            #expect(found.isWhole && found.records == expected.records)
        }
    }

    @Test func damagedRecordsAreReadAlikeAndNeverPastTheEnd() {
        var random = SeededGenerator(seed: testSeed())
        var refusedCount = 0
        for _ in 0..<5_000 {
            var bytes = RandomGroup(&random).bytes
            for _ in 0...random.below(3) {
                bytes[8 + random.below(min(bytes.count - 8, 80))] = UInt8(random.below(256))
            }
            if random.once(in: 3) { bytes.removeLast(random.below(bytes.count)) }
            let expected = plainRecords(bytes)
            let found = readRecords(bytes)
            #expect(found.isWhole == expected.isWhole && found.records == expected.records)
            if !expected.isWhole { refusedCount += 1 }
        }
        print("damaged groups refused: \(refusedCount) of 5,000")
        #expect(refusedCount > 1_000)
    }

    @Test func everyKeyIsFoundAndNoOther() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<500 {
            let group = RandomGroup(&random)
            let records = plainRecords(group.bytes).records
            for (key, record) in zip(group.keys, records) {
                #expect(find(key, in: group) == record)
            }
            for key in group.keys {
                for other in [key + [0], key + [255], Array(key.dropLast()), [0] + key]
                where !other.isEmpty && !group.keys.contains(other) {
                    #expect(find(other, in: group) == nil)
                }
            }
        }
    }

    private func find(_ key: [UInt8], in group: RandomGroup) -> PlainRecord? {
        group.bytes.withUnsafeBytes { bytes in
            key.withUnsafeBytes { key in
                switch RecordGroup.find(key, in: bytes) {
                case .found(let record): return PlainRecord(record)
                case .absent: return nil
                case .damaged:
                    Issue.record("an intact group is called damaged")
                    return nil
                }
            }
        }
    }
}
