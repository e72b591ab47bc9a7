import RoostFormat

/// The slots of a shard's residents: found by hash, and grown by a bucket at a time, as the shard's
/// readers wait meanwhile.
///
/// - A slot's location is a value that the table holds a reference to, and zero where it has none.
/// - A slot without a value may hold a hash, which nothing but `takeHash` looks at: in the first
///   such slot from the hash's home on, where a look-up of it ends.
/// - Within a bucket no slot without a value lies between a value and its home.
struct ResidentTable: ~Copyable {
    typealias Slot = UnsafeMutablePointer<SlotBucket.Slot>

    private var slots = SlotDirectory(capacity: 16)
    private(set) var count = 0

    deinit {
        slots.forEachBucket { bucket in
            for slot in bucket.all(capacity: slots.bucketCapacity) where slot.location != 0 {
                Self.unmanaged(slot).release()
            }
            return true
        }
    }

    @inline(__always)
    private static func unmanaged(_ slot: SlotBucket.Slot) -> Unmanaged<Resident> {
        .fromOpaque(UnsafeRawPointer(bitPattern: slot.location).unsafelyUnwrapped)
    }

    /// The slot of the value whose key has `hash`. Valid until the next change.
    @inline(__always)
    func slot(of hash: UInt64) -> Slot? {
        let mask = slots.mask
        let bucket = slots.bucket(of: hash).slots
        var index = SlotBucket.home(of: hash, mask: mask)
        while bucket[index].location != 0 {
            if bucket[index].hash == hash { return bucket + index }
            index = (index + 1) & mask
        }
        return nil
    }

    @inline(__always)
    func value(in slot: Slot) -> Resident { Self.unmanaged(slot.pointee).takeUnretainedValue() }

    @inline(__always)
    func prefetchSlot(_ hash: UInt64) { slots.prefetchSlot(hash) }

    /// Brings the value of the key with `hash` into the cache, where there is one.
    @inline(__always)
    func prefetchValue(_ hash: UInt64) {
        guard let slot = slot(of: hash) else { return }
        prefetch(UnsafeRawPointer(bitPattern: slot.pointee.location).unsafelyUnwrapped)
    }

    /// Where a look-up of what is not there ends.
    private func vacantSlot(for hash: UInt64) -> Slot {
        let mask = slots.mask
        let bucket = slots.bucket(of: hash).slots
        var index = SlotBucket.home(of: hash, mask: mask)
        while bucket[index].location != 0 { index = (index + 1) & mask }
        return bucket + index
    }

    /// Adds the value of a key that has none here.
    mutating func add(_ value: Resident, hash: UInt64) {
        while slots.bucket(of: hash).count >= slots.bucketCapacity / 2 {
            slots = slots.grown(for: hash)
        }
        vacantSlot(for: hash).pointee = .init(
            hash: hash, location: UInt(bitPattern: Unmanaged.passRetained(value).toOpaque()))
        slots.bucket(of: hash).count += 1
        count += 1
    }

    /// Empties a slot that has a value, and moves back what had been pushed past it.
    mutating func remove(_ slot: Slot) {
        let mask = slots.mask
        let bucket = slots.bucket(of: slot.pointee.hash)
        let all = bucket.slots
        let removed = Self.unmanaged(slot.pointee)
        var hole = slot - all
        var next = (hole + 1) & mask
        while all[next].location != 0 {
            let home = SlotBucket.home(of: all[next].hash, mask: mask)
            if (next - home) & mask >= (next - hole) & mask {
                all[hole] = all[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        all[hole] = SlotBucket.Slot()
        bucket.count -= 1
        count -= 1
        removed.release()
    }

    /// Whether `hash`, of a value that is not here, was left, and then takes it away; else leaves it.
    mutating func takeHash(_ hash: UInt64) -> Bool {
        let slot = vacantSlot(for: hash)
        let isHere = slot.pointee.hash == hash && hash != 0
        slot.pointee.hash = isHere ? 0 : hash
        return isHere
    }

    mutating func leaveHash(_ hash: UInt64) { vacantSlot(for: hash).pointee.hash = hash }
}
