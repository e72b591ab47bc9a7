import RoostFormat
import RoostIO
import RoostLog

/// Reads the log's frames as they stand, in order and without a gap, for a copy elsewhere.
///
/// - `position` is the last batch that was read. What is after it is held.
/// - Not for several users at a time. Blocks where pages have to come from the disk.
package struct LogTap: Sendable {
    /// Frames of one segment, one after the other, with what their checksums begin with.
    package struct Run: Sendable {
        package var seed: UInt32
        package var bytes: [UInt8]

        package init(seed: UInt32, bytes: [UInt8]) {
            self.seed = seed
            self.bytes = bytes
        }
    }

    /// A stretch of the log.
    package struct Piece: Sendable {
        package var runs: [Run] = []
        package var firstSequence: UInt64
        package var lastSequence: UInt64
        /// Of the last frame.
        package var proof: FrameProof

        package var sizeBytes: Int { runs.reduce(0) { $0 + $1.bytes.count } }
    }

    package private(set) var position: UInt64
    private let hold: LogHold
    /// Where the next frame is looked for.
    private var place: (segment: UInt64, offset: Int)?

    init(position: UInt64, hold: LogHold) {
        self.position = position
        self.hold = hold
    }

    /// The next frames up to that of batch `boundary`, which is on disk: about `maximumSizeBytes`, and
    /// one at least; `nil` where there are none.
    ///
    /// - Throws: `LogTapLost` where the limit of what is held was passed; `.io` where a page cannot be
    ///   read; `.corrupt` where a frame is not as it was written.
    package mutating func read(
        through boundary: UInt64, maximumSizeBytes: Int
    ) throws -> Piece? {
        guard position < boundary else { return nil }
        guard let segments = hold.segments else { throw LogTapLost() }
        var piece = Piece(
            firstSequence: position + 1, lastSequence: position,
            proof: .none)
        for (index, segment) in segments.enumerated() {
            let following = index + 1 < segments.count ? segments[index + 1].firstSequence : .max
            guard following > piece.lastSequence + 1 else { continue }
            try take(&piece, from: segment, boundary: boundary, maximumSizeBytes)
            if piece.lastSequence >= boundary || piece.sizeBytes >= maximumSizeBytes { break }
        }
        guard piece.lastSequence > position else {
            throw RoostError(
                .corrupt, "batch \(position + 1) is not in the log, though it was committed")
        }
        return piece
    }

    private mutating func take(
        _ piece: inout Piece, from segment: LogHistory.Segment, boundary: UInt64,
        _ maximumSizeBytes: Int
    ) throws {
        let bytes = segment.region.bytes
        var offset =
            place.flatMap { $0.segment == segment.number ? $0.offset : nil }
            ?? SegmentHeader.sizeBytes
        var begin: Int?
        let room = maximumSizeBytes - piece.sizeBytes
        while piece.lastSequence < boundary,
            let frame = Frame.view(in: bytes, at: offset, seed: segment.seed),
            !frame.flags.contains(.seal)
        {
            if frame.sequence > piece.lastSequence {
                guard frame.sequence == piece.lastSequence + 1 else { break }
                if let begin, offset + frame.sizeBytes - begin > room { break }
                begin = begin ?? offset
                piece.lastSequence = frame.sequence
                piece.proof = FrameProof(frame, seed: segment.seed)
            }
            offset += frame.sizeBytes
        }
        if let begin {
            let taken = UnsafeRawBufferPointer(rebasing: bytes[begin..<min(offset, bytes.count)])
            piece.runs.append(Run(seed: segment.seed.value, bytes: Array(taken)))
        }
        // Zeros stand where a page could not be read, and look like the end.
        try segment.region.checkRead()
        place = (segment.number, offset)
    }

    /// Every batch up to `sequence` is safe elsewhere.
    package mutating func advance(to sequence: UInt64) {
        position = max(position, sequence)
        hold.advance(to: position)
    }

    /// From behind batch `sequence` on, where what is held has the frame of that batch and it is the one of which `proof` is;
    /// where that is `nil`, the caller knows.
    package func goingOn(after sequence: UInt64, proof: FrameProof?) throws -> LogTap? {
        guard position <= (proof == nil ? sequence : max(sequence, 1) - 1) else { return nil }
        if let proof, try !isProven(by: proof, of: sequence) { return nil }
        var tap = self
        tap.advance(to: sequence)
        return tap
    }

    /// Whether the log has a frame of batch `sequence` that `proof` is of; so what was copied up to
    /// it is what this log holds. `false` also where that frame is gone.
    func isProven(by proof: FrameProof, of sequence: UInt64) throws -> Bool {
        try self.proof(of: sequence) == proof
    }

    /// What proves batch `sequence`, where what is held has its frame; else `nil`.
    package func proof(of sequence: UInt64) throws -> FrameProof? {
        guard let segments = hold.segments,
            let segment = segments.last(where: { $0.firstSequence <= sequence })
        else { return nil }
        var offset = SegmentHeader.sizeBytes
        while let frame = Frame.view(in: segment.region.bytes, at: offset, seed: segment.seed),
            !frame.flags.contains(.seal), frame.sequence <= sequence
        {
            if frame.sequence == sequence { return FrameProof(frame, seed: segment.seed) }
            offset += frame.sizeBytes
        }
        try segment.region.checkRead()
        return nil
    }
}

/// More was not read yet than may be held: some of it is gone.
package struct LogTapLost: Error {}

/// What tells a frame of one log from one of another with the same sequence number: its checksum, and
/// the salt of its segment, which is random.
package struct FrameProof: Equatable, Sendable {
    package var checksum: UInt32
    package var seed: UInt32

    package init(checksum: UInt32, seed: UInt32) {
        self.checksum = checksum
        self.seed = seed
    }

    /// Of no frame: no segment has this salt.
    package static let none = FrameProof(checksum: 0, seed: 0)

    package init(_ frame: Frame.View, seed: ChecksumSeed) {
        checksum = frame.start.load(UInt32.self, at: 0)
        self.seed = seed.value
    }
}
