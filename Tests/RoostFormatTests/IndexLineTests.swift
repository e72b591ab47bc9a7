import RoostFormat
import RoostTestSupport
import Testing

private struct Index {
    var bytes: [UInt8]
    let lineCount: Int
    let groupBits: Int
    let seed = ChecksumSeed(5)

    init(_ entries: [(hash: UInt64, group: UInt32)], groupCount: Int) {
        lineCount = IndexLine.lineCount(recordCount: entries.count)
        groupBits = IndexLine.groupBits(groupCount: groupCount)
        bytes = [UInt8](repeating: 0, count: lineCount * IndexLine.sizeBytes)
        bytes.withUnsafeMutableBytes { target in
            IndexLine.build(
                entries, groupCount: groupCount, lineCount: lineCount, seed: seed,
                into: target.baseAddress!)
        }
    }

    /// The groups that may hold a key, as a reader looks for them.
    func candidates(_ hash: UInt64) -> [UInt32] {
        var ignored = 0
        return candidates(hash, &ignored)
    }

    func candidates(_ hash: UInt64, _ lineVisitCount: inout Int) -> [UInt32] {
        lineVisitCount += 1
        return bytes.withUnsafeBytes { bytes in
            var found: [UInt32] = []
            var line = IndexLine.home(of: hash, lineCount: lineCount)
            let tag = IndexLine.tag(of: hash, groupBits: groupBits)
            let mask = ~UInt32(0) << UInt32(groupBits)
            for _ in 0..<lineCount {
                let start = bytes.baseAddress! + line * IndexLine.sizeBytes
                #expect(IndexLine.isIntact(start, line: line, seed: seed))
                var matches: UInt32 = 0
                for index in 0..<IndexLine.count(start) {
                    let entry = IndexLine.entry(start, index)
                    guard entry & mask == tag else { continue }
                    found.append(entry & ~mask)
                    matches |= 1 << UInt32(index)
                }
                #expect(IndexLine.matches(start, tag: tag, groupBits: groupBits) == matches)
                if !IndexLine.overflows(start, hash: hash) { break }
                lineVisitCount += 1
                line = line + 1 == lineCount ? 0 : line + 1
            }
            return found
        }
    }
}

@Suite struct IndexLineTests {
    @Test(arguments: [1, 2, 11, 12, 13, 14, 15, 100, 1_000, 20_000])
    func everyInsertedKeyIsFound(count: Int) {
        var random = SeededGenerator(seed: testSeed())
        let entries = (0..<count).map { (hash: random.next(), group: UInt32($0 / 16)) }
        let index = Index(entries, groupCount: (count + 15) / 16)
        for entry in entries { #expect(index.candidates(entry.hash).contains(entry.group)) }
    }

    @Test func absentKeysSeldomGoOnToTheNextLine() {
        var random = SeededGenerator(seed: testSeed())
        let entries = (0..<50_000).map { (hash: random.next(), group: UInt32($0 / 16)) }
        let index = Index(entries, groupCount: 3_125)
        var visitCount = 0
        for _ in 0..<50_000 { _ = index.candidates(random.next(), &visitCount) }
        print("lines that 50,000 absent keys visit: \(visitCount)")
        #expect(visitCount < 60_000)
    }

    @Test func absentKeysRarelyTouchARecord() {
        var random = SeededGenerator(seed: testSeed())
        // As in one shard of sixteen: the low bits are the same for all.
        func hash(_ random: inout SeededGenerator) -> UInt64 { random.next() & ~15 | 3 }
        let entries = (0..<20_000).map { (hash: hash(&random), group: UInt32($0 / 16)) }
        let index = Index(entries, groupCount: 1_250)
        var touched = 0
        for _ in 0..<20_000 { touched += index.candidates(hash(&random)).isEmpty ? 0 : 1 }
        print("absent keys that touch a record: \(touched) of 20,000")
        #expect(touched < 100)
    }

    @Test func linesThatAllHashToOneHomeOverflowAndStillAnswer() {
        let entries = (0..<60).map { (hash: UInt64($0) << 8, group: UInt32($0)) }
        let index = Index(entries, groupCount: 60)
        for entry in entries { #expect(index.candidates(entry.hash).contains(entry.group)) }
    }

    @Test func everyFlippedBitOfALineIsFound() {
        let index = Index([(hash: 77, group: 1), (hash: 99, group: 2)], groupCount: 3)
        for bit in 0..<(8 * IndexLine.sizeBytes) {
            var damaged = index.bytes
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            let isIntact = damaged.withUnsafeBytes {
                IndexLine.isIntact($0.baseAddress!, line: 0, seed: index.seed)
            }
            #expect(!isIntact)
        }
    }

    @Test func aLineInAnotherPlaceIsFound() {
        let index = Index([(hash: 77, group: 1)], groupCount: 3)
        index.bytes.withUnsafeBytes {
            #expect(!IndexLine.isIntact($0.baseAddress!, line: 1, seed: index.seed))
        }
    }
}
