import RoostFormat
import RoostIO

// A segment begins, is sealed, and the last one ends with the log.

extension LogWriter {
    /// Ends the current segment and begins the next; returns the new segment's number and the
    /// last sequence number before it. A segment that holds no batch yet stays the current one,
    /// so that rotating an idle log takes no space.
    package func rotate() throws -> Boundary {
        try state.withLock { state in
            if state.frameLimit == 0 || state.offset > SegmentHeader.sizeBytes {
                try makeRoom(0, &state)
            }
            return Boundary(
                segmentNumber: state.segment.number, lastSequence: state.lastSequence,
                totalBytes: state.totalBytes)
        }
    }

    /// Seals the current segment and begins the next, of `sizeBytes` where that is stated.
    @inline(never)
    func makeRoom(
        _ frameSizeBytes: Int, _ state: inout State, sizeBytes: Int? = nil
    ) throws {
        if let failure = state.failure { throw failure }
        if state.isClosed { throw RoostError(.closed, "the workspace is closed") }
        let needed = SegmentHeader.sizeBytes + frameSizeBytes + Self.sealSizeBytes
        // Also for a standby, which may have been made in the directory that was there before.
        try checksDirectory()
        let segment: LogSegment
        if let standby = state.standby, standby.sizeBytes >= needed {
            segment = standby
            state.standby = nil
        } else {
            let page = SegmentHeader.pageSizeBytes
            let size = max(
                sizeBytes ?? nextSizeBytes(state), (needed + page - 1) / page * page)
            // Numbers go up with sequence numbers, so a standby that is too small is given up.
            if let unused = state.standby {
                try directory.remove(FileName.segment(unused.number).text)
                state.standby = nil
            }
            // Taken before: where a file can neither be made whole nor removed, the next has another name.
            let number = state.nextNumber
            state.nextNumber += 1
            segment = try LogSegment.create(number: number, sizeBytes: size, in: directory)
        }
        let header = SegmentHeader(
            number: segment.number, firstSequence: state.lastSequence + 1,
            durableSequence: durableSequence, workspace: workspace, salt: directory.randomSalt(),
            capacityPages: UInt32(segment.sizeBytes / SegmentHeader.pageSizeBytes))
        try switchingSegments(to: segment, &state) { state in
            try Self.begin(segment, header: header)
            try appendSeal(&state)
        }
        history.add(header, segment.region)
        if let ahead { state.noteEnd(at: ahead.now) }
        state.segment = segment
        state.seed = header.seed
        state.offset = SegmentHeader.sizeBytes
        state.isBroken = false
        state.frameLimit = segment.sizeBytes - Self.sealSizeBytes
        state.unsynced.append(segment)
        state.hasNewEntries = true
        let isNewsWanted = state.aheadOffsets.takeNews()
        state.aheadOffsets = AheadOffsets(
            sizeBytes: segment.sizeBytes, isSmallest: segment.sizeBytes <= minimumSegmentSizeBytes,
            isPrefaulted: segment.region.takesAdvice)
        if isNewsWanted { state.aheadOffsets.wantNews() }
        signals?.page.segmentNumber = segment.number
    }

    /// Writes the header by a call, also where the file is mapped: the first store through a fresh
    /// mapping has the kernel read ahead and zero a large stretch, while everybody waits.
    static func begin(_ segment: LogSegment, header: SegmentHeader) throws {
        try withUnsafeTemporaryAllocation(byteCount: SegmentHeader.sizeBytes, alignment: 8) {
            bytes in
            header.write(to: bytes.baseAddress!)
            try segment.file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        if !segment.isMapped { header.write(to: segment.region.base) }
    }

    /// Ends the current segment with a frame that holds no batch, written by a call: one may be told
    /// that there is no room, where a store into the mapping is not. Where the segment takes no more
    /// frames because one could not be written whole, what there is of that one goes first: after a
    /// seal a scan wants zeros.
    private func appendSeal(_ state: inout State) throws {
        let segment = state.segment
        try refuseCut(state)
        if state.isBroken { try segment.file.truncate(to: UInt64(state.offset)) }
        try withUnsafeTemporaryAllocation(byteCount: Self.sealSizeBytes, alignment: 8) { seal in
            Frame.finish(
                at: seal.baseAddress!, payloadCount: 0, sequence: max(state.lastSequence, 1),
                durableSequence: durableSequence, flags: .seal, seed: state.seed)
            try segment.file.write(UnsafeRawBufferPointer(seal), at: UInt64(state.offset))
            // A reader of the history looks for it here, where this is not the file itself.
            if !segment.isMapped {
                (segment.region.base + state.offset).copyMemory(
                    from: seal.baseAddress!, byteCount: seal.count)
            }
        }
        state.offset += Self.sealSizeBytes
    }

    /// Takes no more frames: what is synced from here on is all that there will be. A frame that
    /// came between the last sync and the seal could have begun a segment whose name is not on
    /// disk, and what closes the log would say that it is.
    package func stopAppending() {
        state.withLock { $0.close() }
    }

    /// Seals the log and gives back what was preallocated and not used; a segment that holds no
    /// batch goes whole, so that openings that write nothing leave nothing. Appending must have
    /// been stopped, and the log synced since; blocks.
    package func close() throws {
        let ending = try state.withLock { state -> (LogSegment, Int, LogSegment?)? in
            precondition(state.isClosed, "the log may still grow")
            if state.isEnded { return nil }
            let isUsed = state.offset > SegmentHeader.sizeBytes
            if isUsed { try appendSeal(&state) }
            state.isEnded = true
            defer { state.standby = nil }
            return (state.segment, isUsed ? state.offset : 0, state.standby)
        }
        guard let (segment, usedBytes, standby) = ending else { return }
        if usedBytes > 0 {
            try segment.file.truncate(to: UInt64(usedBytes))
            try segment.file.syncData()
        } else {
            try directory.remove(FileName.segment(segment.number).text)
        }
        if let standby { try directory.remove(FileName.segment(standby.number).text) }
    }

    /// Stops appending without touching the files, as after a failed sync.
    package func abandon() {
        state.withLock { state in
            state.close()
            state.isEnded = true
        }
    }
}
