import RoostFormat
import RoostIO

// What becomes of the log when something cannot be written. docs/decisions/0090.

extension LogWriter {
    /// Runs `body`, which writes the frame at the segment's end. Where it fails there may be a part of
    /// the frame; it does not count, and the next frame goes to another segment.
    @inline(__always)
    func writingFrame(_ state: inout State, _ body: (inout State) throws -> Void) throws {
        do { try body(&state) } catch {
            try breakOff(&state)
            throw error
        }
    }

    /// As `writingFrame`, of a frame that is complete in memory. Where it fails, memory that is not the file itself would
    /// show it on, in place of the next frame, which has the same number in another segment.
    @inline(__always)
    func writingFinishedFrame(_ state: inout State, _ body: (inout State) throws -> Void) throws {
        try writingFrame(&state) { state in
            do { try body(&state) } catch {
                // Nobody reads after the last batch that is visible, and nothing is a frame with a header of zeros.
                (state.segment.region.base + state.offset).initializeMemory(
                    as: UInt8.self, repeating: 0, count: Frame.headerSizeBytes)
                throw error
            }
        }
    }

    /// The current segment takes no more frames. What there is of one that failed is cut off at once:
    /// it may be whole but for its padding, and a sync of the frames before it would bring it to disk.
    ///
    /// - Throws: `.poisoned` where it cannot be cut off, as an opening might find it then. Nothing more is
    ///   ever appended.
    @inline(never)
    private func breakOff(_ state: inout State) throws {
        state.breakOff()
        do {
            try refuseCut(state)
            try state.segment.file.truncate(to: UInt64(state.offset))
        } catch {
            throw fail(&state, error)
        }
    }

    private func fail(_ state: inout State, _ cause: any Error) -> RoostError {
        let failure = RoostError(
            .poisoned, "writing to the log failed. Reopen the workspace",
            file: state.segment.file.path, cause: cause)
        state.failure = failure
        state.close()
        state.isEnded = true
        return failure
    }

    /// A sync has failed: nothing more is ever appended. Called before those hear of it who waited for the sync and give up
    /// what they had appended. The next opening may find that all the same, and what came after it would rest on its not
    /// being there.
    func end(with failure: RoostError) {
        state.withLock { state in
            state.failure = state.failure ?? failure
            state.close()
            state.isEnded = true
        }
    }

    /// A page of some mapping was replaced since the last frame. If it was of this segment, stores
    /// into it do not reach the file: the frame, whose `sizeBytes` stand at the segment's end, is
    /// written by a call, which says what is wrong, and no other follows in this segment.
    @inline(never)
    func checkFrame(_ sizeBytes: Int, _ state: inout State) throws {
        let faultCount = MappedRegion.faultCount
        if state.segment.region.replacedPageCount > 0 {
            state.breakOff()
            try refuseCut(state)
            let start = UnsafeRawPointer(state.segment.region.base) + state.offset
            try writingFinishedFrame(&state) { state in
                try state.segment.file.write(
                    .init(start: start, count: sizeBytes), at: UInt64(state.offset))
            }
        }
        state.faultCount = faultCount
    }

    /// Throws where another program has cut the segment before its end: to write after that would make
    /// zeros of what is missing, which nothing would tell from what was written.
    func refuseCut(_ state: borrowing State) throws {
        let file = state.segment.file
        let sizeBytes = try file.sizeBytes()
        guard sizeBytes < state.offset else { return }
        throw RoostError(
            .io, "another program has cut the log. Restore a backup, or salvage what can be read",
            file: file.path, offset: sizeBytes)
    }

    /// Runs `body`, which begins `segment` and ends the current one. Where there is no room for that
    /// nothing has changed, and the next append tries it again with the same segment; where it fails
    /// otherwise nothing more is ever appended, as it could not be replayed.
    func switchingSegments(
        to segment: LogSegment, _ state: inout State, _ body: (inout State) throws -> Void
    ) throws {
        do { try body(&state) } catch let error as RoostError where error.code == .outOfSpace {
            state.breakOff()
            state.standby = segment
            throw error
        } catch {
            throw fail(&state, error)
        }
    }
}

extension LogWriter.State {
    /// The current segment takes no more frames.
    fileprivate mutating func breakOff() {
        isBroken = true
        frameLimit = 0
    }
}
