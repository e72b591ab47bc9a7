import RoostFormat
import RoostIO

/// A segment of an earlier opening, open for replay. Nothing in it is believed before it checks.
package struct LogReader: Sendable {
    package let number: UInt64
    package let name: String
    package let file: any File
    package let region: MappedRegion
    package let header: SegmentHeader.Reading
    /// After it nothing was ever written.
    private let writtenEnd: Int

    package init(
        number: UInt64, in directory: any Directory, writable: Bool, copies: Bool = false
    ) throws {
        self.number = number
        name = FileName.segment(number).text
        file = try directory.openFile(name, writable: writable)
        writtenEnd = Int(try file.writtenEnd())
        let size = Int(try file.sizeBytes())
        if copies {
            region = try .anonymous(sizeBytes: size, for: file.path)
            // The writer may have cut the file between the two calls.
            let count = min(writtenEnd, size)
            _ = try file.readUp(to: .init(start: region.base, count: count), at: 0)
        } else {
            region = try file.contents(sizeBytes: size)
        }
        header = SegmentHeader.read(region.bytes)
    }

    /// Where a scan stopped.
    package struct End: Equatable, Sendable {
        package var offset: Int
        /// The sequence number that the next frame should have.
        package var expected: UInt64
        /// A seal, or zeros up to the preallocated end, stands there; else something unfinished.
        package var isClean: Bool
        package var isSealed: Bool
        /// The highest sequence number that a frame or the header says was on disk.
        package var durableSequence: UInt64
        /// A frame that somebody waited for is among those scanned.
        package var lastSyncedSequence: UInt64
    }

    /// Visits the unbroken run of frames from the segment's begin, whose sequence numbers go up
    /// one by one from `expected`.
    package func scan(
        _ header: SegmentHeader, expected first: UInt64, visit: (Frame.View) throws -> Void
    ) throws -> End {
        let bytes = region.bytes
        var end = End(
            offset: SegmentHeader.sizeBytes, expected: first, isClean: false, isSealed: false,
            durableSequence: header.durableSequence, lastSyncedSequence: 0)
        while let frame = Frame.view(in: bytes, at: end.offset, seed: header.seed) {
            if frame.flags.contains(.seal) {
                guard frame.payloadCount == 0, frame.sequence == max(end.expected - 1, 1) else {
                    break
                }
                end.durableSequence = max(end.durableSequence, frame.durableSequence)
                end.isSealed = true
                end.offset += frame.sizeBytes
                break
            }
            guard frame.sequence == end.expected else { break }
            try visit(frame)
            end.durableSequence = max(end.durableSequence, frame.durableSequence)
            if frame.flags.contains(.synced) { end.lastSyncedSequence = frame.sequence }
            end.expected += 1
            // May lie after a file that was cut within the frame's padding.
            end.offset += frame.sizeBytes
        }
        end.isClean =
            contentEnd(from: end.offset) <= end.offset
            && (end.isSealed || bytes.count == header.capacityBytes)
        return end
    }

    /// What frames after a broken place say was on disk: any that check, wherever they begin.
    ///
    /// The work is bounded by four checksums of the segment: hostile bytes that look like many
    /// long frames end the search, and count as proof of damage.
    package func durableSequenceBehind(
        _ offset: Int, _ header: SegmentHeader, after sequence: UInt64
    ) -> UInt64 {
        let bytes = region.bytes
        var best: UInt64 = 0
        var budget = 4 * bytes.count
        var at = (offset + Frame.alignment - 1) & ~(Frame.alignment - 1)
        let end = contentEnd(from: at)
        while at < end, bytes.count - at >= Frame.headerSizeBytes {
            if let claimedSizeBytes = claimedFrameSizeBytes(at: at, from: sequence) {
                budget -= claimedSizeBytes
                if budget < 0 { return .max }
                if let frame = Frame.view(in: bytes, at: at, seed: header.seed) {
                    best = max(best, frame.durableSequence)
                    at += frame.sizeBytes
                    continue
                }
            }
            // No frame's sequence number is zero, so where zeros stand none needs to be tried.
            let zeros = leadingZeroCount(UnsafeRawBufferPointer(rebasing: bytes[at...]))
            at += zeros < 16 ? Frame.alignment : (zeros - 16) / 8 * 8 + Frame.alignment
        }
        return best
    }

    /// The size of the frame that the bytes at `offset` say they are the header of, where one can be there: of a batch from
    /// `sequence` on, or of a seal behind the one before, and not more of them than would have fitted. To be asked before a
    /// checksum is made, as any bytes can say that they are a long frame.
    func claimedFrameSizeBytes(at offset: Int, from sequence: UInt64) -> Int? {
        let bytes = region.bytes
        let rest = bytes.count - offset - Frame.headerSizeBytes
        guard rest >= 0 else { return nil }
        let start = bytes.baseAddress! + offset
        let claimed = start.load(UInt64.self, at: Frame.sequenceOffset)
        let payloadCount = Int(start.load(UInt32.self, at: 4))
        let first = max(sequence, 1) - 1
        guard claimed >= first, claimed - first <= UInt64(bytes.count / Frame.headerSizeBytes),
            payloadCount <= rest
        else { return nil }
        return Frame.headerSizeBytes + payloadCount
    }

    /// Where what may not be on disk begins, when every batch up to `sequence` is: the frame
    /// after that batch, or the segment's begin. For frames up to `limit` that were scanned.
    package func offset(behind sequence: UInt64, _ header: SegmentHeader, limit: Int) -> Int {
        guard header.firstSequence <= sequence else { return 0 }
        var offset = SegmentHeader.sizeBytes
        while let frame = Frame.unchecked(in: region.bytes, at: offset, limit: limit),
            frame.sequence <= sequence
        {
            offset += frame.sizeBytes
        }
        return offset
    }

    /// Nothing was ever written to it. A header of zeros before content is a first page that a
    /// power cut kept from the disk.
    package var isBlank: Bool { header == .blank && contentEnd(from: 0) == 0 }

    /// Whether the sector that the header is in holds more than it. Where it does not, and the
    /// header is damaged, a power cut kept no more of the sector than a part of the header.
    package var hasContentBehindHeader: Bool {
        let sector = region.bytes.prefix(SegmentHeader.sectorSizeBytes)
        return sector.dropFirst(SegmentHeader.sizeBytes).contains { $0 != 0 }
    }

    /// The offset after the last byte from `start` on that is not zero; `start` where there is
    /// none.
    ///
    /// What was preallocated and never written is left alone: reading it would have the kernel make
    /// pages of zeros, which takes longer than replaying as much. But some of what stands at
    /// `start` is looked at whatever the file system says.
    package func contentEnd(from start: Int) -> Int {
        var end = min(max(writtenEnd, start + Self.alwaysReadSizeBytes), region.sizeBytes)
        while start < end {
            let begin = max(start, end - Self.pieceSizeBytes)
            let bytes = UnsafeRawBufferPointer(rebasing: region.bytes[begin..<end])
            let zeros = trailingZeroCount(bytes)
            if zeros < bytes.count { return end - zeros }
            // What the writer had prepared may be long, and is not looked at again.
            region.dropPages(offset: begin, sizeBytes: bytes.count)
            end = begin
        }
        return start
    }

    static let alwaysReadSizeBytes = 64 << 10
    private static let pieceSizeBytes = 4 << 20
}
