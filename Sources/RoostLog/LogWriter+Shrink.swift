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
                if state.failure == nil { state.standby = standby }
                throw error
            }
            return (old, standby)
        }
        guard let (old, standby) = replaced else { return }
        history.remove(old.number)
        try directory.remove(FileName.segment(old.number).text)
        if let standby { try directory.remove(FileName.segment(standby.number).text) }
        try directory.sync()
        // Until its name was gone for good, its seal had to reach the disk before any later frame:
        // a segment that a crash brings back must not look as if it broke off.
        state.withLock { state in state.unsynced.removeAll { $0 === old } }
    }
}
