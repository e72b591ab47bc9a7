import RoostFormat
import RoostIO

// What is made ready before writers come to it. docs/decisions/0034, 0066.

extension LogWriter {
    /// How far the current segment may be filled before something more is wanted.
    struct AheadOffsets {
        /// From here on more pages of the segment are to be made ready; `.max` where none are.
        private(set) var prefault: Int
        /// From here on the next segment is wanted; `.max` once it was asked for.
        private(set) var standby: Int
        /// From here on readers of other processes are to be told of what was appended; `.max` where
        /// none waits.
        private(set) var news = Int.max
        /// The lowest of them.
        private(set) var next: Int

        /// Of a segment of `sizeBytes`, which may be all that a small store writes where
        /// `isSmallest`.
        init(sizeBytes: Int, isSmallest: Bool, isPrefaulted: Bool) {
            prefault = isPrefaulted ? 0 : .max
            standby = isSmallest ? sizeBytes / 2 : 0
            next = min(prefault, standby)
        }

        /// The segment is filled up to `offset`: the offset from which the next pages are wanted,
        /// where they are by now.
        mutating func takePrefault(at offset: Int, of sizeBytes: Int) -> Int? {
            guard offset >= prefault else { return nil }
            let step = LogAhead.aheadBytes
            // Large frames, and those that made nothing ready, may have passed what was to come next.
            let behind = offset / step * step
            let begin = max(prefault == 0 ? 0 : prefault + step / 2, behind)
            prefault = begin + step >= sizeBytes ? .max : begin + step / 2
            next = min(prefault, standby, news)
            return begin
        }

        /// Whether the next segment is to be asked for now.
        mutating func takeStandby(at offset: Int) -> Bool {
            guard offset >= standby else { return false }
            standby = .max
            next = min(prefault, standby, news)
            return true
        }

        /// The next append tells.
        mutating func wantNews() {
            news = 0
            next = 0
        }

        /// Whether it is to be told now.
        mutating func takeNews() -> Bool {
            if news == .max { return false }
            news = .max
            next = min(prefault, standby)
            return true
        }
    }

    /// Has made ready, while writers go on, what they will come to after a frame like the last one.
    @inline(never)
    func prepareAhead(_ payloadCount: Int, _ flags: Frame.Flags, _ state: inout State) {
        if state.aheadOffsets.takeNews() { signals?.noteAppended() }
        guard let ahead else { return }
        let size = state.segment.sizeBytes
        // Who waits for syncs waits for what is ready and empty too, and what is written by calls needs
        // no pages.
        if flags != .synced, payloadCount < minimumUnawaitedCallSizeBytes,
            let begin = state.aheadOffsets.takePrefault(at: state.offset, of: size)
        {
            ahead.beginPrefault(
                state.segment.region, offset: begin, sizeBytes: LogAhead.aheadBytes)
        }
        if state.aheadOffsets.takeStandby(at: state.offset), state.standby == nil {
            ahead.beginStandby(of: self)
        }
    }

    /// As `rotate`, to a segment that is made before, while writers go on: it blocks for that
    /// elsewhere. Returns once no older segment is in the making.
    package func rotateWithoutWaiters() async throws -> Boundary {
        try await ahead?.rotate(self) ?? rotate()
    }

    /// As `rotateWithoutWaiters`, to a segment of the smallest size, for a log that is at rest: what was made
    /// ahead goes.
    package func rotateToSmallest() async throws -> Boundary {
        try await ahead?.rotateToSmallest(self) ?? rotate()
    }

    /// Whether the current segment holds a batch, so that a rotation begins another.
    var holdsFrames: Bool { state.withLock { $0.offset > SegmentHeader.sizeBytes } }

    /// Creates the segment that the next rotation will want. Blocks; for `LogAhead` alone.
    func makeStandby() throws {
        let wanted = state.withLock { state -> (number: UInt64, sizeBytes: Int)? in
            guard state.standby == nil, !state.isClosed else { return nil }
            defer { state.nextNumber += 1 }
            return (state.nextNumber, nextSizeBytes(state))
        }
        guard let wanted else { return }
        try checksDirectory()
        let segment = try LogSegment.create(
            number: wanted.number, sizeBytes: wanted.sizeBytes, in: directory)
        let isWanted = state.withLock { state in
            guard state.standby == nil, !state.isClosed, state.segment.number < segment.number
            else { return false }
            state.standby = segment
            return true
        }
        if !isWanted { try directory.remove(FileName.segment(segment.number).text) }
    }

    /// The next segment has twice the size of the current one, and no more than was appended in a quarter
    /// of a second while the one before was the current one: a log that grows slowly is not
    /// preallocated for minutes.
    func nextSizeBytes(_ state: borrowing State) -> Int {
        let largest = min(state.segment.sizeBytes * 2, Self.largestSegmentSizeBytes)
        var size = minimumSegmentSizeBytes
        while size < largest, size < state.expectedSizeBytes { size *= 2 }
        return min(size, Self.largestSegmentSizeBytes)
    }
}
