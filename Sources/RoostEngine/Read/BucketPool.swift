import RoostIO
import Synchronization

/// Memory for full buckets, ready to be written to, of all tables of the process.
///
/// A writer that needs a bucket holds its shard, and must not wait for the kernel to clear pages.
/// So a thread gets them ahead, in pages as large as the kernel gives, for which a random look-up
/// waits less; and what one table gives back the next one takes.
///
/// - `free` has addresses in chunks of `chunkSizeBytes`, each of `bucketsInChunk` buckets.
/// - The thread begins with the first table that outgrows one bucket. What nobody has taken for
///   some seconds goes back to the kernel.
final class BucketPool: Sendable {
    static let shared = BucketPool()

    private struct State {
        var free: [UInt] = []
        var isFilling = false
        var isTrimPlanned = false
        /// Of those in `free`, how many were not taken since the last trim.
        var leastFreeCount = 0
    }

    private let state = Mutex(State())
    private let thread = WorkerThread(name: "roost-memory")

    private static let chunkSizeBytes = LargePages.sizeBytes
    private static let bucketSizeBytes = SlotBucket.sizeBytes(
        capacity: SlotDirectory.fullBucketCapacity)
    private static let bucketsInChunk = chunkSizeBytes / bucketSizeBytes
    /// With fewer than these another chunk is got.
    private static let readyCount = 16
    private let trimInterval: Duration

    init(trimInterval: Duration = .seconds(2)) { self.trimInterval = trimInterval }

    /// How many are ready to be taken.
    var freeCount: Int { state.withLock { $0.free.count } }

    /// Memory for a bucket, not cleared; `nil` where none is ready.
    func take() -> UnsafeMutableRawPointer? {
        let (address, fills) = state.withLock { state in
            let address = state.free.popLast()
            state.leastFreeCount = min(state.leastFreeCount, state.free.count)
            let fills = state.free.count < Self.readyCount && !state.isFilling
            if fills { state.isFilling = true }
            return (address, fills)
        }
        if fills { Task.detached(executorPreference: thread.forTasks) { self.fill() } }
        return address.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
    }

    func give(_ memory: UnsafeMutableRawPointer) {
        let plans = state.withLock { state in
            state.free.append(UInt(bitPattern: memory))
            defer { state.isTrimPlanned = true }
            return !state.isTrimPlanned
        }
        if plans { Task.detached(executorPreference: thread.forTasks) { await self.trimLater() } }
    }

    private func fill() {
        // Where there is no memory, who takes none allocates it.
        let chunk = LargePages.map(sizeBytes: Self.chunkSizeBytes).map { UInt(bitPattern: $0) }
        state.withLock { state in
            state.isFilling = false
            guard let chunk else { return }
            for index in (0..<Self.bucketsInChunk).reversed() {
                state.free.append(chunk + UInt(index * Self.bucketSizeBytes))
            }
        }
    }

    // MARK: Giving back

    private func trimLater() async {
        while true {
            // Cancelled by nobody.
            try? await Task.sleep(for: trimInterval)
            let (chunks, isDone) = state.withLock { state in
                let wasIdle = state.leastFreeCount >= Self.bucketsInChunk
                let chunks = Self.takeChunks(&state)
                state.leastFreeCount = state.free.count
                // Else something was taken lately, or may be whole the next time.
                let isDone =
                    chunks.isEmpty && (wasIdle || state.free.count < Self.bucketsInChunk)
                if isDone { state.isTrimPlanned = false }
                return (chunks, isDone)
            }
            for chunk in chunks {
                let memory = UnsafeMutableRawPointer(bitPattern: chunk).unsafelyUnwrapped
                LargePages.unmap(memory, sizeBytes: Self.chunkSizeBytes)
            }
            if isDone { return }
        }
    }

    /// Takes out of `free` the chunks that lie in it whole, as many as nobody has needed.
    private static func takeChunks(_ state: inout State) -> [UInt] {
        let surplus = state.leastFreeCount / bucketsInChunk
        guard surplus > 0 else { return [] }
        var counts: [UInt: Int] = [:]
        for address in state.free { counts[address & ~UInt(chunkSizeBytes - 1), default: 0] += 1 }
        let chunks = counts.filter { $0.value == bucketsInChunk }.keys.prefix(surplus)
        let taken = Set(chunks)
        state.free.removeAll { taken.contains($0 & ~UInt(chunkSizeBytes - 1)) }
        return Array(chunks)
    }
}
