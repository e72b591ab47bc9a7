import RoostFormat
import RoostIO
import RoostLog

/// Tables of what a newer manifest's snapshots do not hold, made beside those that readers use, a stretch
/// at a time: from the segments that the manifest needs, which this opening has read before.
struct Rebuild {
    private let flushedSequence: UInt64
    private var replay: Replay
    private var next: UInt64
    private var place: (number: UInt64, offset: Int)?

    init(_ manifest: ManifestRecord, shardCount: Int) {
        flushedSequence = manifest.flushedSequence
        replay = Replay(shardCount: shardCount, hashSeed: manifest.hashSeed)
        next = flushedSequence + 1
    }

    /// Whether the tables are of what these snapshots do not hold: a merge changes nothing of that.
    func isFor(_ manifest: ManifestRecord) -> Bool { flushedSequence == manifest.flushedSequence }

    /// Enters about `limitBytes` more; `true` once it holds all that `tail` has handed out.
    ///
    /// - Throws: `.corrupt` where a segment is not at hand, which the tail has not read then.
    mutating func advance(to tail: borrowing LogTail, limitBytes: Int) throws -> Bool {
        var leftBytes = limitBytes
        while next <= tail.lastSequence {
            guard leftBytes > 0 else { return false }
            guard let segment = segment(in: tail.segments) else {
                throw tail.damage(nil, "a segment of the log is not at hand")
            }
            guard let frame = segment.frame(at: place!.offset), frame.sequence == next else {
                try segment.region.checkRead(from: place!.offset, count: Frame.headerSizeBytes)
                throw tail.damage(segment, "a batch is not where it was read before")
            }
            try replay.add(frame, segment.region, path: segment.file.path)
            place!.offset += frame.sizeBytes
            leftBytes -= frame.sizeBytes
            next += 1
        }
        return true
    }

    /// The one that the next batch is in.
    private mutating func segment(in segments: [FollowedSegment]) -> FollowedSegment? {
        guard let index = segments.lastIndex(where: { $0.header.firstSequence <= next }) else {
            return nil
        }
        let segment = segments[index]
        if place?.number != segment.number {
            guard segment.header.firstSequence == next else { return nil }
            place = (segment.number, SegmentHeader.sizeBytes)
        }
        return segment
    }

    /// The tables to stand above the snapshots of `manifest`; to be called once.
    mutating func finish(_ manifest: ManifestRecord) -> FollowedTables {
        let (tables, replayed) = replay.finish()
        return FollowedTables(tables: tables, clears: manifest.clears(and: replayed))
    }
}

extension ManifestRecord {
    /// The last sequence at which each dictionary was emptied, with what was replayed of the log.
    func clears(and replayed: [[UInt8]: UInt64]) -> [[UInt8]: UInt64] {
        Dictionary(clears.map { ($0.prefix, $0.sequence) }, uniquingKeysWith: max)
            .merging(replayed, uniquingKeysWith: max)
    }
}
