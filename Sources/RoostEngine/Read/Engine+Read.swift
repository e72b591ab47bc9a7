import RoostFormat
import RoostIO
import RoostSnapshot

/// A key's value as a read found it: resident, or as bytes. Not copied: counting what it holds cost
/// a cold read more than its checksums.
package struct FoundValue: ~Copyable {
    /// The decoded value, where it is resident, and its type.
    package let resident: Resident?
    /// Kind and payload, valid as long as `owner` is held.
    package let bytes: UnsafeRawBufferPointer
    package let owner: AnyObject?
    /// What must still hold when the decoded value is made resident.
    package let origin: Origin
    /// The key's hash, where the look-up leaves it for `makeResident`.
    let hash: WideHash?

    init(
        resident: Resident?, bytes: UnsafeRawBufferPointer, owner: AnyObject?, origin: Origin,
        hash: WideHash? = nil
    ) {
        self.resident = resident
        self.bytes = bytes
        self.owner = owner
        self.origin = origin
        self.hash = hash
    }

    package enum Origin: Hashable, Sendable {
        case resident
        /// At this address in the log.
        case log(UInt)
        /// In the snapshots of this epoch, the dictionary last emptied then.
        case cold(epoch: UInt64, clearedSequence: UInt64)
        /// In a snapshot that a read view holds.
        case view
    }
}

extension FoundValue {
    /// A put that was found in the cold storage that `hold` keeps, decompressed where it has to be.
    init(
        _ found: ColdRecord, keptBy hold: AnyObject, origin: Origin, hash: WideHash? = nil
    ) throws {
        let record = found.record
        guard record.flags.isCompressed else {
            self.init(
                resident: nil, bytes: record.stored, owner: hold, origin: origin, hash: hash)
            return
        }
        let value = record.compressed
        let count = try found.snapshot._withUnsafeGuaranteedRef { try $0.checkedCount(of: value) }
        let roomCount = count + SnapshotReader.spareSizeBytes
        let owner = ValueBuffer.make(count: roomCount)
        let room = owner.memory(count: roomCount)
        try found.snapshot._withUnsafeGuaranteedRef { try $0.decompress(value, into: room) }
        self.init(
            resident: nil, bytes: UnsafeRawBufferPointer(rebasing: room[..<count]), owner: owner,
            origin: origin, hash: hash)
    }
}

extension FoundValue {
    /// Throws `.io` where a page could not be read that `bytes` stand on: to be called once they were decoded or
    /// copied, before what was made of them is given out. Costs a load where no page of any mapping ever failed.
    @inline(__always)
    package func checkRead() throws {
        if MappedRegion.faultCount != 0 { try checkReadBehindFaults() }
    }

    @inline(never)
    private func checkReadBehindFaults() throws {
        try checkStored(bytes, origin: origin, owner: owner)
    }

    /// Calls `body` with the bytes, and then looks whether they could be read.
    package func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        try withExtendedLifetime(self) { found in
            do {
                let result = try body(found.bytes)
                try found.checkRead()
                return result
            } catch {
                // It may be wrong with what could not be read.
                try found.checkRead()
                throw error
            }
        }
    }
}

/// Throws `.io` where a page could not be read that `bytes`, which `owner` keeps, stand on.
func checkStored(
    _ bytes: UnsafeRawBufferPointer, origin: FoundValue.Origin, owner: AnyObject?
) throws {
    if case .log(let location) = origin {
        // Its lengths say where the value is.
        try region(of: location, keptBy: owner)?.checkRead(Operation(location: location))
    } else if let start = bytes.baseAddress, bytes.count > 0,
        let region = region(of: UInt(bitPattern: start), keptBy: owner)
    {
        try region.checkRead(from: start - UnsafeRawPointer(region.base), count: bytes.count)
    }
}

/// The memory among that which `owner` keeps that has `location`. Makes no list of all: once a page of the process was
/// lost each read asks.
private func region(of location: UInt, keptBy owner: AnyObject?) -> MappedRegion? {
    switch owner {
    case let regions as RegionList: regions.region(of: location)
    case let part as ViewPart: part.region(of: location)
    case let hold as ColdHold: hold.storage.region(of: location)
    case let storage as ColdStorage: storage.region(of: location)
    default: nil
    }
}

/// Memory for a value that was decompressed: the object's own, after its header.
private final class ValueBuffer: ManagedBuffer<Void, UInt8> {
    static func make(count: Int) -> ValueBuffer {
        // What `create` of a subclass makes is of that class.
        unsafeDowncast(create(minimumCapacity: max(count, 1)) { _ in }, to: ValueBuffer.self)
    }

    /// Valid as long as the object is held.
    func memory(count: Int) -> UnsafeMutableRawBufferPointer {
        withUnsafeMutablePointerToElements { .init(start: $0, count: count) }
    }
}

extension Engine {
    /// The value of a key, or `nil`. Synchronous, from any thread; takes the shard's mutex for
    /// the look-up, and reads from cold storage without it.
    package func find(
        _ key: String, name: DictionaryName, isResidentAllowed: Bool = true
    ) throws -> FoundValue? {
        defer { withExtendedLifetime(name) {} }
        return try find(key, prefix: name.prefixBytes, isResidentAllowed: isResidentAllowed)
    }

    /// As above; `prefix` is the name's `prefixBytes`, and who calls holds the name.
    package func find(
        _ key: String, prefix: UnsafeRawBufferPointer, isResidentAllowed: Bool = true
    ) throws -> FoundValue? {
        try condition.checkOpen()
        // What the closure captures is counted, unless it is no reference.
        let (hashSeed, shards) = (hashSeed, shardPlaces)
        defer { withExtendedLifetime(self) {} }
        return try withLookUpKey(key, behind: prefix) { recordKey in
            let hash = hashSeed.wideHash(recordKey)
            // Handed out so, as it is not copied.
            var found: FoundValue?
            try shards.withShard(of: hash.hash) {
                found = try $0.find(recordKey, hash, isResidentAllowed: isResidentAllowed)
            }
            return found
        }
    }

    /// Which state of cold storage would answer a read of a key whose newest record, if it has
    /// one, is only in a snapshot; `nil` for any other key. Reads with the same answer may be
    /// shared.
    package func coldState(_ key: String, name: DictionaryName) -> FoundValue.Origin? {
        name.withRecordKey(key) { recordKey in
            let hash = hashSeed.wideHash(recordKey)
            return shard(of: hash.hash).coldState(recordKey, hash)
        }
    }

    /// Whether a key has a value; decodes and decompresses nothing.
    package func contains(_ key: String, prefix: UnsafeRawBufferPointer) throws -> Bool {
        try condition.checkOpen()
        defer { withExtendedLifetime(self) {} }
        let (hashSeed, shards) = (hashSeed, shardPlaces)
        return try withLookUpKey(key, behind: prefix) { recordKey in
            let hash = hashSeed.hash(recordKey)
            return try shards.withShard(of: hash) { try $0.contains(recordKey, hash: hash) }
        }
    }

    /// Whether a record has a value, by its whole key. As no view begins, nothing is made and told on the way that others
    /// wait for: so it may be asked with a mutex held that those who are told take.
    package func contains(recordKey: [UInt8]) throws -> Bool {
        try condition.checkOpen()
        return try recordKey.withUnsafeBytes { recordKey in
            let hash = hashSeed.hash(recordKey)
            return try shard(of: hash).contains(recordKey, hash: hash)
        }
    }

    /// Makes `value`, decoded from what `found` held, resident, unless the key has moved on or the
    /// budget is spent and the key was not read lately; `value` is made only where it is.
    package func makeResident(
        _ value: @autoclosure () -> Resident, costBytes: Int, found: borrowing FoundValue,
        key: String,
        name: DictionaryName
    ) {
        defer { withExtendedLifetime((self, name)) {} }
        let (hashSeed, shards) = (hashSeed, shardPlaces)
        let isChecked = !configuration.plantedFaults.contains(.staleResidents)
        withLookUpKey(key, behind: name.prefixBytes) { recordKey in
            let hash = found.hash ?? hashSeed.wideHash(recordKey)
            shards.withShard(of: hash.hash) {
                $0.makeResident(
                    value(), costBytes: costBytes, found: found, recordKey, hash,
                    isChecked: isChecked)
            }
        }
    }
}

extension Shard {
    private enum LookUp: Sendable {
        case resident(Resident)
        case log(Operation, RegionList)
        case cold(ColdHold, epoch: UInt64, clearedSequence: UInt64)
        case absent
    }

    nonisolated func find(
        _ key: UnsafeRawBufferPointer, _ wide: WideHash, isResidentAllowed: Bool
    ) throws -> FoundValue? {
        let hash = wide.hash
        let lookUp = published.withLock { state -> LookUp in
            // Where the key may stand is far from each other, and none of it in the cache.
            state.active.prefetchSlot(hash)
            state.cold.prefetch(key, hash: hash)
            if isResidentAllowed, state.staged.isEmpty || !state.isStaged(hash),
                let resident = state.residents.find(hash, fingerprint: { wide.fingerprint })
            {
                state.counters.residentCount &+= 1
                return .resident(resident)
            }
            switch state.place(of: key, hash: hash) {
            case .log(let operation):
                state.counters.logCount &+= 1
                return .log(operation, state.owner(of: operation))
            case .cold(let clearedSequence):
                state.counters.coldCount &+= 1
                return .cold(state.cold, epoch: state.epoch, clearedSequence: clearedSequence)
            case .absent: return .absent
            }
        }
        if case .log(let operation, _) = lookUp { operation.touch() }
        try checkLogRead(key, hash: hash)
        switch lookUp {
        case .resident(let resident):
            guard clock.isLive(resident.deadline) else {
                published.withLock { $0.residents.remove(hash) }
                return nil
            }
            return FoundValue(
                resident: resident, bytes: .init(start: nil, count: 0), owner: nil,
                origin: .resident)
        case .log(let operation, let owner):
            guard clock.isLive(operation.deadline) else {
                // Where it could not be read there are zeros.
                try checkLogRead(key, hash: hash)
                return nil
            }
            return FoundValue(
                resident: nil, bytes: operation.value, owner: owner,
                origin: .log(operation.location))
        case .absent: return nil
        case .cold(let hold, let epoch, let clearedSequence):
            return try findCold(
                key, wide, in: hold, epoch: epoch, clearedSequence: clearedSequence)
        }
    }

    private nonisolated func findCold(
        _ key: UnsafeRawBufferPointer, _ hash: WideHash, in hold: ColdHold, epoch: UInt64,
        clearedSequence: UInt64
    ) throws -> FoundValue? {
        guard let found = try hold.find(key, hash: hash.hash),
            found.record.isLive(clearedSequence, clock)
        else { return nil }
        return try FoundValue(
            found, keptBy: hold,
            origin: .cold(epoch: epoch, clearedSequence: clearedSequence), hash: hash)
    }

    nonisolated func coldState(
        _ key: UnsafeRawBufferPointer, _ wide: WideHash
    ) -> FoundValue.Origin? {
        published.withLock { state in
            guard case .cold(let clearedSequence) = state.place(of: key, hash: wide.hash),
                state.residents.find(wide.hash, fingerprint: { wide.fingerprint }) == nil
            else { return nil }
            return .cold(epoch: state.epoch, clearedSequence: clearedSequence)
        }
    }

    nonisolated func contains(_ key: UnsafeRawBufferPointer, hash: UInt64) throws -> Bool {
        let (place, deadline, hold) = published.withLock { state in
            state.cold.prefetch(key, hash: hash)
            let place = state.place(of: key, hash: hash)
            // Read here, as the log's memory may go once the mutex is given back.
            let deadline =
                if case .log(let operation) = place { operation.deadline } else { Deadline.never }
            return (place, deadline, state.cold)
        }
        try checkLogRead(key, hash: hash)
        switch place {
        case .log: return clock.isLive(deadline)
        case .absent: return false
        case .cold(let clearedSequence):
            guard let found = try hold.find(key, hash: hash) else { return false }
            return found.record.isLive(clearedSequence, clock)
        }
    }

    nonisolated func makeResident(
        _ value: @autoclosure () -> Resident, costBytes: Int, found: borrowing FoundValue,
        _ key: UnsafeRawBufferPointer, _ wide: WideHash, isChecked: Bool = true
    ) {
        let hash = wide.hash
        published.withLock { state in
            guard state.residents.admits(hash, costBytes: costBytes) else { return }
            let isCurrent =
                switch (found.origin, state.place(of: key, hash: hash)) {
                case (.log(let location), .log(let operation)): operation.location == location
                case (.cold(let epoch, let cleared), .cold(let clearedNow)):
                    state.epoch == epoch && cleared == clearedNow
                default: false
                }
            guard isCurrent || !isChecked else { return }
            state.residents.insert(
                value(), hash: hash, fingerprint: wide.fingerprint, costBytes: costBytes)
        }
    }
}

extension RecordGroup.Record {
    /// Whether a record of a snapshot is a value that a read shows: a put, not older than the last
    /// clear of its dictionary, and not expired.
    @inline(__always)
    func isLive(_ clearedSequence: UInt64, _ clock: ExpiryClock) -> Bool {
        isPut && sequence >= clearedSequence && clock.isLive(deadline)
    }
}
