import CRoost
import RoostIO
import Synchronization

/// A sealed file that is written in pieces, as log segments are: each write, and each change of the size, is one
/// sealed piece after the others, and the file's content is what they say one after another.
///
/// - A piece is written where none was before in this opening, also after one that failed. Each opening that
///   writes begins a part of its own, with a new salt and so a new key, at the next 4 KiB: no nonce is used
///   for two contents, whatever a crash has taken. So does the first write under a new data key: nothing is
///   sealed under an old one from then on.
/// - What a crash has left of a piece does not open. Pieces after it do, where they are found, so that a hole in
///   the content is seen as one (`JournalContent`).
/// - Where the file can be mapped, pieces are sealed straight into the preallocated part of it
///   (`JournalMapping`): a call for each costs several times what the sealing does.
final class JournalFile: File {
    struct State {
        var part: JournalPart?
        /// After everything that was written to the file.
        var end: UInt64
        var sizeBytes: UInt64
        /// After the last piece that was written whole in this opening, and the content's end by then.
        var whole: (end: UInt64, sizeBytes: UInt64)?
        /// What was read last; `nil` once something was written.
        var content: JournalContent?
        var isRead: Bool
        /// Whether all of it was written once more since it was opened, and no sync has failed since.
        var isWrittenAgain = false
        /// Whether its first write is on disk.
        var isBegun: Bool
        /// What pieces are stored through, of a file that this opening has made.
        var mapping: JournalMapping?
        /// Where another program has cut the file, once that was seen.
        var cutSizeBytes: UInt64?
        /// From where `readUp` reads on as another process writes; `nil` before its first call, and once all of the content
        /// was asked for.
        var tail: JournalTail?
    }

    let base: any File
    private let keys: any JournalKeys
    private let state: Mutex<State>
    /// Whether another process may be writing to it.
    private let isShared: Bool

    var path: String { base.path }

    /// A file that was just created.
    init(new base: any File, _ keys: any JournalKeys) {
        self.base = base
        self.keys = keys
        state = Mutex(State(end: 0, sizeBytes: 0, isRead: true, isBegun: false))
        isShared = false
    }

    /// - Parameter writable: Where this is `false` another process may be writing to it, and `readUp` reads on as it
    ///   does, until all of the content is asked for.
    init(_ base: any File, _ keys: any JournalKeys, writable: Bool) {
        self.base = base
        self.keys = keys
        state = Mutex(State(end: 0, sizeBytes: 0, isRead: false, isBegun: true))
        isShared = !writable
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try state.withLock { state in
            try load(&state)
            if let content = state.content, content.has(bytes, at: offset) {
                // What asks for it does so a piece of the content at a time.
                if !state.isWrittenAgain { try writeAgain(content) }
                state.isWrittenAgain = true
                return
            }
            try append(.write, bytes, offset: offset, &state)
            state.sizeBytes = max(state.sizeBytes, offset + UInt64(bytes.count))
            state.whole = (state.end, offset + UInt64(bytes.count))
            // Without its first header a log segment's frames say nothing. In a plain file a crash that
            // takes the header takes the frames in its sector too; here they are elsewhere.
            if !state.isBegun { try base.syncData() }
            state.isBegun = true
        }
    }

    func preallocate(sizeBytes: UInt64) throws {
        try state.withLock { state in
            try load(&state)
            guard sizeBytes > state.sizeBytes else { return }
            let storedSize = JournalPiece.storedSizeBytes(preallocating: sizeBytes)
            let isNew = state.end == 0
            try base.preallocate(sizeBytes: storedSize)
            do {
                try append(.room, .init(start: nil, count: 0), offset: sizeBytes, &state)
            } catch {
                if isNew { empty() }
                throw error
            }
            state.sizeBytes = sizeBytes
            if isNew { state.mapping = try JournalMapping(base, sizeBytes: Int(storedSize)) }
        }
    }

    /// Takes back what there is of a header that could not be written: who made the file removes it, and where that
    /// fails too, a file with half a header among the log's segments would be taken for a damaged one.
    private func empty() {
        // The first failure is the one to tell.
        do { try base.truncate(to: 0) } catch {}
    }

    func truncate(to sizeBytes: UInt64) throws {
        try state.withLock { state in
            try load(&state)
            let end: UInt64
            do {
                try append(.size, .init(start: nil, count: 0), offset: sizeBytes, &state)
                end = state.end
            } catch let error as RoostError where error.code == .outOfSpace {
                // What could not be written goes without a piece that says so, for which there is no room either.
                guard let whole = state.whole, whole.sizeBytes == sizeBytes else { throw error }
                end = whole.end
                // The header of the part may go with it: what is written next begins another.
                state.part = nil
            }
            state.sizeBytes = sizeBytes
            // What is stored after the file's end reaches no file.
            state.mapping = nil
            // Gives back what was preallocated.
            try base.truncate(to: end)
        }
    }

    /// Writes what is in the file once more, where it stands: what is asked for is there, and may not be on disk.
    private func writeAgain(_ content: JournalContent) throws {
        let pieceSize: UInt64 = 1 << 20
        for begin in stride(from: 0, to: content.storedEnd, by: Int(pieceSize)) {
            let count = Int(min(pieceSize, content.storedEnd - begin))
            let bytes = try base.read(count: count, at: begin)
            try bytes.withUnsafeBytes { try base.write($0, at: begin) }
        }
    }

    private func append(
        _ kind: JournalPiece.Kind, _ bytes: UnsafeRawBufferPointer, offset: UInt64,
        _ state: inout State
    ) throws {
        try state.refuseCut(base)
        if state.part?.keyNumber != keys.currentKeyNumber { try beginPart(&state) }
        guard let part = state.part else { preconditionFailure("a part was begun") }
        let piece = JournalPiece(kind: kind, offset: offset, count: bytes.count)
        let place = state.end
        // Whatever becomes of the write, nothing else is written there.
        state.end += UInt64(piece.storedSizeBytes)
        state.content = nil
        // The first write is a log segment's header, which a call writes in a plain log too; a change of the size
        // is to be told where there is no room.
        if kind == .write, state.isBegun,
            let target = state.mapping?.memory(at: place, count: piece.storedSizeBytes)
        {
            try part.seal(piece, bytes, at: place, into: target)
            return try state.checkStored(target, at: place, in: base)
        }
        try withUnsafeTemporaryAllocation(byteCount: piece.storedSizeBytes, alignment: 16) {
            target in
            let target = UnsafeMutableRawBufferPointer(rebasing: target[..<piece.storedSizeBytes])
            try part.seal(piece, bytes, at: place, into: target)
            try state.refuseCutBeforeCall(base)
            try base.write(UnsafeRawBufferPointer(target), at: place)
        }
    }

    private func beginPart(_ state: inout State) throws {
        let alignment = JournalPart.alignment
        let place = (state.end + alignment - 1) / alignment * alignment
        let (part, header) = try keys.newPart()
        state.end = place + UInt64(header.count)
        try header.withUnsafeBytes { try base.write($0, at: place) }
        state.part = part
    }

    /// The log keeps its frames here. Pages that are made ready for frames are so for their pieces too.
    func memory(sizeBytes: Int) -> MappedRegion {
        let memory = MappedRegion.anonymous(sizeBytes: sizeBytes)
        guard state.withLock({ $0.mapping != nil }) else { return memory }
        return MappedRegion(
            base: memory.base, sizeBytes: sizeBytes,
            advise: { [weak self] advice, base, size in
                guard case .willBeWritten = advice else { return }
                roost_prefault(base, size)
                self?.prefault(forContent: size)
            },
            release: { _, _ in withExtendedLifetime(memory) {} })
    }

    private func prefault(forContent sizeBytes: Int) {
        let pages = state.withLock { state in
            state.mapping?.nextPages(from: state.end, forContent: sizeBytes)
        }
        // Without the lock: writers go on meanwhile.
        if let pages { pages.region.prefault(offset: pages.begin, sizeBytes: pages.sizeBytes) }
    }

    func syncData() throws {
        do { try base.syncData() } catch {
            state.withLock { $0.isWrittenAgain = false }
            throw error
        }
    }

    func forgetCached() { base.forgetCached() }

    // MARK: Reading

    /// Of a file that was opened, where it ends.
    private func load(_ state: inout State) throws {
        if state.isRead { return }
        let content = try JournalContent(base, keys, isShared: isShared)
        state.tail = nil
        state.isRead = true
        state.content = content
        state.end = content.storedEnd
        state.sizeBytes = content.sizeBytes
    }

    private func content() throws -> JournalContent {
        try state.withLock { state in
            try load(&state)
            if let content = state.content { return content }
            let content = try JournalContent(base, keys, isShared: isShared)
            state.content = content
            return content
        }
    }

    func sizeBytes() throws -> UInt64 {
        try state.withLock { state in
            if let size = try state.tail?.sizeBytes() { return size }
            try load(&state)
            return state.sizeBytes
        }
    }

    func writtenEnd() throws -> UInt64 {
        // Who reads on as another process writes has it from there: all of the content would be read, and be kept as it is.
        let followed = try state.withLock { state in try state.tail?.writtenEnd() }
        return try followed ?? content().writtenEnd
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        let content = try content()
        guard offset <= content.sizeBytes, UInt64(buffer.count) <= content.sizeBytes - offset else {
            throw RoostError(.corrupt, "the file ends early", file: path, offset: content.sizeBytes)
        }
        guard let target = buffer.baseAddress else { return }
        target.copyMemory(from: content.region.base + Int(offset), byteCount: buffer.count)
    }

    func readUp(
        to buffer: UnsafeMutableRawBufferPointer, at offset: UInt64
    ) throws -> Int {
        let followed = try state.withLock { state -> Int? in
            guard isShared, !state.isRead else { return nil }
            if state.tail == nil { state.tail = JournalTail(base, keys) }
            return try state.tail?.readUp(to: buffer, at: offset)
        }
        if let followed { return followed }
        let size = try sizeBytes()
        let count = min(buffer.count, Int(size - min(size, offset)))
        if count > 0 { try read(into: .init(rebasing: buffer[..<count]), at: offset) }
        return count
    }

    /// The content as it is now, in memory.
    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        guard !writable, sizeBytes > 0 else { return nil }
        let content = try content()
        return content.region.sizeBytes == sizeBytes ? content.region : nil
    }

    func holdLock() throws { try base.holdLock() }
    func releaseLock() throws { try base.releaseLock() }
    func isLocked() throws -> Bool { try base.isLocked() }
}

/// The keys of a journal's parts.
protocol JournalKeys: Sendable {
    /// Of the data key that a part is to begin under now.
    var currentKeyNumber: UInt64 { get }
    /// A part that begins now, and the header that stands before its pieces.
    func newPart() throws -> (part: JournalPart, header: [UInt8])
    /// The part after a header.
    ///
    /// - Throws: `.wrongKey` where its data key is not known.
    func part(_ header: SealedHeader) throws -> JournalPart
}
