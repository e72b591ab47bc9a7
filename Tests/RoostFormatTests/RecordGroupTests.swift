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
private struct PlainGroup {
    private var rest: ArraySlice<UInt8>
    private var base: UInt64 = 0
    private let width: Int
    private var keyCount: Int
    private var last: (stored: Int, raw: Int)?
    private(set) var records: [PlainRecord] = []
    private(set) var isWhole = false

    init(_ group: [UInt8], firstKeyCount: Int) {
        rest = group.dropFirst(9)
        keyCount = firstKeyCount
        width = group.count > 8 ? Int(group[8] >> 5) : 0
        let count = group.count > 9 ? group[8] & 31 : 0
        guard count > 0, let base = number() else { return }
        self.base = base
        for _ in 0..<count {
            guard let next = record() else { return }
            records.append(next)
        }
        isWhole = true
    }

    private mutating func number() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 70, by: 7) {
            guard let byte = rest.popFirst(), shift < 63 || byte <= 1 else { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    private mutating func sequence() -> UInt64? {
        guard width > 0 else {
            guard let delta = number() else { return nil }
            return base &+ UInt64(bitPattern: Int64(bitPattern: delta >> 1) ^ -Int64(delta & 1))
        }
        guard let bytes = bytes(width) else { return nil }
        return base &+ bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func valueCount(_ isLast: Bool, _ isShort: Bool, _ last: Int?) -> Int? {
        if isLast { return isShort ? last : nil }
        return number().map { Int(clamping: $0) }
    }

    private mutating func record() -> PlainRecord? {
        guard let flags = rest.popFirst() else { return nil }
        let isShort = flags & 0x80 != 0
        var shared = 0
        var suffixCount = 0
        if isShort {
            guard let shape = rest.popFirst() else { return nil }
            shared = keyCount - Int(shape >> 4)
            suffixCount = Int(shape & 15)
        } else {
            guard let first = number(), let second = number() else { return nil }
            shared = Int(clamping: first)
            suffixCount = Int(clamping: second)
        }
        guard (0...keyCount).contains(shared), suffixCount <= 65_792,
            1...65_792 ~= shared + suffixCount, let sequence = sequence(), sequence < 1 << 62
        else { return nil }
        var stored = 0
        var raw = 0
        if flags & 1 != 0 {
            guard let count = valueCount(flags & 0x20 != 0, isShort, last?.stored) else {
                return nil
            }
            stored = count
            raw = count
            if flags & 0x14 != 0 {
                guard let count = valueCount(flags & 0x40 != 0, isShort, last?.raw) else {
                    return nil
                }
                raw = count
            }
            let least = flags & 8 != 0 ? 9 : 0
            guard (least...268_435_472).contains(stored), (least...268_435_472).contains(raw)
            else { return nil }
        } else if flags & 2 == 0 || flags & 8 != 0 {
            return nil
        }
        guard let suffix = bytes(suffixCount), let value = bytes(stored) else { return nil }
        keyCount = shared + suffixCount
        if flags & 1 != 0 { last = (stored, raw) }
        return PlainRecord(
            flags: flags & 0x1f, shared: shared, suffix: suffix, sequence: sequence,
            stored: value, rawCount: raw)
    }
}

private func readRecords(
    _ group: [UInt8], firstKeyCount: Int
) -> (records: [PlainRecord], isWhole: Bool) {
    group.withUnsafeBytes { bytes in
        guard var cursor = RecordGroup.Cursor(bytes, firstKeyCount: firstKeyCount) else {
            return ([], false)
        }
        var records: [PlainRecord] = []
        while !cursor.isAtEnd {
            guard let record = cursor.next() else { return (records, false) }
            records.append(PlainRecord(record))
        }
        return (records, true)
    }
}

/// A record that is to be written.
private struct WantedRecord {
    var key: [UInt8]
    var flags: UInt8
    var sequence: UInt64
    var stored: [UInt8]
    var rawCount: Int
}

/// Keys that share much, numbers of all lengths.
private func randomRecords(_ count: Int, _ random: inout SeededGenerator) -> [WantedRecord] {
    var sorted: Set<[UInt8]> = []
    while sorted.count < count {
        var key =
            sorted.randomElement(using: &random).map { Array($0.prefix(random.below(30))) } ?? []
        for _ in 0...random.below(4) { key.append([0, 97, 98, 255][random.below(4)]) }
        if random.once(in: 20) { key += random.bytes(random.below(200)) }
        sorted.insert(key)
    }
    let shift = UInt64(2 + random.below(62))
    let sizes = [[60], [0, 3, 60, 127, 128, 300], [0, 3, 60], [0, 3, 20_000]][
        random.below(30) % 8 % 4]
    return sorted.sorted { $0.lexicographicallyPrecedes($1) }.map { key in
        let flags = UInt8([1, 1, 1, 2, 5, 0x11, 0x15, 9, 13, 0x1d][random.below(10)])
        let value = flags & 1 == 0 ? [] : random.bytes(sizes[random.below(sizes.count)] + 9)
        let isCompressed = flags & 0x14 != 0
        return WantedRecord(
            key: key, flags: flags, sequence: random.next() >> shift, stored: value,
            rawCount: isCompressed
                ? (random.once(in: 2) ? 101 : 9 + random.below(40_000)) : value.count)
    }
}

/// A group as version 1 writes it: long records only, and varints.
private func longGroup(_ records: [WantedRecord]) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 8) + [UInt8(records.count)]
    func append(_ number: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 10, alignment: 1) { buffer in
            let count = Varint.write(number, to: buffer.baseAddress!)
            bytes += buffer[..<count]
        }
    }
    let base = records[0].sequence
    append(base)
    var previous: [UInt8] = []
    for record in records {
        let shared = zip(previous, record.key).prefix { $0 == $1 }.count
        bytes.append(record.flags)
        append(UInt64(shared))
        append(UInt64(record.key.count - shared))
        append(Varint.zigzag(Int64(bitPattern: record.sequence &- base)))
        if record.flags & 1 != 0 { append(UInt64(record.stored.count)) }
        if record.flags & 0x14 != 0 { append(UInt64(record.rawCount)) }
        bytes += record.key[shared...] + record.stored
        previous = record.key
    }
    return bytes
}

private struct Group {
    var bytes: [UInt8]
    let firstKey: FirstKey
    let wanted: [WantedRecord]

    /// A group of a snapshot that has others before it, or one of version 1.
    init(_ random: inout SeededGenerator) {
        if random.once(in: 4) {
            wanted = randomRecords(1 + random.below(16), &random)
            firstKey = FirstKey()
            bytes = longGroup(wanted)
            return
        }
        var all = randomRecords(2 + random.below(2 * RecordGroup.maximumRecordCount), &random)
        let count = min(1 + random.below(all.count), RecordGroup.maximumRecordCount)
        var builder = RecordGroup.Builder()
        var output = OutputBuffer()
        // What is written before decides the snapshot's first key.
        if random.once(in: 2) || all.count > count {
            Self.add(all[0], to: &builder)
            builder.finish(seed: ChecksumSeed(1), into: &output)
            all.removeFirst()
            output.count = 0
        }
        wanted = Array(all.prefix(count))
        for record in wanted { Self.add(record, to: &builder) }
        builder.finish(seed: ChecksumSeed(1), into: &output)
        firstKey = builder.snapshotFirstKey
        bytes = Array(output.bytes)
    }

    private static func add(_ record: WantedRecord, to builder: inout RecordGroup.Builder) {
        record.key.withUnsafeBytes { key in
            record.stored.withUnsafeBytes { stored in
                builder.add(
                    key: key, sequence: record.sequence, flags: .init(rawValue: record.flags),
                    stored: stored, rawCount: record.rawCount)
            }
        }
    }

    var plain: PlainGroup { PlainGroup(bytes, firstKeyCount: firstKey.count) }
    var read: (records: [PlainRecord], isWhole: Bool) {
        readRecords(bytes, firstKeyCount: firstKey.count)
    }
}

@Suite struct RecordGroupTests {
    @Test func recordsAreReadAsTheFormatHasThem() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<400 {
            let group = Group(&random)
            let expected = group.plain
            let found = group.read
            #expect(expected.isWhole && found.isWhole && found.records == expected.records)
            #expect(found.records.count == group.wanted.count)
            var key = group.firstKey.withBytes { Array($0) }
            for (record, wanted) in zip(found.records, group.wanted) {
                key = Array(key.prefix(record.shared)) + record.suffix
                #expect(key == wanted.key && record.sequence == wanted.sequence)
                #expect(record.flags == wanted.flags && record.rawCount == wanted.rawCount)
                #expect(record.stored == wanted.stored)
            }
        }
    }

    /// docs/FORMAT.md, "Groups".
    @Test func theExampleOfTheFormatIsWhatIsWritten() {
        var builder = RecordGroup.Builder()
        var output = OutputBuffer()
        for (key, sequence, value) in [("a", 7, 5), ("b", 9, 6)] as [(String, UInt64, UInt8)] {
            Array("\u{1}d\(key)".utf8).withUnsafeBytes { key in
                ([2, value] + [UInt8](repeating: 0, count: 7)).withUnsafeBytes {
                    builder.add(key: key, sequence: sequence, flags: .put, stored: $0, rawCount: 9)
                }
            }
        }
        builder.finish(seed: ChecksumSeed(1), into: &output)
        let expected: [UInt8] =
            [0x24, 0, 0, 0, 0x22, 7]
            + [0x81, 0, 0, 9] + [2, 5, 0, 0, 0, 0, 0, 0, 0]
            + [0xa1, 0x11, 2, 0x62] + [2, 6, 0, 0, 0, 0, 0, 0, 0]
        #expect(Array(output.bytes)[4...].elementsEqual(expected))
        #expect(builder.snapshotFirstKey.withBytes { Array($0) } == [1, 0x64, 0x61])
    }

    @Test func equalLengthsAreWrittenOnce() {
        func size(_ valueSizes: [Int]) -> Int {
            var builder = RecordGroup.Builder()
            var output = OutputBuffer()
            for (index, size) in valueSizes.enumerated() {
                let key = Array("\u{1}dkey \(index)".utf8)
                key.withUnsafeBytes { key in
                    [UInt8](repeating: 1, count: size).withUnsafeBytes {
                        builder.add(
                            key: key, sequence: 70_000 + UInt64(index), flags: .put, stored: $0,
                            rawCount: size)
                    }
                }
            }
            builder.finish(seed: ChecksumSeed(1), into: &output)
            return output.count
        }
        // Nine bytes and the least number; flags, shape, number, length; the last digit; the value.
        #expect(size([5, 5, 5]) == 9 + 3 + (4 + 0 + 5) + (3 + 1 + 5) + (3 + 1 + 5))
        #expect(size([5, 6, 5]) == 9 + 3 + (4 + 0 + 5) + (4 + 1 + 6) + (4 + 1 + 5))
    }

    @Test func damagedRecordsAreReadAlikeAndNeverPastTheEnd() {
        var random = SeededGenerator(seed: testSeed())
        var refusedCount = 0
        for _ in 0..<1_500 {
            var group = Group(&random)
            for _ in 0...random.below(3) {
                let place = 8 + random.below(min(group.bytes.count - 8, 80))
                group.bytes[place] = UInt8(random.below(256))
            }
            if random.once(in: 3) { group.bytes.removeLast(random.below(group.bytes.count)) }
            let expected = group.plain
            let found = group.read
            #expect(found.isWhole == expected.isWhole && found.records == expected.records)
            if !expected.isWhole { refusedCount += 1 }
        }
        print("damaged groups refused: \(refusedCount) of 1,500")
        #expect(refusedCount > 300)
    }

    @Test func everyKeyIsFoundAndNoOther() {
        var random = SeededGenerator(seed: testSeed())
        for _ in 0..<400 {
            let group = Group(&random)
            let keys = group.wanted.map(\.key)
            for (key, record) in zip(keys, group.plain.records) {
                #expect(find(key, in: group) == record)
            }
            for key in keys {
                for other in [
                    key + [0], key + [255], Array(key.dropLast()), [0] + key,
                    Array(key.dropLast()) + [UInt8(random.below(256))],
                ]
                where !other.isEmpty && !keys.contains(other) {
                    #expect(find(other, in: group) == nil)
                }
            }
        }
    }

    private func find(_ key: [UInt8], in group: Group) -> PlainRecord? {
        group.bytes.withUnsafeBytes { bytes in
            key.withUnsafeBytes { key in
                switch RecordGroup.find(key, in: bytes, firstKey: group.firstKey) {
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
