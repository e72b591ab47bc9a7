import RoostFormat
import RoostIO

/// A few puts and removals that rest on a few keys' being as they were read: what `Engine.commitAtOnce`
/// commits, without a view. docs/decisions/0202.
///
/// - Each read is of its own moment. That all of them hold at one is checked at the commit.
/// - What it does not do is declined, and belongs into a transaction: values that expire, more than a few keys
///   or bytes, a log with a page that cannot be read.
package struct CheckedBatch: ~Copyable {
    /// A key as a read found it.
    struct Read {
        let recordKey: [UInt8]
        let hash: UInt64
        /// Where its value is; `nil` where it has none.
        let origin: FoundValue.Origin?
        /// Keeps the memory mapped, so that no other record comes to stand at the same address.
        let owner: AnyObject?
    }

    /// A batch with more changes is declined: each shard looks at all of them.
    private static let changeLimit = 32
    /// A larger batch is declined, as the shards are held while it is copied to the log.
    private static let payloadLimitBytes = 256 << 10

    private let engine: Engine
    private(set) var reads: [Read] = []
    private(set) var changes: [EncodedBatch.Change] = []
    private var memory: UnsafeMutableRawBufferPointer
    private var payloadCount = 0
    /// Whether something in it is for a transaction to do.
    package private(set) var isDeclined = false
    /// The state of the guards under which it brings with it what its dictionaries ask for.
    private let guardGeneration: UInt64

    package init(_ engine: Engine, guardGeneration: UInt64) {
        self.engine = engine
        self.guardGeneration = guardGeneration
        memory = .allocate(byteCount: 512, alignment: 8)
        reads.reserveCapacity(2)
        changes.reserveCapacity(6)
    }

    deinit { memory.deallocate() }

    var payload: UnsafeRawBufferPointer { .init(rebasing: memory[..<payloadCount]) }
    var generation: UInt64 { guardGeneration }
    var faults: PlantedFaults { engine.configuration.plantedFaults }
    var shardCount: Int { engine.shards.count }

    // MARK: Reading

    /// Calls `body` with the value of a key, kind and payload, or with `nil`; returns `nil` without a call
    /// where that is declined.
    package mutating func withValue<Result>(
        of recordKey: [UInt8], _ body: (UnsafeRawBufferPointer?) throws -> Result
    ) throws -> Result? {
        try engine.condition.checkOpen()
        let hash = recordKey.withUnsafeBytes { engine.hashSeed.hash($0) }
        let found = try recordKey.withUnsafeBytes { key in
            try engine.shard(of: hash).look(at: key, hash: hash)
        }
        guard let found else {
            isDeclined = true
            return nil
        }
        reads.append(
            Read(recordKey: recordKey, hash: hash, origin: found.origin, owner: found.owner))
        return try withExtendedLifetime(found.owner) {
            let result = try body(found.bytes)
            try found.checkRead()
            return result
        }
    }

    // MARK: Changing

    /// Puts, or with no value removes, a record whose key consists of these parts, the first of which begins
    /// with its dictionary's prefix.
    package mutating func write(
        _ value: EncodedValue?, _ prefix: [UInt8], _ key: [UInt8], _ suffix: [UInt8] = []
    ) {
        let keyCount = prefix.count + key.count + suffix.count
        let sizeBytes = Operation.headerSizeBytes + keyCount + (value?.count ?? 0)
        guard changes.count < Self.changeLimit, makeRoom(sizeBytes) else {
            isDeclined = true
            return
        }
        let frameOffset = Frame.headerSizeBytes + payloadCount
        let start = memory.baseAddress.unsafelyUnwrapped + payloadCount
        payloadCount += sizeBytes
        Operation.writeHeader(
            to: start, kind: value?.operationKind ?? .remove, keyCount: keyCount,
            valueCount: value?.count ?? 0, frameOffset: frameOffset)
        let keyStart = start + Operation.headerSizeBytes
        keyStart.copy(prefix)
        (keyStart + prefix.count).copy(key)
        (keyStart + prefix.count + key.count).copy(suffix)
        value?.write(to: keyStart + keyCount)
        let hash = engine.hashSeed.hash(.init(start: keyStart, count: keyCount))
        changes.append(.init(hash: hash, frameOffset: frameOffset))
    }

    private mutating func makeRoom(_ sizeBytes: Int) -> Bool {
        let needed = payloadCount + sizeBytes
        if needed <= memory.count { return true }
        guard needed <= Self.payloadLimitBytes else { return false }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(needed, memory.count * 2), alignment: 8)
        larger.copyMemory(from: payload)
        memory.deallocate()
        memory = larger
        return true
    }

    /// The key of a change.
    func key(of change: EncodedBatch.Change) -> UnsafeRawBufferPointer {
        Operation(
            address: memory.baseAddress.unsafelyUnwrapped + change.frameOffset
                - Frame.headerSizeBytes
        ).key
    }

    /// The shards of the keys that are read or changed, in ascending order.
    func shardIndices(count: Int) -> [Int] {
        var indices: [Int] = []
        indices.reserveCapacity(reads.count + changes.count)
        for read in reads { indices.add(shardIndex(of: read.hash, shardCount: count)) }
        for change in changes { indices.add(shardIndex(of: change.hash, shardCount: count)) }
        return indices
    }
}

extension [Int] {
    /// Into an ascending array, once.
    fileprivate mutating func add(_ number: Int) {
        var place = endIndex
        while place > 0, self[place - 1] >= number { place -= 1 }
        if place < endIndex, self[place] == number { return }
        insert(number, at: place)
    }
}

extension Shard {
    /// A key's newest visible value: its bytes, valid as long as `owner` is held, and where it is.
    struct Looked {
        let bytes: UnsafeRawBufferPointer?
        let origin: FoundValue.Origin?
        let owner: AnyObject?

        /// As `FoundValue.checkRead`.
        func checkRead() throws {
            guard MappedRegion.faultCount != 0, let bytes, let origin else { return }
            try checkStored(bytes, origin: origin, owner: owner)
        }
    }

    /// Looks at a key's newest visible record; `nil` where its value expires, or a page cannot be read.
    nonisolated func look(at key: UnsafeRawBufferPointer, hash: UInt64) throws -> Looked? {
        let (place, regions, hold, epoch) = published.withLock { state in
            let place = state.place(of: key, hash: hash)
            switch place {
            case .log(let operation):
                return (place, Optional(state.owner(of: operation)), ColdHold?.none, UInt64(0))
            case .cold: return (place, RegionList?.none, Optional(state.cold), state.epoch)
            case .absent: return (place, RegionList?.none, ColdHold?.none, UInt64(0))
            }
        }
        if case .log(let operation) = place { operation.touch() }
        // The transaction meets the same page, and says which it is.
        do { try checkLogRead(key, hash: hash) } catch { return nil }
        switch place {
        case .absent: return Looked(bytes: nil, origin: nil, owner: nil)
        case .log(let operation):
            guard !operation.expires else { return nil }
            return Looked(
                bytes: operation.value, origin: .log(operation.location), owner: regions)
        case .cold(let clearedSequence):
            guard let hold else { return nil }
            let origin = FoundValue.Origin.cold(epoch: epoch, clearedSequence: clearedSequence)
            guard let found = try hold.find(key, hash: hash), found.record.isPut,
                found.record.sequence >= clearedSequence
            else { return Looked(bytes: nil, origin: origin, owner: hold) }
            guard found.record.deadline == .never else { return nil }
            let value = try FoundValue(found, keptBy: hold, origin: origin)
            return Looked(bytes: value.bytes, origin: origin, owner: value.owner)
        }
    }
}
