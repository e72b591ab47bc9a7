import RoostFormat
import RoostIO

/// Reads a log that another process may be appending to, batch after batch.
///
/// - What is handed out is an unbroken run of whole frames: what an opening by a writer keeps, whenever
///   the writer dies. A frame is whole when its checksum holds. The checksum is stored last, and zeros
///   stood there: a frame whose checksum is zero counts once something stands after it, or the
///   writer has said that it is there.
/// - Frames are looked at by calls first. A frame that is not whole may be cut off at any time by the
///   writer's successor, and in a mapping that would be a fault.
/// - A batch that somebody waits for and that is not known to be on disk is handed out unless `isHeld`
///   says that its writer is about to bring it there; and none after it before.
package struct LogTail {
    /// Where the next batch is looked for.
    package struct Place: Sendable, Equatable {
        /// `nil` before the first segment.
        package var segmentNumber: UInt64?
        package var offset: Int
        /// The next batch's sequence number.
        package var expected: UInt64
        /// The segment has ended; the next batch is in another.
        package var isSealed = false
    }

    /// Why a read has ended.
    package enum End: Sendable, Equatable {
        /// As much was read as was asked for.
        case limit
        /// There is no further batch.
        case log
        /// The next batch waits for its sync.
        case unsynced
        /// The next batch was in a segment that is gone: all it held is in snapshots.
        case missing
    }

    let directory: any Directory
    let workspace: WorkspaceIdentifier
    let sharing: MemorySharing
    package private(set) var place: Place
    /// The last segment that a batch was handed out of, or 0: what comes next has a higher number. Those without a
    /// batch may go, and their numbers be given again.
    private(set) var usedNumber: UInt64 = 0
    /// Those that were read, and are needed yet.
    package private(set) var segments: [FollowedSegment]
    var firstSegment: UInt64
    /// What frames, headers and manifests say is on disk.
    package private(set) var durableSequence: UInt64
    private var appendedSequence: UInt64 = 0
    private var chunk: [UInt8]

    private static let smallestChunkSizeBytes = 4 << 10
    private static let largestChunkSizeBytes = 256 << 10

    /// Reads from the first batch after `manifest`'s snapshots on.
    package init(_ manifest: ManifestRecord, in directory: any Directory) throws {
        self.directory = directory
        workspace = manifest.workspace
        sharing = try directory.sharing
        place = Place(segmentNumber: nil, offset: 0, expected: manifest.flushedSequence + 1)
        segments = []
        firstSegment = manifest.firstSegment
        durableSequence = max(manifest.durableSequence, manifest.flushedSequence)
        chunk = [UInt8](repeating: 0, count: Self.smallestChunkSizeBytes)
    }

    /// The last batch that was handed out.
    package var lastSequence: UInt64 { place.expected - 1 }

    package mutating func noteDurable(_ sequence: UInt64) {
        durableSequence = max(durableSequence, sequence)
    }

    /// The writer has appended every batch up to this one.
    package mutating func noteAppended(_ sequence: UInt64) {
        appendedSequence = max(appendedSequence, sequence)
    }

    /// All that the segments before `number` held is in snapshots.
    package mutating func forget(before number: UInt64) {
        firstSegment = max(firstSegment, number)
        segments.removeAll { $0.number < number && $0.number != place.segmentNumber }
    }

    // MARK: Reading

    /// Hands out the next batches, of about `limitBytes`, to `visit`, which asks the segment's region whether all that it
    /// looks at could be read before it does anything with it. Looks for a further segment where one has ended,
    /// and with `looksFurther` also where it has not: the writer may have died, and its successor begun
    /// another.
    package mutating func read(
        limitBytes: Int, looksFurther: Bool, isHeld: (_ sequence: UInt64) throws -> Bool,
        _ visit: (Frame.View, FollowedSegment) throws -> Void
    ) throws -> End {
        var leftBytes = limitBytes
        while leftBytes > 0 {
            if let segment = current, !place.isSealed {
                switch try readChunk(segment, &leftBytes, isHeld, visit) {
                case .more: continue
                case .held: return .unsynced
                case .nothing:
                    guard looksFurther || isAtBegin else { return .log }
                    if let end = try moveOn(from: segment) { return end }
                }
            } else {
                switch try nextSegment() {
                case .found(let segment):
                    guard try isEmptyBehindSeal() else { return .log }
                    begin(segment)
                case .none: return .log
                case .gap: return .missing
                }
            }
        }
        return .limit
    }

    /// Whether a segment is read of which nothing was handed out.
    var isAtBegin: Bool {
        place.segmentNumber != nil && place.offset == SegmentHeader.sizeBytes && !place.isSealed
    }

    var current: FollowedSegment? {
        place.segmentNumber.flatMap { number in segments.last { $0.number == number } }
    }

    mutating func begin(_ segment: FollowedSegment) {
        // Those that it has the place of had no batch.
        segments.removeAll { $0.number >= segment.number }
        segments.append(segment)
        place.segmentNumber = segment.number
        place.offset = SegmentHeader.sizeBytes
        place.isSealed = false
        noteDurable(segment.header.durableSequence)
    }

    private enum Progress {
        /// There may be more after.
        case more
        /// The next batch waits for its sync.
        case held
        case nothing
    }

    /// Hands out what is whole of the next bytes.
    private mutating func readChunk(
        _ segment: FollowedSegment, _ leftBytes: inout Int, _ isHeld: (UInt64) throws -> Bool,
        _ visit: (Frame.View, FollowedSegment) throws -> Void
    ) throws -> Progress {
        let count = try readBytes(of: segment)
        let known = chunk.count
        var at = 0
        var wanted = 0
        while count - at >= Frame.headerSizeBytes {
            let (found, flags, durable) = chunk.withUnsafeBytes { bytes in
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                let found = look(bytes, at, segment)
                guard case .whole = found,
                    let frame = Frame.unchecked(in: bytes, at: at, limit: count)
                else { return (found, Frame.Flags.none, UInt64(0)) }
                return (found, frame.flags, frame.durableSequence)
            }
            guard case .whole(let size) = found else {
                if case .cut(let size) = found { wanted = size }
                break
            }
            if flags.contains(.seal) {
                noteDurable(durable)
                keep(segment, at, size)
                place.offset += size
                place.isSealed = true
                return .more
            }
            noteDurable(durable)
            if flags.contains(.synced), durableSequence < place.expected,
                try isHeld(place.expected)
            {
                return .held
            }
            try handOut(segment, at, size, visit)
            leftBytes -= size
            at += size
        }
        fitChunk(count: count, wanted: wanted)
        return at > 0 || wanted > known ? .more : .nothing
    }

    private enum Found {
        case whole(sizeBytes: Int)
        /// The chunk ends before the frame does.
        case cut(sizeBytes: Int)
        case nothing
    }

    /// What stands at `at` in a chunk that begins at the place's offset less `at`.
    private func look(
        _ bytes: UnsafeRawBufferPointer, _ at: Int, _ segment: FollowedSegment
    ) -> Found {
        let start = bytes.baseAddress! + at
        let sequence = start.load(UInt64.self, at: Frame.sequenceOffset)
        let payloadCount = Int(start.load(UInt32.self, at: 4))
        let isSeal =
            payloadCount == 0 && sequence == max(place.expected - 1, 1)
            && Frame.Flags(rawValue: start.load(UInt32.self, at: 20)).contains(.seal)
        guard sequence == place.expected || isSeal, payloadCount <= Limits.framePayloadSizeBytes
        else { return .nothing }
        let size = Frame.sizeBytes(payloadCount: payloadCount)
        guard size <= segment.region.sizeBytes - place.offset else { return .nothing }
        guard size <= bytes.count - at else { return .cut(sizeBytes: size) }
        guard Frame.view(in: bytes, at: at, seed: segment.header.seed) != nil else {
            return .nothing
        }
        if start.load(UInt32.self, at: 0) == 0, !isSeal, appendedSequence < sequence {
            // One in four thousand million is so; so is one that is being stored.
            let behind = bytes.count - at - size
            guard behind >= Frame.headerSizeBytes else {
                return .cut(sizeBytes: size + Frame.headerSizeBytes)
            }
            let next = (start + size).load(UInt64.self, at: Frame.sequenceOffset)
            guard next != 0 else { return .nothing }
        }
        return .whole(sizeBytes: size)
    }

    /// Puts what was read at the place, and stands in the chunk at `at`, into memory that is not the file's own.
    private func keep(_ segment: FollowedSegment, _ at: Int, _ size: Int) {
        if sharing == .mapped { return }
        chunk.withUnsafeBytes { bytes in
            (segment.region.base + place.offset).copyMemory(
                from: bytes.baseAddress! + at, byteCount: size)
        }
    }

    private mutating func handOut(
        _ segment: FollowedSegment, _ at: Int, _ size: Int,
        _ visit: (Frame.View, FollowedSegment) throws -> Void
    ) throws {
        keep(segment, at, size)
        guard let frame = segment.frame(at: place.offset), frame.sequence == place.expected else {
            try segment.region.checkRead(from: place.offset, count: size)
            throw damage(segment, "a batch is not where it was read before")
        }
        try visit(frame, segment)
        usedNumber = segment.number
        place.offset += size
        place.expected += 1
    }

    private mutating func readBytes(of segment: FollowedSegment) throws -> Int {
        let room = min(chunk.count, max(0, segment.region.sizeBytes - place.offset))
        let offset = UInt64(place.offset)
        return try chunk.withUnsafeMutableBytes { bytes in
            try segment.file.readUp(to: .init(rebasing: bytes[..<room]), at: offset)
        }
    }

    /// Larger where more was there than fitted; as small again as a waiting reader needs.
    private mutating func fitChunk(count: Int, wanted: Int) {
        var size = Self.smallestChunkSizeBytes
        if count == chunk.count {
            size = min(max(chunk.count * 4, size), Self.largestChunkSizeBytes)
        }
        size = max(size, wanted)
        if size != chunk.count { chunk = [UInt8](repeating: 0, count: size) }
    }

    /// Whether nothing stands behind the seal that was read. Where a frame could not be written whole, the seal took its
    /// place once it was cut off; a power cut may have taken that cut back, and an opening cuts there then. Of the page
    /// that the seal is on it has kept zeros, and what is left of the frame may begin anywhere after it.
    private func isEmptyBehindSeal() throws -> Bool {
        guard let segment = current else { return true }
        // As far as an opening looks.
        let writtenEnd = max(
            Int(try segment.file.writtenEnd()), place.offset + LogReader.alwaysReadSizeBytes)
        let end = min(writtenEnd, segment.region.sizeBytes)
        var offset = place.offset
        var piece = [UInt8](
            repeating: 0, count: min(end - min(offset, end), Self.largestChunkSizeBytes))
        while offset < end {
            let room = min(piece.count, end - offset)
            let (count, isEmpty) = try piece.withUnsafeMutableBytes { bytes in
                let count = try segment.file.readUp(
                    to: .init(rebasing: bytes[..<room]), at: UInt64(offset))
                let read = UnsafeRawBufferPointer(rebasing: bytes[..<count])
                return (count, trailingZeroCount(read) == count)
            }
            if !isEmpty { return false }
            if count < room { break }
            offset += count
        }
        return true
    }

    /// Whether there is a frame at the place after all.
    mutating func isWholeNow(_ segment: FollowedSegment) throws -> Bool {
        while true {
            let count = try readBytes(of: segment)
            guard count >= Frame.headerSizeBytes else { return false }
            let found = chunk.withUnsafeBytes { bytes in
                look(UnsafeRawBufferPointer(rebasing: bytes[..<count]), 0, segment)
            }
            switch found {
            case .whole: return true
            case .nothing: return false
            case .cut(let size):
                // The file may end before the frame does.
                guard size > chunk.count else { return false }
                chunk = [UInt8](repeating: 0, count: size)
            }
        }
    }

    /// The error for a batch that must be there.
    package func damage(_ segment: FollowedSegment?, _ reason: String) -> RoostError {
        RoostError(
            .corrupt, "\(reason). Restore a backup, or salvage what can be read",
            file: segment?.file.path ?? directory.path, offset: UInt64(place.offset))
    }
}
