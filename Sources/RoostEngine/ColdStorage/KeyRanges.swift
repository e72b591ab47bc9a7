import RoostFormat
import RoostSnapshot

/// Where a flush or a merge cuts the keys, so that each snapshot that it writes has tens of MiB, and
/// several threads have about as much to write each.
struct KeyRanges: Sendable {
    /// What a snapshot has, about, where there is enough to write.
    let snapshotSizeBytes: Int
    let threadCount: Int

    /// Less than this is not worth another thread.
    private var smallestSizeBytes: Int { max(1, snapshotSizeBytes / 4) }
    /// A merge looks at one key in this many bytes to find where to cut.
    private var sampledSizeBytes: Int { snapshotSizeBytes / 32 }

    /// Into how many ranges `sizeBytes` of records are cut.
    private func count(sizeBytes: Int) -> Int {
        max(1, sizeBytes / snapshotSizeBytes, min(threadCount, sizeBytes / smallestSizeBytes))
    }

    /// The ranges of a sorted table's operations, each of about as many bytes. Records take about half
    /// of their bytes once they are compressed.
    func ranges(of table: SortedTable) -> [Range<Int>] {
        let operations = table.operations
        let total = operations.reduce(0) { $0 + $1.sizeBytes }
        let count = count(sizeBytes: total / 2)
        guard count > 1 else { return [operations.indices] }
        var ranges: [Range<Int>] = []
        var begin = 0
        var sizeBytes = 0
        for (index, operation) in operations.enumerated() {
            sizeBytes += operation.sizeBytes
            if sizeBytes * count >= total * (ranges.count + 1) || index == operations.count - 1 {
                ranges.append(begin..<index + 1)
                begin = index + 1
            }
        }
        return ranges
    }

    /// A short key that is not after `key` and after `previous`.
    static func bound(
        between previous: UnsafeRawBufferPointer, and key: UnsafeRawBufferPointer
    ) -> [UInt8] {
        Array(key.prefix(commonPrefixCount(previous, key) + 1))
    }

    /// The keys at which a merge of `tiers` cuts, in order; none where it writes one snapshot.
    func cuts(of tiers: [ColdTier]) throws -> [[UInt8]] {
        var samples: [(key: [UInt8], sizeBytes: Int)] = []
        for part in tiers.flatMap(\.parts) { try addSamples(of: part, to: &samples) }
        samples.sort { $0.key.lexicographicallyPrecedes($1.key) }
        let total = samples.reduce(0) { $0 + $1.sizeBytes }
        let count = count(sizeBytes: total)
        var cuts: [[UInt8]] = []
        var sizeBytes = 0
        for sample in samples {
            if sizeBytes * count >= total * (cuts.count + 1), sample.key != cuts.last ?? [] {
                cuts.append(sample.key)
            }
            sizeBytes += sample.sizeBytes
        }
        return cuts
    }

    /// Adds some keys, evenly spread over the snapshot's groups that count, and how many bytes come with
    /// each.
    private func addSamples(
        of part: ColdTier.Part, to samples: inout [(key: [UInt8], sizeBytes: Int)]
    ) throws {
        let snapshot = part.snapshot
        let first = try Self.firstGroup(of: part)
        let groupSizeBytes = max(1, Int(snapshot.footer.fileSizeBytes) / snapshot.groupCount)
        let step = max(1, sampledSizeBytes / groupSizeBytes)
        for group in stride(from: first, to: snapshot.groupCount, by: step) {
            let key = try snapshot.withFirstKey(ofGroup: group) { Array($0) }
            let groupCount = min(step, snapshot.groupCount - group)
            samples.append((key, groupCount * groupSizeBytes))
        }
    }

    private static func firstGroup(of part: ColdTier.Part) throws -> Int {
        guard part.isTrimmed else { return 0 }
        return try part.lowerBound.withUnsafeBytes { try part.snapshot.group(for: $0, in: []) }
    }

    /// How many bytes of its file the part has, about.
    static func sizeBytes(of part: ColdTier.Part) throws -> UInt64 {
        let snapshot = part.snapshot
        let first = UInt64(try firstGroup(of: part))
        let groupCount = UInt64(snapshot.groupCount)
        return share(of: snapshot.footer.fileSizeBytes, from: first, of: groupCount)
    }

    /// How much of `sizeBytes` the groups from `first` on have, of `groupCount`, which is not zero. The product of a long
    /// file's two numbers may be above what 64 bits hold.
    static func share(of sizeBytes: UInt64, from first: UInt64, of groupCount: UInt64) -> UInt64 {
        let product = sizeBytes.multipliedFullWidth(by: groupCount - min(first, groupCount))
        return groupCount.dividingFullWidth(product).quotient
    }
}
