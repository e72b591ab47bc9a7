import RoostFormat
import RoostIO

/// A shard's writes that readers see already and the log does not have yet: those that were enqueued while
/// something came first that conflicts with them. Their places are in `ShardTurn.queue`.
///
/// - They are laid out as frames of one operation each, in memory, with provisional sequence
///   numbers above all others: so readers find them as they find what is in the log, and first.
/// - `table` has the newest write of each key in `writes`, and `writes` all, in order. Neither is
///   ever empty: a shard without such writes has no `EnqueuedWrites`.
/// - The memory of a write is published with it, under the shard's mutex, and never written
///   again.
struct EnqueuedWrites: Sendable {
    struct Write: Sendable {
        let operation: Operation
        let hash: UInt64
        let region: MappedRegion

        /// The provisional sequence number.
        var version: UInt64 { operation.sequence }
        var sizeBytes: Int {
            EnqueuedWrites.sizeBytes(keyCount: operation.keyCount, valueCount: operation.valueCount)
        }
    }

    /// Real sequence numbers are below it.
    static let firstVersion = Limits.number
    /// Values from here on get memory of their own, which is filled without the shard's mutex.
    static let largeSizeBytes = 16 << 10
    private static let largestChunkSizeBytes = 1 << 20

    private(set) var table = LogTable()
    private(set) var writes: [Write] = []
    /// The versions of those that have their place in the log since, and go before the turn is given
    /// back.
    private(set) var committed: Set<UInt64> = []
    private var chunk: MappedRegion?
    private var usedBytes = 0

    static func sizeBytes(keyCount: Int, valueCount: Int) -> Int {
        Frame.sizeBytes(payloadCount: Operation.headerSizeBytes + keyCount + valueCount)
    }

    /// Lays a write out at `start`.
    static func lay(
        _ value: EncodedValue?, _ key: UnsafeRawBufferPointer, at start: UnsafeMutableRawPointer
    ) {
        Operation.write(value, key, to: start + Frame.headerSizeBytes)
    }

    /// Adds a small write, which is laid out here.
    mutating func add(
        _ value: EncodedValue?, _ key: UnsafeRawBufferPointer, hash: UInt64, version: UInt64
    ) {
        let size = Self.sizeBytes(keyCount: key.count, valueCount: value?.count ?? 0)
        if chunk == nil || usedBytes + size > chunk!.sizeBytes {
            let next = min((chunk?.sizeBytes ?? 2048) * 2, Self.largestChunkSizeBytes)
            chunk = .anonymous(sizeBytes: max(next, size))
            usedBytes = 0
        }
        let start = chunk!.base + usedBytes
        usedBytes += size
        Self.lay(value, key, at: start)
        add(at: start, in: chunk!, hash: hash, version: version)
    }

    /// Adds a write that is laid out at `start` and that nobody else knows of.
    mutating func add(
        at start: UnsafeMutableRawPointer, in region: MappedRegion, hash: UInt64, version: UInt64
    ) {
        start.storeBytes(
            of: version.littleEndian, toByteOffset: Frame.sequenceOffset, as: UInt64.self)
        enter(
            Write(
                operation: Operation(address: start + Frame.headerSizeBytes), hash: hash,
                region: region))
    }

    private mutating func enter(_ write: Write) {
        if writes.last?.region !== write.region { table.hold(write.region) }
        table.insert(write.operation, hash: write.hash, sequence: write.version)
        writes.append(write)
    }

    mutating func noteCommitted(_ version: UInt64) { committed.insert(version) }

    /// What is left without the writes of these versions; `nil` where that is nothing.
    func without(_ versions: Set<UInt64>) -> EnqueuedWrites? {
        var rest = EnqueuedWrites()
        rest.chunk = chunk
        rest.usedBytes = usedBytes
        for write in writes where !versions.contains(write.version) { rest.enter(write) }
        return rest.writes.isEmpty ? nil : rest
    }
}

/// The sequence numbers that the last few enqueued writes got: whoever read one under its
/// provisional number may rest on it.
struct EnqueuedPlaces: Sendable {
    private static let capacity = 256
    private var last: [(version: UInt64, sequence: UInt64)] = []

    mutating func note(_ version: UInt64, _ sequence: UInt64) {
        if last.count == Self.capacity { last.removeFirst(Self.capacity / 2) }
        last.append((version, sequence))
    }

    func sequence(of version: UInt64) -> UInt64? {
        guard version >= EnqueuedWrites.firstVersion else { return nil }
        return last.last { $0.version == version }?.sequence
    }
}

extension Operation {
    /// Writes a put, or with no value a removal, as the only operation of its frame.
    @inline(__always)
    static func write(
        _ value: EncodedValue?, _ key: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer
    ) {
        writeHeader(
            to: target, kind: value?.operationKind ?? .remove, keyCount: key.count,
            valueCount: value?.count ?? 0, frameOffset: Frame.headerSizeBytes)
        (target + headerSizeBytes).copyMemory(from: key.baseAddress!, byteCount: key.count)
        value?.write(to: target + headerSizeBytes + key.count)
    }
}
