import RoostFormat
import RoostIO

/// What the pieces of a journal say, one after another: the file as who wrote it takes it to be.
///
/// A piece that does not open is a hole: the search goes on after it, eight bytes at a time, for a piece of
/// the same part or the header of another. What is found then is content all the same. The hole is filled with
/// what stands there, sealed as it is, and so is the end where nothing is found: zeros where a crash has taken
/// what was not synced, and else what no reader takes for content. So who reads it sees a torn end, or damage,
/// as in a plain file.
struct JournalContent: Sendable {
    /// Its bytes; empty content has one of no use.
    let region: MappedRegion
    let sizeBytes: UInt64
    /// After it nothing was ever written to the content.
    let writtenEnd: UInt64
    /// After it there are zeros in the file.
    let storedEnd: UInt64

    /// - Parameter isShared: Whether another process may be writing to it, or cut it: in a mapping that is a fault.
    init(_ base: any File, _ keys: any JournalKeys, isShared: Bool) throws {
        // What is preallocated, or a hole, is not looked at.
        let writtenSize = try base.writtenEnd()
        let storedSize = try base.sizeBytes()
        let lookedAt = Int(min(writtenSize, storedSize))
        let stored: MappedRegion
        if isShared {
            stored = try .anonymous(sizeBytes: lookedAt, for: base.path)
            // What was cut meanwhile is zeros.
            _ = try base.readUp(to: .init(start: stored.base, count: lookedAt), at: 0)
        } else {
            stored = try base.contents(sizeBytes: Int(storedSize))
        }
        var walk = Walk(.init(rebasing: stored.bytes.prefix(lookedAt)), keys)
        try walk.run()
        try stored.checkRead()
        let content = walk.content.finished(storedSizeBytes: storedSize)
        region = content.region
        sizeBytes = UInt64(content.sizeBytes)
        writtenEnd = UInt64(content.writtenEnd)
        storedEnd = UInt64(walk.storedEnd)
    }

    /// Whether `bytes` stand at `offset`.
    func has(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) -> Bool {
        guard offset <= sizeBytes, UInt64(bytes.count) <= sizeBytes - offset else { return false }
        let here = region.bytes[Int(offset)..<(Int(offset) + bytes.count)]
        return equalBytes(bytes, UnsafeRawBufferPointer(rebasing: here))
    }

    /// Goes through the bytes of the file.
    private struct Walk {
        let bytes: UnsafeRawBufferPointer
        let keys: any JournalKeys
        /// Grows by what ends in zeros.
        private(set) var storedEnd: Int
        var content = Content()
        private var part: JournalPart?
        /// Where the last piece ended that was not followed by another.
        private var breakOffset: Int?

        init(_ bytes: UnsafeRawBufferPointer, _ keys: any JournalKeys) {
            self.bytes = bytes
            self.keys = keys
            storedEnd = bytes.count - trailingZeroCount(bytes)
        }

        mutating func run() throws {
            var place = 0
            while place < storedEnd {
                if let size = try piece(at: place) {
                    breakOffset = nil
                    place += size
                } else if let size = try header(at: place) {
                    // A new part, of which a crash may have left no more: it says nothing of what is missing.
                    if isZero(from: breakOffset ?? place, to: place) { breakOffset = nil }
                    place += size
                } else {
                    if breakOffset == nil { breakOffset = place }
                    place += JournalPiece.alignment
                }
            }
            guard let breakOffset else { return storedEnd = max(storedEnd, place) }
            content.appendTorn(
                .init(rebasing: bytes[breakOffset..<storedEnd]), isWhole: breakOffset == 0)
        }

        private func isZero(from begin: Int, to end: Int) -> Bool {
            leadingZeroCount(.init(rebasing: bytes[begin..<end])) == end - begin
        }

        private mutating func header(at place: Int) throws -> Int? {
            guard UInt64(place).isMultiple(of: JournalPart.alignment),
                let header = SealedHeader(.init(rebasing: bytes[place...])),
                header.kind == .journal
            else { return nil }
            part = try keys.part(header)
            return SealedHeader.sizeBytes
        }

        private mutating func piece(at place: Int) throws -> Int? {
            guard let part, bytes.count - place >= JournalPiece.headerSizeBytes else { return nil }
            let rest = UnsafeRawBufferPointer(rebasing: bytes[place...])
            guard let piece = part.piece(rest, at: UInt64(place)),
                try content.apply(
                    piece, behind: hole(before: place),
                    { try part.open(piece, rest, at: UInt64(place), into: $0) })
            else { return nil }
            return piece.storedSizeBytes
        }

        /// What stands between the last piece and `place`, without the header of the first that is missing.
        private func hole(before place: Int) -> UnsafeRawBufferPointer {
            let begin = min(place, (breakOffset ?? place) + JournalPiece.headerSizeBytes)
            return UnsafeRawBufferPointer(rebasing: bytes[begin..<place])
        }
    }

    /// The content as far as the walk has come.
    private struct Content {
        private var bytes: [UInt8] = []
        private(set) var sizeBytes = 0
        private(set) var writtenEnd = 0
        /// Where the last write ended.
        private var lastEnd = 0
        /// Whether the size is one that the file was preallocated for.
        private var isRoom = false
        private var opened = OpenedPiece()

        /// Takes a piece over where `open` says that it is whole.
        mutating func apply(
            _ piece: JournalPiece, behind hole: UnsafeRawBufferPointer,
            _ open: (UnsafeMutableRawBufferPointer) throws -> Bool
        ) rethrows -> Bool {
            guard let content = try opened.content(of: piece, open) else { return false }
            let offset = Int(piece.offset)
            if offset > lastEnd, !hole.isEmpty {
                write(Array(hole.prefix(offset - lastEnd))[...], at: lastEnd)
            }
            switch piece.kind {
            case .write: write(content, at: offset)
            case .size, .room:
                isRoom = piece.kind == .room
                sizeBytes = offset
                if bytes.count > offset { bytes.removeLast(bytes.count - offset) }
                writtenEnd = min(writtenEnd, offset)
                lastEnd = min(lastEnd, offset)
            }
            return true
        }

        private mutating func write(_ new: ArraySlice<UInt8>, at offset: Int) {
            let end = offset + new.count
            bytes.appendZeros(end - bytes.count)
            bytes.replaceSubrange(offset..<end, with: new)
            sizeBytes = max(sizeBytes, end)
            writtenEnd = max(writtenEnd, end)
            lastEnd = end
        }

        /// - Parameter isWhole: Whether nothing of the file could be read, its first header neither.
        mutating func appendTorn(_ torn: UnsafeRawBufferPointer, isWhole: Bool) {
            if isWhole { return write(Array(torn)[...], at: 0) }
            // As much as the content of one piece can have been.
            let end = max(JournalPiece.headerSizeBytes, torn.count - Sealed.tagSizeBytes)
            let rest = Array(torn.prefix(end).dropFirst(JournalPiece.headerSizeBytes))
            write(rest.contains { $0 != 0 } ? rest[...] : [.max], at: lastEnd)
        }

        mutating func finished(
            storedSizeBytes: UInt64
        ) -> (region: MappedRegion, sizeBytes: Int, writtenEnd: Int) {
            // A plain file that was cut is too short; here the size stands in a piece, which may be before the cut.
            if isRoom,
                storedSizeBytes < JournalPiece.storedSizeBytes(preallocating: UInt64(sizeBytes))
            {
                sizeBytes = lastEnd
            }
            let region = MappedRegion.anonymous(sizeBytes: sizeBytes)
            bytes.withUnsafeBytes { [sizeBytes] bytes in
                guard let base = bytes.baseAddress else { return }
                region.base.copyMemory(from: base, byteCount: min(bytes.count, sizeBytes))
            }
            return (region, sizeBytes, writtenEnd)
        }
    }
}
