import RoostFormat
import RoostIO
import Synchronization

/// Appends frames to the log.
///
/// - Frames are appended one after another under one mutex, which is held for a copy and a
///   checksum: when `append` returns, the frame is complete, and so is every frame before it.
/// - Sequence numbers are handed out in log order, without gaps.
/// - A frame that could not be appended changes nothing: its sequence number goes to the next. The
///   segment may hold a part of it then; it is cut off before the next segment begins, which is where
///   the next frame goes (`LogWriter+Failures`).
/// - A segment is appended to only in the opening that created it, from its begin, and never
///   read before through this mapping.
package final class LogWriter: Sendable {
    /// Where a batch went.
    package struct Appended: Sendable {
        package let sequence: UInt64
        /// The address of the frame; valid as long as the segment's region is held.
        package let location: UInt
        /// The memory that `location` points into.
        package let region: MappedRegion
        /// Bytes appended in this opening, this frame included.
        package let totalBytes: UInt64

        init(sequence: UInt64, location: UInt, region: MappedRegion, totalBytes: UInt64) {
            self.sequence = sequence
            self.location = location
            self.region = region
            self.totalBytes = totalBytes
        }

        /// A batch that another opening has appended.
        package init(followed frame: Frame.View, in region: MappedRegion) {
            self.init(
                sequence: frame.sequence, location: UInt(bitPattern: frame.start), region: region,
                totalBytes: 0)
        }
    }

    /// Where a rotation has cut the log.
    package struct Boundary: Sendable {
        /// The new segment's.
        package let segmentNumber: UInt64
        /// The last before it.
        package let lastSequence: UInt64
        /// Bytes appended before it in this opening.
        package let totalBytes: UInt64
    }

    struct State {
        var segment: LogSegment
        var seed: ChecksumSeed
        var offset: Int
        /// No frame of the segment ends after it: the seal has to fit. Zero where the segment takes
        /// no more frames.
        var frameLimit: Int
        /// `MappedRegion.faultCount` when the last frame was found whole.
        var faultCount = MappedRegion.faultCount
        var lastSequence: UInt64
        var nextNumber: UInt64
        /// Created ahead, so that rotation does not wait for the disk.
        var standby: LogSegment?
        /// The segments with frames that may not be on disk, the current one last.
        var unsynced: [LogSegment]
        /// Those of earlier openings, until the first sync.
        var earlierSegments: [EarlierSegment]
        /// Segments whose directory entry may not be on disk.
        var hasNewEntries = true
        var totalBytes: UInt64 = 0
        var aheadOffsets: AheadOffsets
        /// When the current segment was begun, by the clock of `ahead`.
        var begunAt = Duration.zero
        /// What is appended in a quarter of a second, by what the segment before took.
        var expectedSizeBytes = Int.max
        /// A frame could not be written whole: the segment takes no more.
        var isBroken = false
        /// No segment takes more frames.
        var isClosed = false
        /// Sealed, or never to be.
        var isEnded = false
        /// Why a segment could not be ended, or the next not begun; the log is then closed, as what
        /// was written after that could never be replayed. Or why a sync failed.
        var failure: RoostError?

        mutating func close() {
            isClosed = true
            frameLimit = 0
        }

        /// The current segment is full at the moment `now`.
        mutating func noteEnd(at now: Duration) {
            let seconds = max((now - begunAt) / .seconds(1), 1e-6)
            // Where little was appended nothing is known.
            if offset >= 1 << 16 { expectedSizeBytes = Int(Double(offset) / seconds / 4) }
            begunAt = now
        }
    }

    package static let largestSegmentSizeBytes = 64 << 20
    /// Kept free in each segment for its seal.
    static let sealSizeBytes = Frame.headerSizeBytes

    let state: Mutex<State>
    let directory: any Directory
    package let history: LogHistory
    /// `nil` where nothing is made ready that was not asked for.
    package let ahead: LogAhead?
    /// Tells readers in other processes; `nil` where there can be none.
    package let signals: LogSignals?
    let workspace: WorkspaceIdentifier
    /// Throws where the directory is not the workspace's any more; called before a segment is made.
    let checksDirectory: @Sendable () throws -> Void
    /// Of the segments after the first.
    let minimumSegmentSizeBytes: Int
    /// A payload of this size or more, which waits for a sync, is written by a call.
    private let minimumCallSizeBytes: Int
    /// So is one of this size or more that waits for nothing, for which no pages are made ready then:
    /// to clear each page before it is filled costs more than a copy of the payload
    /// (docs/decisions/0277). Not less than `minimumCallSizeBytes`.
    let minimumUnawaitedCallSizeBytes: Int
    private let durable: Atomic<UInt64>

    /// Begins segment `number` after `lastSequence`.
    package init(
        directory: any Directory, workspace: WorkspaceIdentifier, number: UInt64,
        sizeBytes: Int, lastSequence: UInt64, durableSequence: UInt64,
        minimumSegmentSizeBytes: Int = 1 << 20, minimumCallSizeBytes: Int,
        minimumUnawaitedCallSizeBytes: Int,
        earlierSegments: [EarlierSegment] = [],
        history: LogHistory = .init(),
        ahead: LogAhead? = nil, signals: LogSignals? = nil,
        checksDirectory: @escaping @Sendable () throws -> Void = {}
    ) throws {
        let segment = try LogSegment.create(number: number, sizeBytes: sizeBytes, in: directory)
        self.directory = directory
        self.history = history
        self.ahead = ahead
        self.checksDirectory = checksDirectory
        self.signals = signals
        self.workspace = workspace
        self.minimumSegmentSizeBytes = minimumSegmentSizeBytes
        self.minimumCallSizeBytes = minimumCallSizeBytes
        self.minimumUnawaitedCallSizeBytes = minimumUnawaitedCallSizeBytes
        durable = Atomic(durableSequence)
        let header = SegmentHeader(
            number: number, firstSequence: lastSequence + 1, durableSequence: durableSequence,
            workspace: workspace, salt: directory.randomSalt(),
            capacityPages: UInt32(sizeBytes / SegmentHeader.pageSizeBytes))
        try Self.begin(segment, header: header)
        history.add(header, segment.region)
        state = Mutex(
            State(
                segment: segment, seed: header.seed, offset: SegmentHeader.sizeBytes,
                frameLimit: sizeBytes - Self.sealSizeBytes, lastSequence: lastSequence,
                nextNumber: number + 1, unsynced: [segment],
                earlierSegments: earlierSegments,
                aheadOffsets: AheadOffsets(
                    sizeBytes: sizeBytes, isSmallest: true, isPrefaulted: false)))
        if let ahead { state.withLock { $0.begunAt = ahead.now } }
        // The first append begins the thread that tells of the later ones.
        if signals != nil { state.withLock { $0.aheadOffsets.wantNews() } }
    }

    package var lastSequence: UInt64 { state.withLock { $0.lastSequence } }
    package var currentSegmentNumber: UInt64 { state.withLock { $0.segment.number } }
    /// Bytes appended in this opening.
    package var totalBytes: UInt64 { state.withLock { $0.totalBytes } }
    /// Every batch up to this one is on disk.
    package var durableSequence: UInt64 { durable.load(ordering: .acquiring) }

    func noteDurable(_ sequence: UInt64) {
        // Only the syncer calls this, one call at a time.
        guard sequence > durableSequence else { return }
        durable.store(sequence, ordering: .releasing)
        signals?.noteDurable(sequence)
    }

    /// Appends one batch whose payload `fill` writes, and hands out the next sequence number.
    ///
    /// When it returns the frame survives the death of the process. Throws, with nothing
    /// changed, where a new segment is needed and cannot be had, the frame cannot be written
    /// (`.outOfSpace`, `.io`; a later one may be), or the log is closed.
    @inline(__always)
    package func append(
        payloadCount: Int, flags: Frame.Flags, fill: (UnsafeMutableRawPointer) -> Void
    ) throws -> Appended {
        try state.withLock { state in
            let start = try frameStart(payloadCount, &state)
            if isWrittenByCall(payloadCount, flags, state) {
                try withUnsafeTemporaryAllocation(byteCount: payloadCount, alignment: 16) { bytes in
                    if let base = bytes.baseAddress { fill(base) }
                    try writePayload(.init(bytes), &state)
                }
            } else {
                fill(start + Frame.headerSizeBytes)
            }
            return try finishFrame(start, payloadCount, flags, &state)
        }
    }

    /// As above, of a payload that is laid out already.
    package func append(
        _ payload: UnsafeRawBufferPointer, flags: Frame.Flags
    ) throws -> Appended {
        try state.withLock { state in
            let start = try frameStart(payload.count, &state)
            if isWrittenByCall(payload.count, flags, state) {
                try writePayload(payload, &state)
            } else if let base = payload.baseAddress {
                let target = start + Frame.headerSizeBytes
                target.copyMemory(from: base, byteCount: payload.count)
            }
            return try finishFrame(start, payload.count, flags, &state)
        }
    }

    /// Who waits for a sync finds no pages made ready, and the kernel clears and finds each page sooner
    /// in one call than in a fault for each. Where a page of some mapping was replaced since the last
    /// frame, it may be the one that the frame begins on: the call would reach the file and not that
    /// page, of which the checksum is made.
    @inline(__always)
    private func isWrittenByCall(
        _ payloadCount: Int, _ flags: Frame.Flags, _ state: borrowing State
    ) -> Bool {
        payloadCount >= minimumCallSizeBytes
            && (flags == .synced || payloadCount >= minimumUnawaitedCallSizeBytes)
            && state.segment.isMapped && MappedRegion.faultCount == state.faultCount
    }

    @inline(never)
    private func writePayload(_ payload: UnsafeRawBufferPointer, _ state: inout State) throws {
        try writingFrame(&state) { state in
            // A store into the mapping finds out by itself that the file was cut; a call makes it longer.
            try refuseCut(state)
            try state.segment.file.write(
                payload, at: UInt64(state.offset + Frame.headerSizeBytes))
        }
    }

    /// Where the next frame begins, in a segment that has room for it.
    @inline(__always)
    private func frameStart(
        _ payloadCount: Int, _ state: inout State
    ) throws -> UnsafeMutableRawPointer {
        let size = Frame.sizeBytes(payloadCount: payloadCount)
        if state.offset + size > state.frameLimit { try makeRoom(size, &state) }
        return state.segment.region.base + state.offset
    }

    /// Completes the frame whose payload is in place.
    @inline(__always)
    private func finishFrame(
        _ start: UnsafeMutableRawPointer, _ payloadCount: Int, _ flags: Frame.Flags,
        _ state: inout State
    ) throws -> Appended {
        let size = Frame.sizeBytes(payloadCount: payloadCount)
        let sequence = state.lastSequence + 1
        Frame.finish(
            at: start, payloadCount: payloadCount, sequence: sequence,
            durableSequence: durable.load(ordering: .relaxed), flags: flags, seed: state.seed)
        if !state.segment.isMapped {
            try writingFinishedFrame(&state) {
                try refuseCut($0)
                try $0.segment.persist(offset: $0.offset, count: size)
            }
        } else if MappedRegion.faultCount != state.faultCount {
            try checkFrame(size, &state)
        }
        state.offset += size
        state.lastSequence = sequence
        state.totalBytes += UInt64(size)
        if state.offset >= state.aheadOffsets.next { prepareAhead(payloadCount, flags, &state) }
        return Appended(
            sequence: sequence, location: UInt(bitPattern: start),
            region: state.segment.region, totalBytes: state.totalBytes)
    }
}
