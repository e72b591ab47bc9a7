import RoostIO
import Synchronization

/// Which chunks of a sealed file are open in memory, and opens the others.
///
/// - `states` has a one for each chunk that is open. It is set, releasing, once the chunk's memory is written,
///   under the lock of the chunk's stripe; who has loaded it, acquiring, may read that memory, which
///   is never written again.
///
/// `@unchecked Sendable`: the stored properties are constants; what `states` points to are atomics, and the memory
/// follows the rule above.
final class OpenedChunks: RegionOpener, @unchecked Sendable {
    private let file: ChunkedFile
    private let pressure: MemoryPressure
    private let openSizeBytes = Atomic(0)
    private let memory: MappedRegion
    /// The file as it is stored, where it can be mapped: a call for each chunk costs as much as opening it.
    let stored: MappedRegion?
    private let chunkCount: Int
    private let states: UnsafeMutablePointer<Atomic<UInt64>>
    private let wordCount: Int
    /// Chunks that are opened side by side are seldom of one stripe.
    private let stripes: [Stripe]

    /// Has room for one sealed chunk, so that none is asked for each time.
    private final class Stripe: Sendable {
        let room: Mutex<ChunkRoom>
        init() { room = Mutex(ChunkRoom()) }
    }

    init(
        _ file: ChunkedFile, _ memory: MappedRegion, stored: MappedRegion?, count: Int,
        _ pressure: MemoryPressure
    ) {
        self.stored = stored
        self.pressure = pressure
        self.file = file
        self.memory = memory
        chunkCount = count
        wordCount = (count + 63) / 64
        states = .allocate(capacity: wordCount)
        for index in 0..<wordCount { (states + index).initialize(to: Atomic(0)) }
        stripes = (0..<8).map { _ in Stripe() }
    }

    deinit {
        pressure.add(-openSizeBytes.load(ordering: .relaxed))
        states.deinitialize(count: wordCount)
        states.deallocate()
    }

    func open(offset: Int, count: Int) throws {
        guard count > 0, offset >= 0, offset < memory.sizeBytes else { return }
        let last = (min(offset + count, memory.sizeBytes) - 1) / ChunkedFile.chunkSizeBytes
        var chunk = offset / ChunkedFile.chunkSizeBytes
        while chunk <= last {
            if !isOpen(chunk) { try open(chunk) }
            chunk += 1
        }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws {
        try file.read(into: buffer, at: UInt64(offset))
    }

    /// What is opened there is not counted: it is one file's, and few have one.
    func apart(always: Bool) throws -> MappedRegion? {
        var place: (any Sendable)?
        if !always {
            let closedBytes = memory.sizeBytes - openSizeBytes.load(ordering: .relaxed)
            if pressure.hasRoom(for: closedBytes) { return nil }
            place = pressure.placeApart()
            if place == nil { return nil }
        }
        return try file.map(
            sizeBytes: memory.sizeBytes, MemoryPressure(limitBytes: .max, holding: place))
    }

    private func isOpen(_ chunk: Int) -> Bool {
        states[chunk / 64].load(ordering: .acquiring) & (1 << UInt64(chunk % 64)) != 0
    }

    @inline(never)
    private func open(_ chunk: Int) throws {
        let openedBytes = try stripes[chunk % stripes.count].room.withLock { room in
            if isOpen(chunk) { return 0 }
            let begin = chunk * ChunkedFile.chunkSizeBytes
            let target = UnsafeMutableRawBufferPointer(
                start: memory.base + begin,
                count: min(ChunkedFile.chunkSizeBytes, memory.sizeBytes - begin))
            try file.open(
                UInt64(chunk), isLast: chunk == chunkCount - 1, of: stored, by: room, into: target)
            states[chunk / 64].bitwiseOr(1 << UInt64(chunk % 64), ordering: .releasing)
            openSizeBytes.wrappingAdd(target.count, ordering: .relaxed)
            return target.count
        }
        // As much as goes again at the end: the last chunk is shorter, and another thread may have been here first.
        if openedBytes > 0 { pressure.add(openedBytes) }
    }
}

/// Memory for one sealed chunk.
struct ChunkRoom: ~Copyable {
    let bytes = UnsafeMutableRawBufferPointer.allocate(
        byteCount: ChunkedFile.storedChunkSizeBytes, alignment: 64)

    deinit { bytes.deallocate() }
}
