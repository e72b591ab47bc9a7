import CRoost
import RoostIO
import Synchronization

/// A journal that another process may be writing to, read piece after piece as who follows the log comes along.
///
/// - Each piece is read and opened once. Of the content, what is from the last read's begin on is kept.
/// - A piece that does not open may be one that is being written. It is passed over only where something after it
///   opens, and it still does not when it is read once more: by then its writing has ended, as a writer
///   begins with nothing before that.
/// - What is passed over is zeros in the content. A writer, and recovery, put nothing after it that counts, but where
///   they write the same place of the content anew.
/// - How far is looked for what comes after a hole is bounded: a writer that goes on elsewhere begins another segment.
///
/// docs/decisions/0209.
struct JournalTail {
    private let base: any File
    private let keys: any JournalKeys
    private var part: JournalPart?
    /// Where the next piece is looked for in the file.
    private var place: UInt64 = 0
    /// What was read of the file at `place`.
    private var chunk = [UInt8](repeating: 0, count: Self.smallestChunkSizeBytes)
    private var content = Window()

    /// Reaches the next place for a part's header, wherever a piece ends.
    private static let smallestChunkSizeBytes = 8 << 10
    private static let largestChunkSizeBytes = 256 << 10

    init(_ base: any File, _ keys: any JournalKeys) {
        self.base = base
        self.keys = keys
    }

    /// The content's. A writer says it before it writes. Where nothing has told of more than was written, as in the
    /// copy of a segment, whose size is told by its last piece, all that there is, is read first.
    mutating func sizeBytes() throws -> UInt64 {
        if content.sizeBytes == content.writtenEnd { try advance(past: .max) }
        return UInt64(content.sizeBytes)
    }

    /// After it nothing of the content was written until now.
    mutating func writtenEnd() throws -> UInt64 {
        try advance(past: .max)
        return UInt64(content.writtenEnd)
    }

    /// Fills as much of `buffer` as the content has at `offset`; how much.
    ///
    /// - Throws: `.wrongKey` where a part is sealed under a key that is not to be had.
    mutating func readUp(
        to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws -> Int {
        let offset = Int(offset)
        if offset < content.begin { self = JournalTail(base, keys) }
        content.forget(before: offset)
        try advance(past: offset + buffer.count)
        return content.copy(to: buffer, at: offset)
    }

    // MARK: The file

    /// Takes over what there is, but not more than a stretch that goes past `end`: so the cut that follows upon a write
    /// that failed is taken with it.
    private mutating func advance(past end: Int) throws {
        while content.writtenEnd <= end {
            let count = try fill()
            let (taken, needed) = try take(count)
            place += UInt64(taken)
            if needed > chunk.count, try isWritten(upTo: needed) {
                chunk = [UInt8](repeating: 0, count: needed)
            } else if taken > 0 {
                let size = min(chunk.count * 4, Self.largestChunkSizeBytes)
                // Larger where more was there than fitted, and not kept for one large piece.
                if taken > chunk.count / 2 || size < chunk.count { resizeChunk(size) }
            } else if try !passHole(count) {
                return resizeChunk(Self.smallestChunkSizeBytes)
            }
        }
    }

    private mutating func resizeChunk(_ size: Int) {
        if chunk.count != size { chunk = [UInt8](repeating: 0, count: size) }
    }

    private mutating func fill() throws -> Int {
        let (base, place) = (base, place)
        return try chunk.withUnsafeMutableBytes { try base.readUp(to: $0, at: place) }
    }

    /// Takes over the pieces, and headers of parts, that stand one after another at the chunk's begin: how many
    /// bytes they are, and how many there have to be for the next piece, where it is cut off.
    private mutating func take(_ count: Int) throws -> (taken: Int, needed: Int) {
        var at = 0
        while at < count {
            let (found, size) = try chunk.withUnsafeBytes { bytes in
                try look(.init(rebasing: bytes[at..<count]), at: place + UInt64(at))
            }
            switch found {
            case .piece(let piece, let part):
                let isWhole = try chunk.withUnsafeBytes { bytes in
                    try content.apply(piece) {
                        try part.open(
                            piece, .init(rebasing: bytes[at..<count]), at: place + UInt64(at),
                            into: $0)
                    }
                }
                guard isWhole else { return (at, 0) }
                at += size
            case .header(let next):
                part = next
                at += size
            case .cut: return (at, at == 0 ? size : 0)
            case .nothing: return (at, 0)
            }
        }
        return (at, 0)
    }

    private enum Found {
        /// What says that it is a piece; it may not be whole.
        case piece(JournalPiece, JournalPart)
        case header(JournalPart)
        /// A piece that is longer than the bytes.
        case cut
        case nothing
    }

    private func look(
        _ bytes: UnsafeRawBufferPointer, at place: UInt64
    ) throws -> (Found, sizeBytes: Int) {
        if let part, let piece = part.header(bytes, at: place) {
            let isCut = piece.sealedSizeBytes > bytes.count
            return (isCut ? .cut : .piece(piece, part), piece.storedSizeBytes)
        }
        guard place.isMultiple(of: JournalPart.alignment), let header = SealedHeader(bytes),
            header.kind == .journal
        else { return (.nothing, 0) }
        return (.header(try keys.part(header)), SealedHeader.sizeBytes)
    }

    /// Whether the last bytes of a piece of `sizeBytes` at the place are there, so that reading all of it is worth
    /// while. They are no zeros, and written last.
    private func isWritten(upTo sizeBytes: Int) throws -> Bool {
        var end = [UInt8](repeating: 0, count: Sealed.tagSizeBytes)
        let offset = place + UInt64(sizeBytes - Sealed.tagSizeBytes)
        let count = try end.withUnsafeMutableBytes { try base.readUp(to: $0, at: offset) }
        return count == end.count && end.contains { $0 != 0 }
    }

    // MARK: Holes

    /// Goes to what comes after a hole at the place, within the chunk; `false` where there is nothing.
    private mutating func passHole(_ count: Int) throws -> Bool {
        guard let next = try nextWhole(min(count, Self.smallestChunkSizeBytes)) else {
            return false
        }
        // What stood in the way may have been in the writing when it was read. It was written before what comes after it.
        atomicMemoryFence(ordering: .acquiring)
        let again = try fill()
        let (found, _) = try chunk.withUnsafeBytes { bytes in
            try look(.init(rebasing: bytes[..<again]), at: place)
        }
        if case .piece(let piece, let part) = found, try isWhole(piece, part, 0, again) {
            return true
        }
        place += UInt64(next)
        return true
    }

    /// Where in the chunk a header of a part stands, or a piece that opens, but for its begin.
    private func nextWhole(_ count: Int) throws -> Int? {
        var at = JournalPiece.alignment
        while count - at >= JournalPiece.headerSizeBytes {
            let (found, _) = try chunk.withUnsafeBytes { bytes -> (Found, sizeBytes: Int) in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[at..<count])
                // No header is zeros.
                guard let begin = rest.baseAddress,
                    roost_is_zero(begin, JournalPiece.headerSizeBytes) == 0
                else { return (.nothing, 0) }
                return try look(rest, at: place + UInt64(at))
            }
            switch found {
            case .header: return at
            case .piece(let piece, let part) where try isWhole(piece, part, at, count): return at
            default: at += JournalPiece.alignment
            }
        }
        return nil
    }

    private func isWhole(
        _ piece: JournalPiece, _ part: JournalPart, _ at: Int, _ count: Int
    ) throws -> Bool {
        var opened = [UInt8](repeating: 0, count: piece.count)
        return try opened.withUnsafeMutableBytes { opened in
            try chunk.withUnsafeBytes { bytes in
                try part.open(
                    piece, .init(rebasing: bytes[at..<count]), at: place + UInt64(at), into: opened)
            }
        }
    }

    // MARK: The content

    /// The content from some offset on.
    private struct Window {
        private(set) var begin = 0
        private var bytes: [UInt8] = []
        private(set) var sizeBytes = 0
        /// After it nothing was written.
        private(set) var writtenEnd = 0
        private var opened = OpenedPiece()

        /// Takes a piece over where `open` says that it is whole.
        mutating func apply(
            _ piece: JournalPiece, _ open: (UnsafeMutableRawBufferPointer) throws -> Bool
        ) rethrows -> Bool {
            guard let content = try opened.content(of: piece, open) else { return false }
            defer { opened.shrink() }
            let offset = Int(piece.offset)
            switch piece.kind {
            case .write: write(content, at: offset)
            case .size, .room:
                sizeBytes = offset
                writtenEnd = min(writtenEnd, offset)
                bytes.removeLast(max(0, bytes.count - max(0, offset - begin)))
            }
            return true
        }

        private mutating func write(_ new: ArraySlice<UInt8>, at offset: Int) {
            let end = offset + new.count
            sizeBytes = max(sizeBytes, end)
            writtenEnd = max(writtenEnd, end)
            // What is before the window was read, and nobody asks for it again.
            let kept = new.dropFirst(max(0, begin - offset))
            guard !kept.isEmpty else { return }
            let from = max(offset, begin) - begin
            bytes.appendZeros(from + kept.count - bytes.count)
            bytes.replaceSubrange(from..<(from + kept.count), with: kept)
        }

        mutating func forget(before offset: Int) {
            // Not at each read: what is kept is moved.
            let goneCount = offset - begin
            guard goneCount >= max(bytes.count / 2, 4096) else { return }
            bytes.removeFirst(min(goneCount, bytes.count))
            begin = offset
        }

        func copy(to buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
            let count = min(buffer.count, max(0, sizeBytes - offset))
            guard count > 0 else { return 0 }
            let target = UnsafeMutableRawBufferPointer(rebasing: buffer[..<count])
            let kept = max(0, min(count, bytes.count - (offset - begin)))
            bytes.withUnsafeBytes { bytes in
                guard kept > 0 else { return }
                let first = offset - begin
                target.copyMemory(from: .init(rebasing: bytes[first..<(first + kept)]))
            }
            UnsafeMutableRawBufferPointer(rebasing: target[kept...])
                .initializeMemory(as: UInt8.self, repeating: 0)
            return count
        }
    }
}
