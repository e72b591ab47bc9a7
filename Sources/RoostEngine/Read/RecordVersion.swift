import RoostFormat
import RoostSnapshot

/// Which record of a key a read found: what a conditional write compares.
package struct RecordVersion: Sendable, Hashable {
    /// The sequence number of the batch that put the value; zero where the key has none, be it
    /// that it never had, was removed, or went with its dictionary.
    package let sequence: UInt64
    /// Where it was found: as long as the key is still there, nothing has to be looked up again.
    let origin: FoundValue.Origin?
    /// When the value expires: the key has none then, so this version is over.
    package let deadline: Deadline

    package init(sequence: UInt64, deadline: Deadline = .never) {
        self.init(sequence: sequence, origin: nil, deadline: deadline)
    }

    init(sequence: UInt64, origin: FoundValue.Origin?, deadline: Deadline = .never) {
        self.sequence = sequence
        self.origin = origin
        self.deadline = deadline
    }
}

/// A key's value as a read found it, and its version.
package struct VersionedValue: ~Copyable {
    package let found: FoundValue?
    package let version: RecordVersion

    /// Kind and payload, valid as long as this is held.
    package var storedBytes: UnsafeRawBufferPointer? {
        switch found {
        case .some(let found): found.bytes
        case .none: nil
        }
    }

    /// As `FoundValue.checkRead`.
    package func checkRead() throws {
        switch found {
        case .some(let found): try found.checkRead()
        case .none: break
        }
    }
}

extension Engine {
    /// The value of a key as bytes, or `nil`, and its version. Synchronous, from any thread.
    package func findVersioned(
        _ key: String, name: DictionaryName
    ) throws -> VersionedValue {
        try condition.checkOpen()
        var found = VersionedValue(found: nil, version: RecordVersion(sequence: 0))
        try name.withRecordKey(key) { recordKey in
            let hash = hashSeed.hash(recordKey)
            found = try shard(of: hash).findVersioned(recordKey, hash: hash)
        }
        return found
    }
}

extension Shard {
    nonisolated func findVersioned(
        _ key: UnsafeRawBufferPointer, hash: UInt64
    ) throws -> VersionedValue {
        let (place, owner, hold, epoch) = published.withLock { state in
            let place = state.place(of: key, hash: hash)
            guard case .log(let operation) = place else {
                return (place, RegionList?.none, state.cold, state.epoch)
            }
            return (place, state.owner(of: operation), state.cold, state.epoch)
        }
        if case .log(let operation) = place { operation.touch() }
        try checkLogRead(key, hash: hash)
        switch place {
        case .absent: return VersionedValue(found: nil, version: RecordVersion(sequence: 0))
        case .log(let operation):
            let origin = FoundValue.Origin.log(operation.location)
            let deadline = operation.deadline
            guard clock.isLive(deadline) else {
                return VersionedValue(
                    found: nil, version: RecordVersion(sequence: 0, origin: origin))
            }
            return VersionedValue(
                found: FoundValue(
                    resident: nil, bytes: operation.value, owner: owner, origin: origin),
                version: RecordVersion(
                    sequence: operation.sequence, origin: origin, deadline: deadline))
        case .cold(let clearedSequence):
            let origin = FoundValue.Origin.cold(epoch: epoch, clearedSequence: clearedSequence)
            guard let found = try hold.find(key, hash: hash),
                found.record.isLive(clearedSequence, clock)
            else {
                return VersionedValue(
                    found: nil, version: RecordVersion(sequence: 0, origin: origin))
            }
            return VersionedValue(
                found: try FoundValue(found, keptBy: hold, origin: origin),
                version: RecordVersion(
                    sequence: found.record.sequence, origin: origin,
                    deadline: found.record.deadline))
        }
    }

    /// Whether the newest visible record of a key is still the one that `version` names, which had not
    /// expired a moment ago. Called with the turn, so it does not ask what the time is: a record counts
    /// as expired where somebody has found it so before, as whoever read a version of no value has.
    nonisolated func isCurrent(
        _ version: RecordVersion, _ key: UnsafeRawBufferPointer, hash: UInt64
    ) throws -> Bool {
        let (place, hold, epoch, sequence) = published.withLock { state in
            // An enqueued write that was read has its place among the changes by now.
            let sequence = state.places.sequence(of: version.sequence) ?? version.sequence
            return (state.place(of: key, hash: hash), state.cold, state.epoch, sequence)
        }
        try checkLogRead(key, hash: hash)
        switch place {
        case .absent: return sequence == 0
        case .log(let operation):
            // What had expired then, and is still the newest, has expired now.
            if sequence == 0 { return clock.hasFoundPast(operation.deadline) }
            return operation.sequence == sequence
        case .cold(let clearedSequence):
            if version.origin == .cold(epoch: epoch, clearedSequence: clearedSequence) {
                return true
            }
            // A flush or a merge came between: the record may have moved, and is the same one.
            guard let found = try hold.find(key, hash: hash), found.record.isPut,
                found.record.sequence >= clearedSequence,
                !clock.hasFoundPast(found.record.deadline)
            else { return sequence == 0 }
            return found.record.sequence == sequence
        }
    }
}
