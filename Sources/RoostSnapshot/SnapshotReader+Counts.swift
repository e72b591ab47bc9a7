import RoostFormat
import RoostIO

/// What is known of a snapshot's dictionaries without reading records; filled in when it is first
/// asked for.
struct SnapshotCountCache: Sendable {
    struct Question: Hashable {
        let prefix: [UInt8]
        let clearedSequence: UInt64
        let lowerBound: [UInt8]
    }

    var counts: DictionaryCounts?
    var answers: [Question: Int] = [:]
}

extension SnapshotReader {
    /// What the snapshot holds of each dictionary. Read and checked once.
    package func dictionaryCounts() throws -> DictionaryCounts {
        if let counts = countCache.withLock({ $0.counts }) { return counts }
        try region.require(
            offset: Int(footer.countsOffset), count: Int(footer.countsSizeBytes))
        let start = UnsafeRawPointer(region.base) + Int(footer.countsOffset)
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(footer.countsSizeBytes))
        guard footer.countsSeed.checksum(bytes) == footer.countsChecksum else {
            throw damaged("the checksum of the dictionaries' counts does not hold", at: start)
        }
        let counts = DictionaryCounts(bytes, count: Int(footer.countsCount))
        try checkRead(bytes)
        // Whoever adds them up relies on their being no more than the records.
        guard let counts, counts.hasNoMore(than: footer.recordCount) else {
            throw damaged("the dictionaries' counts make no sense", at: start)
        }
        countCache.withLock { $0.counts = counts }
        return counts
    }

    /// What `count` gives for a dictionary of which everything before `clearedSequence`, and every key
    /// before `lowerBound`, is gone; it is asked once.
    package func cachedCount(
        of prefix: [UInt8], clearedSequence: UInt64, from lowerBound: [UInt8],
        _ count: () throws -> Int
    ) throws -> Int {
        let question = SnapshotCountCache.Question(
            prefix: prefix, clearedSequence: clearedSequence, lowerBound: lowerBound)
        if let known = countCache.withLock({ $0.answers[question] }) { return known }
        let answer = try count()
        countCache.withLock { $0.answers[question] = answer }
        return answer
    }
}
