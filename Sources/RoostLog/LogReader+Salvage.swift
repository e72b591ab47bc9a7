import RoostFormat
import RoostIO

extension LogReader {
    /// The segment's header as far as it can be believed: one that does not check still gives
    /// the checksum seed where the frames check with it.
    package var salvagedSeed: ChecksumSeed? {
        if case .valid(let header) = header { return header.seed }
        guard region.sizeBytes >= SegmentHeader.sizeBytes + Frame.headerSizeBytes else {
            return nil
        }
        let salt = UnsafeRawPointer(region.base).load(UInt32.self, at: 12)
        let seed = ChecksumSeed(salt).part(number)
        return Frame.view(in: region.bytes, at: SegmentHeader.sizeBytes, seed: seed) == nil
            ? nil : seed
    }

    /// Visits every frame that checks, wherever it stands, in the order of the file, up to a seal;
    /// `onBreak` is called with the offset where others should be. Returns where the last one ends.
    ///
    /// After a seal there may be what an opening was cutting off when it was stopped.
    ///
    /// The work is bounded by four checksums of the segment, for bytes that look like many long
    /// frames of it; after that nothing is looked for.
    package func forEachSalvagedFrame(
        _ seed: ChecksumSeed, onBreak: (Int) throws -> Void, _ visit: (Frame.View) throws -> Void
    ) rethrows -> Int {
        let bytes = region.bytes
        let first = salvagedFirstSequence
        var budget = 4 * bytes.count
        var offset = SegmentHeader.sizeBytes
        var end = offset
        while bytes.count - offset >= Frame.headerSizeBytes, budget > 0 {
            let claimedSizeBytes = claimedFrameSizeBytes(at: offset, from: first)
            budget -= claimedSizeBytes ?? 0
            if claimedSizeBytes != nil, let frame = Frame.view(in: bytes, at: offset, seed: seed) {
                if offset > end { try onBreak(end) }
                offset += frame.sizeBytes
                end = offset
                if frame.flags.contains(.seal) { break }
                try visit(frame)
                continue
            }
            // No frame begins with sixteen zeros.
            let zeros = leadingZeroCount(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
            offset += zeros < 16 ? Frame.alignment : (zeros - 16) / 8 * 8 + Frame.alignment
        }
        return end
    }

    /// The first batch of the segment: where the header does not check, by the first frame, which then does.
    private var salvagedFirstSequence: UInt64 {
        if case .valid(let header) = header { return header.firstSequence }
        return (region.base + SegmentHeader.sizeBytes).load(
            fromByteOffset: Frame.sequenceOffset, as: UInt64.self)
    }
}
