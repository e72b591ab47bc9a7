import RoostFormat
import RoostIO

/// Replays the log after an opening and decides what its end means.
///
/// The rules. Whoever reads after the opening must find a prefix of the batches, with all that a crash could not take,
/// and never an older state given out for the newest:
/// - What is kept is an unbroken run of frames: a prefix of the sequence.
/// - Where the run breaks, whatever says that the missing batch *was* on disk (a later frame or
///   segment header, the manifest) makes it damage: `corrupt`, and nothing is touched.
/// - Else it is a torn tail, the unfinished writes of a crash: it is cut, kept aside, reported.
package struct LogRecovery {
    /// What stood after the last whole batch.
    package struct TornTail: Sendable, Equatable {
        package var segment: UInt64
        package var offset: Int
        package var sizeBytes: Int
        /// The name of its copy, once it was cut off.
        package var keptAs: String?
    }

    package internal(set) var readers: [LogReader]
    package private(set) var lastSequence: UInt64
    package private(set) var durableSequence: UInt64
    /// The last replayed batch that somebody waited for.
    package private(set) var lastSyncedSequence: UInt64 = 0
    package private(set) var tornTails: [TornTail] = []
    /// Segments that were created ahead and never begun.
    package private(set) var blankSegments: [UInt64] = []
    package private(set) var frameCount = 0
    /// The highest number that any segment has, in use or not.
    package private(set) var highestNumber: UInt64

    /// The segments from `manifest.firstSegment` on, in order. With `copies` they are read rather than
    /// mapped: what another opening cuts off meanwhile is then no fault.
    package init(
        segmentNumbers: [UInt64], manifest: ManifestRecord, directory: any Directory,
        writable: Bool, copies: Bool = false, visit: (Frame.View, LogReader) throws -> Void
    ) throws {
        let opened = try segmentNumbers.sorted().filter { $0 >= manifest.firstSegment }.map {
            number in
            let reader = try LogReader(
                number: number, in: directory, writable: writable, copies: copies)
            // Before the next is opened: of a later version it may be anything.
            try Self.refuseForeign(reader, manifest)
            return reader
        }
        try self.init(
            opened, highestNumber: segmentNumbers.max() ?? 0, manifest: manifest,
            path: directory.path, visit: visit)
    }

    /// As the other, of segments that are open: the names of their files may be gone.
    ///
    /// - Parameters:
    ///   - readers: The segments from `manifest.firstSegment` on, in order.
    ///   - path: The directory's.
    package init(
        _ readers: [LogReader], highestNumber: UInt64 = 0, manifest: ManifestRecord, path: String,
        visit: (Frame.View, LogReader) throws -> Void
    ) throws {
        for reader in readers { try Self.refuseForeign(reader, manifest) }
        self.readers = readers
        lastSequence = manifest.flushedSequence
        durableSequence = max(manifest.durableSequence, manifest.flushedSequence)
        self.highestNumber = max(
            highestNumber, readers.last?.number ?? 0, manifest.firstSegment - 1)
        let breakPlace = try replay(visit)
        try settle(breakPlace, manifestPath: path)
    }

    /// What is kept of a segment that was replayed.
    struct Kept {
        var endOffset: Int
        var lastSequence: UInt64
        /// The last frame is a seal.
        var isSealed: Bool
    }

    private(set) var kept: [UInt64: Kept] = [:]
    /// What is kept was brought to disk by `cut`.
    private var isOnDisk = false

    private struct Break {
        var index: Int
        var offset: Int
    }

    private static func refuseForeign(_ reader: LogReader, _ manifest: ManifestRecord) throws {
        switch reader.header {
        case .unsupported(let version):
            throw RoostError(
                .unsupportedVersion,
                "the log segment is of format \(version); this version reads \(Limits.formatVersion)",
                file: reader.file.path, offset: 8)
        case .valid(let header)
        where header.number != reader.number || header.workspace != manifest.workspace:
            throw RoostError(
                .corrupt,
                "the log segment belongs to another workspace or another place in the log",
                file: reader.file.path, offset: 16)
        default: return
        }
    }

    /// A segment gets its header before its first frame, and both are in one sector. So one with
    /// content in that sector after a header that does not check was not left so by a crash: no
    /// frame in it can be believed, nor be given up.
    private static func refuseDamagedHeader(_ reader: LogReader) throws {
        guard reader.header == .damaged, reader.hasContentBehindHeader else { return }
        throw RoostError(
            .corrupt,
            "the log segment's header is damaged. Restore a backup, or salvage what can be read",
            file: reader.file.path, offset: 0)
    }

    /// Visits frames until the run breaks; `nil` where it ends cleanly.
    private mutating func replay(_ visit: (Frame.View, LogReader) throws -> Void) throws -> Break? {
        for (index, reader) in readers.enumerated() {
            // Created ahead and never begun. One may stand before segments with frames: where the
            // process died after it had begun a later one and before it gave this one up.
            if reader.isBlank { continue }
            guard case .valid(let header) = reader.header else {
                return Break(index: index, offset: 0)
            }
            guard header.firstSequence == lastSequence + 1 else {
                // Frames at the end of the segment before are missing, or the whole of it.
                return Break(index: index, offset: 0)
            }
            let end = try reader.scan(header, expected: lastSequence + 1) { frame in
                frameCount += 1
                try visit(frame, reader)
            }
            lastSequence = end.expected - 1
            kept[reader.number] = Kept(
                endOffset: end.offset, lastSequence: lastSequence, isSealed: end.isSealed)
            durableSequence = max(durableSequence, end.durableSequence)
            lastSyncedSequence = max(lastSyncedSequence, end.lastSyncedSequence)
            if !end.isClean { return Break(index: index, offset: end.offset) }
        }
        return nil
    }

    /// Tells damage from a torn tail, and notes what has to be set aside.
    private mutating func settle(_ place: Break?, manifestPath: String) throws {
        try checkRead()
        blankSegments = readers.filter(\.isBlank).map(\.number)
        var evidence = durableSequence
        if let place {
            for (index, reader) in readers.enumerated() where index >= place.index {
                guard case .valid(let header) = reader.header else {
                    try Self.refuseDamagedHeader(reader)
                    continue
                }
                evidence = max(evidence, header.durableSequence)
                // Where none of a segment was replayed, its own header says which frames may be in it.
                let isReplayed = index == place.index && place.offset > 0
                let from = isReplayed ? place.offset : SegmentHeader.sizeBytes
                let before = isReplayed ? lastSequence : max(header.firstSequence, 1) - 1
                evidence = max(evidence, reader.durableSequenceBehind(from, header, after: before))
            }
        }
        try checkRead()
        guard evidence <= lastSequence else {
            let reader = place.map { readers[$0.index] } ?? readers.last
            throw RoostError(
                .corrupt,
                "batch \(lastSequence + 1) was on disk and is damaged or missing. "
                    + "Restore a backup, or salvage what can be read",
                file: reader?.file.path ?? manifestPath,
                offset: place.map { UInt64($0.offset) }
                    ?? reader.map { UInt64($0.contentEnd(from: 0)) })
        }
        guard let place else {
            readers.removeAll(where: \.isBlank)
            return
        }
        for (index, reader) in readers.enumerated() where index >= place.index {
            let offset = index == place.index ? place.offset : 0
            if reader.isBlank { continue }
            tornTails.append(
                TornTail(
                    segment: reader.number, offset: offset,
                    sizeBytes: max(0, reader.contentEnd(from: offset) - offset)))
        }
    }

    /// Where a page could not be read there are zeros, which would look like the log's end.
    private func checkRead() throws {
        for reader in readers { try reader.region.checkRead() }
    }

    /// Sets the torn tails aside and cuts them off, and removes blank segments, and empty ones where they are many.
    ///
    /// Safe to be stopped anywhere: a tail is first copied under a name that follows from its
    /// place, and cut only when the copy is on disk; a second run does the same again.
    package mutating func cut(in directory: any Directory) throws {
        for index in tornTails.indices {
            tornTails[index].keptAs = try setAside(tornTails[index], in: directory)
        }
        if !tornTails.isEmpty {
            // The seal will say that all before it is on disk, and the copies are all that is left
            // of the tails.
            for segment in earlierSegments { try segment.bringToDisk() }
            isOnDisk = true
            try directory.sync()
        }
        // The last segment first: a segment that is gone must not leave a gap before one that
        // is still there, which would look like damage.
        for tail in tornTails.reversed() {
            if tail.offset <= SegmentHeader.sizeBytes {
                try directory.remove(FileName.segment(tail.segment).text)
            } else if let reader = readers.first(where: { $0.number == tail.segment }) {
                try seal(reader, at: tail.offset)
            }
        }
        for number in blankSegments { try directory.remove(FileName.segment(number).text) }
        if !tornTails.isEmpty || !blankSegments.isEmpty { try directory.sync() }
        try removeEmptySegments(in: directory)
    }

    /// How many segments are kept.
    package var segmentCount: Int { readers.count }

    /// The segments that are kept, with what may not be on disk of each.
    package var earlierSegments: [EarlierSegment] {
        readers.map { reader in
            EarlierSegment(reader, uncertain: isOnDisk ? 0..<0 : uncertainRange(of: reader))
        }
    }

    /// That all batches of a segment are on disk says nothing of its seal, nor, where it has no
    /// batch, of its header.
    func uncertainRange(of reader: LogReader) -> Range<Int> {
        guard case .valid(let header) = reader.header, let kept = kept[reader.number] else {
            return 0..<0
        }
        let end = min(kept.endOffset, reader.region.sizeBytes)
        let start =
            if kept.lastSequence > durableSequence {
                reader.offset(behind: durableSequence, header, limit: end)
            } else if kept.lastSequence < header.firstSequence {
                0
            } else {
                kept.endOffset - (kept.isSealed ? Frame.headerSizeBytes : 0)
            }
        return min(start, end)..<end
    }

    /// The name of the copy; `nil` where there is nothing to be kept.
    private func setAside(_ tail: TornTail, in directory: any Directory) throws -> String? {
        guard tail.sizeBytes > 0, let reader = readers.first(where: { $0.number == tail.segment })
        else { return nil }
        let unfinished = FileName.unfinishedTornTail(
            segment: tail.segment, offset: UInt64(tail.offset)
        ).text
        let start = UnsafeRawPointer(reader.region.base) + tail.offset
        let bytes = UnsafeRawBufferPointer(start: start, count: tail.sizeBytes)
        let names = Set(try directory.entries().map(\.name))
        var copyNumber: UInt64 = 0
        var finished: String {
            FileName.tornTail(
                segment: tail.segment, offset: UInt64(tail.offset), copy: copyNumber
            ).text
        }
        while names.contains(finished) {
            // An opening that was stopped may have left it. Else it is the tail of another segment, which had the number
            // before.
            if try Self.isCopy(finished, of: bytes, in: directory) { return finished }
            copyNumber += 1
        }
        if names.contains(unfinished) { try directory.remove(unfinished) }
        let copy = try directory.createFile(unfinished)
        try copy.write(bytes, at: 0)
        try copy.syncData()
        try directory.rename(unfinished, to: finished)
        return finished
    }

    private static func isCopy(
        _ name: String, of bytes: UnsafeRawBufferPointer, in directory: any Directory
    ) throws -> Bool {
        let file = try directory.openFile(name, writable: false)
        guard try file.sizeBytes() == UInt64(bytes.count) else { return false }
        var offset = 0
        while offset < bytes.count {
            let count = min(1 << 20, bytes.count - offset)
            let piece = try file.read(count: count, at: UInt64(offset))
            guard bytes[offset..<(offset + count)].elementsEqual(piece) else { return false }
            offset += count
        }
        return true
    }

    /// Puts a seal where the kept frames end, and ends the file there.
    private func seal(_ reader: LogReader, at offset: Int) throws {
        guard case .valid(let header) = reader.header else { return }
        // All of the tail goes before the seal stands, after which a scan wants zeros: a crash
        // between leaves a short file without a seal, which the next recovery cuts in the same
        // place. A file that was cut within the last frame's padding gets it back.
        try reader.file.truncate(to: UInt64(offset))
        try reader.file.syncData()
        // A seal stands before the tail where the writer broke the segment off, and a power cut took
        // that back but for the seal. After a second one no scan would go on.
        if let kept = kept[reader.number], kept.isSealed, kept.endOffset == offset { return }
        let frame = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Frame.headerSizeBytes, alignment: 8)
        defer { frame.deallocate() }
        Frame.finish(
            at: frame.baseAddress!, payloadCount: 0, sequence: max(lastSequence, 1),
            durableSequence: lastSequence, flags: .seal, seed: header.seed)
        try reader.file.write(.init(frame), at: UInt64(offset))
        try reader.file.syncData()
    }
}
