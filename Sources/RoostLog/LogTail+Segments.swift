import RoostFormat
import RoostIO

// From segment to segment.

extension LogTail {
    enum Next {
        case found(FollowedSegment)
        case none
        case gap
    }

    /// Those of the segments that may have the next batch, in order. A writer that closes removes a segment
    /// without batches, as a recovery does: where the one that is read is gone so, its successor may have begun another
    /// of the same number, or of a lower one.
    private func nextNumbers() throws -> [UInt64] {
        let last = try isCurrentGone() ? usedNumber : place.segmentNumber ?? 0
        return try directory.entries().compactMap { entry -> UInt64? in
            guard case .segment(let number) = FileName(entry.name), number >= firstSegment,
                number > last
            else { return nil }
            return number
        }.sorted()
    }

    /// Whether the segment that is read, of which nothing was handed out, is no more, or another has its place.
    private func isCurrentGone() throws -> Bool {
        guard let current, current.number > usedNumber else { return false }
        let found = try FollowedSegment.begin(
            of: current.number, in: directory, workspace: workspace)
        return found?.header != current.header
    }

    /// The segment that the next batch is in or will be.
    func nextSegment() throws -> Next {
        var passed: [UInt64] = []
        for number in try nextNumbers() {
            guard
                let segment = try FollowedSegment.open(
                    number, in: directory, workspace: workspace, sharing: sharing)
            else {
                passed.append(number)
                continue
            }
            if segment.header.firstSequence == place.expected {
                return try passed.allSatisfy(isNeverBegun) ? .found(segment) : .none
            }
            if segment.header.firstSequence > place.expected { return .gap }
            // What was read is written once more, as something else.
            throw RoostError(
                .corrupt,
                "the workspace was put back to an earlier state while it was read. Open it again",
                file: segment.file.path, offset: 24)
        }
        return .none
    }

    /// Whether segment `number`, before one with the next batch, was made ahead and never begun, or is gone: an opening passes
    /// over no other. Of a header that was begun by half it cuts off what is in later segments.
    private func isNeverBegun(_ number: UInt64) throws -> Bool {
        let reader = try directory.ifThere(FileName.segment(number).text) {
            try LogReader(number: number, in: directory, writable: false, copies: true)
        }
        return reader?.isBlank ?? true
    }

    /// Goes to a later segment where all of this one is read, though it has no end: the writer died.
    /// Why not, where there is none.
    mutating func moveOn(from segment: FollowedSegment) throws -> End? {
        let next = try nextSegment()
        if case .none = next { return .log }
        // Before a later one was begun, all was whole here: looked at again, it may have come since.
        if try isWholeNow(segment) { return nil }
        guard case .found(let found) = next else { return .missing }
        guard try endsCleanly(segment) else { return .log }
        begin(found)
        return nil
    }

    /// Whether an opening would go on behind `segment`, all of whose batches were read. Else a crash has kept what is in
    /// later segments and not what was written before it: an opening cuts both off, unless it was on disk.
    ///
    /// - The file is read anew, as it may be longer by now: by a seal.
    /// - What is gone was whole, or had no batch.
    private func endsCleanly(_ segment: FollowedSegment) throws -> Bool {
        let reader = try directory.ifThere(FileName.segment(segment.number).text) {
            try LogReader(number: segment.number, in: directory, writable: false, copies: true)
        }
        let header = segment.header
        guard let reader, reader.header == .valid(header) else { return true }
        let end = try reader.scan(header, expected: header.firstSequence) { _ in }
        return end.isClean && end.expected == place.expected
    }
}
