import RoostEngine
import RoostFormat

/// Some records of a scan as bytes, from which each element is made when its turn comes: what is made
/// and let go one by one costs the allocator a fraction of what hundreds at once cost.
///
/// - `bytes[offset..<endOffset]` are the records that are left, as `CopiedRecord` says.
struct FlatPiece: Sendable {
    private var bytes: [UInt8] = []
    private var offset = 0
    private var endOffset = 0

    private static let largestSizeBytes = 16 << 10
    private static let keptSizeBytes = 256 << 10
    /// About what a record takes.
    private static let usualSizeBytes = 160

    var isEmpty: Bool { offset == endOffset }

    mutating func removeAll() { endOffset = offset }

    /// Takes in the scan's next records, at most `count`, one at least unless it has ended. Where it
    /// throws, what came before is in it.
    mutating func fill(
        from scan: ViewScan, count: Int, withValues: Bool
    ) throws -> Int {
        let usual = min(count, Self.largestSizeBytes / Self.usualSizeBytes) * Self.usualSizeBytes
        // What a large value needed is not kept.
        if bytes.count < usual || bytes.count > Self.keptSizeBytes {
            bytes = Array(repeating: 0, count: usual)
        }
        var progress = CopiedRecord.Progress()
        defer {
            offset = 0
            endOffset = progress.sizeBytes
        }
        try copy(scan, count, withValues, &progress)
        if progress.count == 0, progress.missingSizeBytes > 0 {
            bytes = Array(repeating: 0, count: progress.missingSizeBytes)
            try copy(scan, count, withValues, &progress)
        }
        return progress.count
    }

    private mutating func copy(
        _ scan: ViewScan, _ count: Int, _ withValues: Bool, _ progress: inout CopiedRecord.Progress
    ) throws {
        try bytes.withUnsafeMutableBytes {
            try scan.copyRecords(count, withValues: withValues, into: $0, &progress)
        }
    }

    /// Moves after the next record that has not expired, and says where its key and value are;
    /// `nil` where none is left.
    @inline(__always)
    mutating func next(_ feed: ScanFeed) -> Record? {
        while offset != endOffset {
            let record = bytes.withUnsafeBytes { bytes in
                Record(bytes.baseAddress.unsafelyUnwrapped, at: offset)
            }
            offset = record.endOffset
            // It may have expired while it waited its turn.
            if !record.expires || isLive(record, feed) { return record }
        }
        return nil
    }

    @inline(never)
    private func isLive(_ record: Record, _ feed: ScanFeed) -> Bool {
        let milliseconds = bytes.withUnsafeBytes {
            $0.baseAddress.unsafelyUnwrapped.load(UInt64.self, at: record.keyOffset - 8)
        }
        return feed.clock.isLive(Deadline(milliseconds: milliseconds))
    }

    @inline(__always)
    func key(of record: Record) -> String {
        bytes.withUnsafeBytes {
            String(
                decoding: UnsafeRawBufferPointer(
                    rebasing: $0[record.keyOffset..<record.valueOffset]), as: UTF8.self)
        }
    }

    @inline(__always)
    func withValue<Result>(
        of record: Record, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result {
        try bytes.withUnsafeBytes {
            try body(.init(rebasing: $0[record.valueOffset..<record.endOffset]))
        }
    }

    /// Where a record stands in the bytes.
    struct Record {
        let expires: Bool
        let keyOffset: Int
        let valueOffset: Int
        let endOffset: Int

        @inline(__always)
        init(_ base: UnsafeRawPointer, at offset: Int) {
            let word = base.load(UInt64.self, at: offset)
            expires = word & CopiedRecord.deadlineBit != 0
            keyOffset = offset + CopiedRecord.headerSizeBytes + (expires ? 8 : 0)
            valueOffset = keyOffset + Int(word & (CopiedRecord.deadlineBit - 1))
            endOffset = valueOffset + Int(word >> 32)
        }
    }
}
