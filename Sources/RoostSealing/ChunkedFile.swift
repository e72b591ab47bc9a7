import RoostIO
import Synchronization

/// A sealed file that is written once, from its begin to its end, as snapshots and manifests are: chunks of
/// 4 KiB, each with a tag, so that reading one record opens one or two of them.
///
/// - A chunk is sealed once, when it is full or, for the last, at the sync that ends the writing: no nonce is
///   used for two contents. After that sync the file takes no more.
/// - The last chunk is sealed in another role than those before it, so a file that was cut between two
///   chunks does not open.
final class ChunkedFile: File {
    static let chunkSizeBytes = 4096
    static let storedChunkSizeBytes = chunkSizeBytes + Sealed.tagSizeBytes

    private struct Writing {
        /// `true` too of a file that was opened for reading.
        var isEnded: Bool
        /// Why its end could not be written.
        var failure: (any Error)?
        /// What is not sealed yet, less than a chunk, or one that may be the last.
        var pending: [UInt8] = []
        var sealedCount: UInt64 = 0

        var sizeBytes: UInt64 {
            sealedCount * UInt64(ChunkedFile.chunkSizeBytes) + UInt64(pending.count)
        }
    }

    let base: any File
    private let cipher: any SealingCipher
    private let pressure: MemoryPressure
    private let writing: Mutex<Writing>

    var path: String { base.path }

    /// Begins a new file.
    init(
        new base: any File, _ header: SealedHeader, _ sealer: Sealer, _ pressure: MemoryPressure
    ) throws {
        self.pressure = pressure
        self.base = base
        cipher = sealer.cipher
        writing = Mutex(Writing(isEnded: false))
        try header.bytes.withUnsafeBytes { try base.write($0, at: 0) }
    }

    init(_ base: any File, _ sealer: Sealer, _ pressure: MemoryPressure) {
        self.pressure = pressure
        self.base = base
        cipher = sealer.cipher
        writing = Mutex(Writing(isEnded: true))
    }

    // MARK: Writing

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws {
        try writing.withLock { state in
            guard !state.isEnded, offset == state.sizeBytes else { throw refused("written to") }
            var rest = bytes
            while !rest.isEmpty {
                if state.pending.count == Self.chunkSizeBytes {
                    try seal(&state, Sealed.Role.chunk)
                }
                let count = min(rest.count, Self.chunkSizeBytes - state.pending.count)
                state.pending += rest[..<(rest.startIndex + count)]
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }

    private func seal(_ state: inout Writing, _ role: UInt32) throws {
        let number = state.sealedCount
        var sealed = [UInt8](repeating: 0, count: state.pending.count + Sealed.tagSizeBytes)
        try state.pending.withUnsafeBytes { plain in
            try sealed.withUnsafeMutableBytes { target in
                try cipher.seal(
                    plain, SealingNonce(position: number, role: role),
                    authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: target)
            }
        }
        try sealed.withUnsafeBytes { try base.write($0, at: Self.offset(ofChunk: number)) }
        state.sealedCount += 1
        state.pending.removeAll(keepingCapacity: true)
    }

    /// Ends the writing with its first call. Where the end could not be written no later call says that it is on disk.
    func syncData() throws {
        try writing.withLock { state in
            if let failure = state.failure { throw failure }
            if state.isEnded { return }
            // Whatever becomes of the write, this nonce is used.
            state.isEnded = true
            do { try seal(&state, Sealed.Role.lastChunk) } catch {
                state.failure = error
                throw error
            }
        }
        try base.syncData()
    }

    private func refused(_ what: String) -> RoostError {
        RoostError(.io, "a sealed file of this kind is not \(what) once it is written", file: path)
    }

    func preallocate(sizeBytes: UInt64) throws {}
    func truncate(to sizeBytes: UInt64) throws { throw refused("cut") }
    func forgetCached() { base.forgetCached() }

    // MARK: Reading

    private static func offset(ofChunk number: UInt64) -> UInt64 {
        UInt64(SealedHeader.sizeBytes) + number * UInt64(storedChunkSizeBytes)
    }

    /// How many chunks the file has, and how many bytes the last one.
    private func extent() throws -> (chunkCount: UInt64, lastSizeBytes: Int) {
        let header = UInt64(SealedHeader.sizeBytes)
        let size = try base.sizeBytes()
        let stored = UInt64(Self.storedChunkSizeBytes)
        let body = size - min(size, header)
        let (whole, rest) = body.quotientAndRemainder(dividingBy: stored)
        if rest == 0, whole > 0 { return (whole, Self.chunkSizeBytes) }
        guard rest >= UInt64(Sealed.tagSizeBytes) else {
            throw RoostError(
                .corrupt, "the file was cut. Restore a backup, or salvage what can be read",
                file: path, offset: size)
        }
        return (whole + 1, Int(rest) - Sealed.tagSizeBytes)
    }

    func sizeBytes() throws -> UInt64 {
        if let size = writing.withLock({ $0.isEnded ? nil : $0.sizeBytes }) { return size }
        let (count, last) = try extent()
        return (count - 1) * UInt64(Self.chunkSizeBytes) + UInt64(last)
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws {
        guard !buffer.isEmpty else { return }
        let (count, last) = try extent()
        let size = (count - 1) * UInt64(Self.chunkSizeBytes) + UInt64(last)
        guard offset <= size, UInt64(buffer.count) <= size - offset else {
            throw RoostError(.corrupt, "the file ends early", file: path, offset: size)
        }
        let chunkSize = UInt64(Self.chunkSizeBytes)
        let room = ChunkRoom()
        var plain: [UInt8] = []
        var done = 0
        while done < buffer.count {
            let (number, within) = (offset + UInt64(done)).quotientAndRemainder(
                dividingBy: chunkSize)
            let isLast = number == count - 1
            let plainCount = isLast ? last : Self.chunkSizeBytes
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            if within == 0, rest.count >= plainCount {
                // All of it was asked for.
                let target = UnsafeMutableRawBufferPointer(rebasing: rest[..<plainCount])
                try open(number, isLast: isLast, of: nil, by: room, into: target)
                done += plainCount
                continue
            }
            if plain.isEmpty { plain = [UInt8](repeating: 0, count: Self.chunkSizeBytes) }
            try plain.withUnsafeMutableBytes { plain in
                let target = UnsafeMutableRawBufferPointer(rebasing: plain[..<plainCount])
                try open(number, isLast: isLast, of: nil, by: room, into: target)
                let taken = min(rest.count, plainCount - Int(within))
                rest.copyMemory(
                    from: .init(rebasing: plain[Int(within)..<(Int(within) + taken)]))
                done += taken
            }
        }
    }

    /// Fills `target`, which is as long as the chunk, by way of `room`. Where `stored` is there, it is the file.
    func open(
        _ number: UInt64, isLast: Bool, of stored: MappedRegion?, by room: borrowing ChunkRoom,
        into target: UnsafeMutableRawBufferPointer
    ) throws {
        let offset = Self.offset(ofChunk: number)
        let sealed = UnsafeMutableRawBufferPointer(
            rebasing: room.bytes[..<(target.count + Sealed.tagSizeBytes)])
        if let stored {
            // A copy, as another program may change the file between two looks at it.
            let here = stored.bytes[Int(offset)..<(Int(offset) + sealed.count)]
            sealed.copyMemory(from: .init(rebasing: here))
            try stored.checkRead(from: Int(offset), count: sealed.count)
        } else {
            try base.read(into: sealed, at: offset)
        }
        let role = isLast ? Sealed.Role.lastChunk : Sealed.Role.chunk
        guard
            try cipher.open(
                UnsafeRawBufferPointer(sealed), SealingNonce(position: number, role: role),
                authenticating: UnsafeRawBufferPointer(start: nil, count: 0), into: target)
        else {
            throw RoostError(
                .corrupt,
                "a sealed chunk was changed. Restore a backup, or salvage what can be read",
                file: path, offset: offset)
        }
    }

    /// Memory whose chunks are opened when they are required.
    func map(sizeBytes: Int, writable: Bool) throws -> MappedRegion? {
        if writable { return nil }
        return try map(sizeBytes: sizeBytes, pressure)
    }

    /// As the other; what is opened is counted by `pressure`.
    func map(sizeBytes: Int, _ pressure: MemoryPressure) throws -> MappedRegion? {
        guard sizeBytes > 0 else { return nil }
        let (count, last) = try extent()
        guard sizeBytes == (Int(count) - 1) * Self.chunkSizeBytes + last else { return nil }
        let storedSize = Int(Self.offset(ofChunk: count - 1)) + last + Sealed.tagSizeBytes
        let stored = try base.map(sizeBytes: storedSize, writable: false)
        let memory = try MappedRegion.anonymous(sizeBytes: sizeBytes, for: path)
        let chunks = OpenedChunks(self, memory, stored: stored, count: Int(count), pressure)
        return MappedRegion(
            base: memory.base, sizeBytes: sizeBytes, path: path, openedBy: chunks,
            advise: { advice, place, sizeBytes in
                guard let stored else { return }
                Self.advise(stored, advice, memory.base.distance(to: place), sizeBytes)
            },
            release: { _, _ in withExtendedLifetime(memory) {} })
    }

    /// Hands advice on the content on to the file's pages. None concerns the memory that chunks are opened into.
    private static func advise(
        _ stored: MappedRegion, _ advice: MappedRegion.Advice, _ offset: Int, _ sizeBytes: Int
    ) {
        switch advice {
        case .readsAreRandom: stored.expectRandomReads()
        case .willBeReadWhole:
            let begin = Int(Self.offset(ofChunk: UInt64(offset / chunkSizeBytes)))
            let chunkCount = (sizeBytes + chunkSizeBytes - 1) / chunkSizeBytes + 1
            stored.readAhead(offset: begin, sizeBytes: chunkCount * storedChunkSizeBytes)
        case .dropPages, .willBeWritten: break
        }
    }

    // For those that one opening at a time has.
    func holdLock() throws { try base.holdLock() }
    func releaseLock() throws { try base.releaseLock() }
    func isLocked() throws -> Bool { try base.isLocked() }
}
