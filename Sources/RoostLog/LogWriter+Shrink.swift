import RoostFormat
import RoostIO

extension LogWriter {
    /// Where the current segment holds no batch, a small one takes its place, and what was made
    /// ahead goes, so that a log at rest takes little space. Does nothing else. Blocks.
    package func shrink() throws {
        let replaced = try state.withLock { state -> (old: LogSegment, standby: LogSegment?)? in
            let old = state.segment
            guard !state.isClosed, state.offset == SegmentHeader.sizeBytes,
                old.sizeBytes > minimumSegmentSizeBytes
            else { return nil }
            let standby = state.standby
            state.standby = nil
            do {
                try makeRoom(0, &state, sizeBytes: minimumSegmentSizeBytes)
            } catch {
                if state.failure == nil { try keepStandby(standby, &state) }
                throw error
            }
            return (old, standby)
        }
        guard let (old, standby) = replaced else { return }
        history.remove(old.number)
        try directory.remove(FileName.segment(old.number).text)
        if let standby { try directory.remove(FileName.segment(standby.number).text) }
        // Its name is gone for good before any later frame counts as durable: the sync that brings
        // that frame to disk brings the new segment's name there first, or else had the old one's
        // seal among what it synced.
        state.withLock { state in state.unsynced.removeAll { $0 === old } }
    }

    /// After a shrink for which there was no room. Where the smaller segment was made, it is the next one: it may have
    /// been begun, and frames in `standby`, whose number is lower, would come before it and take its place.
    private func keepStandby(_ standby: LogSegment?, _ state: inout State) throws {
        guard let standby else { return }
        if state.standby == nil {
            state.standby = standby
        } else {
            try directory.remove(FileName.segment(standby.number).text)
        }
    }

    /// As `makeStandby`, of the smallest segment, in the place of a larger one.
    func makeSmallestStandby() throws {
        let number = state.withLock { state -> UInt64? in
            let isSmallest = state.standby.map { $0.sizeBytes <= minimumSegmentSizeBytes } ?? false
            guard !state.isClosed, !isSmallest else { return nil }
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        guard let number else { return }
        try checksDirectory()
        let segment = try LogSegment.create(
            number: number, sizeBytes: minimumSegmentSizeBytes, in: directory)
        let unwanted = state.withLock { state -> LogSegment? in
            // A writer may have begun a later one meanwhile.
            let newest = max(state.segment.number, state.standby?.number ?? 0)
            guard !state.isClosed, newest < segment.number else { return segment }
            defer { state.standby = segment }
            return state.standby
        }
        if let unwanted { try directory.remove(FileName.segment(unwanted.number).text) }
    }

    /// What the log takes on disk: what was preallocated counts whole.
    package var diskSizeBytes: Int {
        let standby = state.withLock { $0.standby?.sizeBytes ?? 0 }
        return history.segments.reduce(standby) { $0 + $1.region.sizeBytes }
    }
}
