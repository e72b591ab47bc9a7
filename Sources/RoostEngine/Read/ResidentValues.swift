import RoostFormat

/// A decoded value in a box, the type of what is in it, and when it expires.
package struct Resident: Sendable {
    package let box: any Sendable & AnyObject
    package let type: ObjectIdentifier
    package let deadline: Deadline

    package init(box: any Sendable & AnyObject, type: ObjectIdentifier, deadline: Deadline = .never)
    {
        self.box = box
        self.type = type
        self.deadline = deadline
    }
}

/// Decoded values held in memory under a budget, evicted by S3-FIFO (Yang, Zhang, Qiu, Yue,
/// Rashmi: "FIFO queues are all you need for cache eviction", SOSP 2023).
///
/// Unlike there a value that is read for the first time while the budget is spent leaves its
/// fingerprint and does not enter: read once more, it enters the main queue. So a scan evicts
/// nothing, and costs the cache one look. While there is room a value enters a small queue; one
/// that is read again before it leaves goes to the main queue, one that is not leaves only its
/// fingerprint behind. docs/decisions/0035.
///
/// - `slots` is open-addressed with linear probing and holds an entry's index plus one, and above
///   it half of the hash, so that a look-up of what is not there touches nothing else.
/// - A slot without an entry may hold a fingerprint, the half of a hash above a zero: that of a value
///   which left unread, or did not enter, in the slot where its look-up ended. A newer one displaces
///   it, and an entry does: then its value takes one read more to enter.
/// - A key is known by 128 bits of keyed hash: `hash` and `fingerprint`.
struct ResidentValues {
    private struct Entry {
        var hash: UInt64
        var fingerprint: UInt64
        var value: Resident?
        var costBytes: Int32
        var frequency: UInt8
        var isInMain: Bool
    }

    private var slots: [UInt64] = []
    private var entries: [Entry] = []
    private var free: [UInt32] = []
    private var small = IndexQueue()
    private var main = IndexQueue()
    private var smallBytes = 0
    private(set) var count = 0
    private(set) var sizeBytes = 0
    private let budgetBytes: Int

    /// What an entry costs beside its value.
    static let overheadBytes = 96

    init(budgetBytes: Int) { self.budgetBytes = budgetBytes }

    /// The value of a key, noted as used.
    @inline(__always)
    mutating func find(_ hash: UInt64, fingerprint: () -> UInt64) -> Resident? {
        if count == 0 { return nil }
        return findPresent(hash, fingerprint)
    }

    private mutating func findPresent(
        _ hash: UInt64, _ fingerprint: () -> UInt64
    ) -> Resident? {
        guard let slot = slot(of: hash) else { return nil }
        let index = index(in: slot)
        guard entries[index].fingerprint == fingerprint() else { return nil }
        if entries[index].frequency < 3 { entries[index].frequency += 1 }
        return entries[index].value
    }

    /// Whether a value that is not resident may be, now that it was read; notes that it was.
    mutating func admits(_ hash: UInt64, costBytes: Int) -> Bool {
        let cost = costBytes + Self.overheadBytes
        guard cost <= budgetBytes / 4 else { return false }
        if sizeBytes + cost <= budgetBytes { return true }
        return takeFingerprint(hash)
    }

    /// Makes `value`, which was admitted, resident and evicts what the budget asks for. Not called
    /// for a key that is resident.
    mutating func insert(
        _ value: Resident, hash: UInt64, fingerprint: UInt64, costBytes: Int
    ) {
        let cost = costBytes + Self.overheadBytes
        // One value must not displace the greater part of all others.
        guard cost <= budgetBytes / 4, cost <= Int(Int32.max) else { return }
        remove(hash)
        // Where the budget is spent it was admitted as one that was read before.
        let isInMain = sizeBytes + cost > budgetBytes
        let entry = Entry(
            hash: hash, fingerprint: fingerprint, value: value, costBytes: Int32(cost),
            frequency: 0,
            isInMain: isInMain)
        let index: UInt32
        if let reused = free.popLast() {
            index = reused
            entries[Int(index)] = entry
        } else {
            index = UInt32(entries.count)
            entries.append(entry)
        }
        link(index, hash)
        count += 1
        sizeBytes += cost
        if isInMain {
            main.append(index)
        } else {
            small.append(index)
            smallBytes += cost
        }
        while sizeBytes > budgetBytes { evictOne() }
    }

    /// Forgets the value of a key, as every write of the key does.
    @inline(__always)
    mutating func remove(_ hash: UInt64) {
        if count != 0 { removePresent(hash) }
    }

    private mutating func removePresent(_ hash: UInt64) {
        guard let slot = slot(of: hash) else { return }
        drop(index(in: slot), slot: slot)
        // Its index stays in its queue, where eviction finds it empty and frees it.
    }

    mutating func removeAll() {
        self = ResidentValues(budgetBytes: budgetBytes)
    }

    private mutating func drop(_ index: Int, slot: Int) {
        sizeBytes -= Int(entries[index].costBytes)
        if !entries[index].isInMain { smallBytes -= Int(entries[index].costBytes) }
        entries[index].value = nil
        entries[index].costBytes = 0
        count -= 1
        unlink(slot)
        compactQueuesIfMostlyEmpty()
    }

    private mutating func evictOne() {
        if smallBytes > budgetBytes / 10 || main.isEmpty {
            evictFromSmall()
        } else {
            evictFromMain()
        }
    }

    private mutating func evictFromSmall() {
        guard let index = small.popFirst() else { return }
        let at = Int(index)
        guard entries[at].value != nil else { return free.append(index) }
        if entries[at].frequency > 0 {
            smallBytes -= Int(entries[at].costBytes)
            entries[at].isInMain = true
            entries[at].frequency = 0
            main.append(index)
        } else {
            let hash = entries[at].hash
            if let slot = slot(of: hash) { drop(at, slot: slot) }
            leaveFingerprint(hash)
            free.append(index)
        }
    }

    private mutating func evictFromMain() {
        guard let index = main.popFirst() else { return }
        let at = Int(index)
        guard entries[at].value != nil else { return free.append(index) }
        if entries[at].frequency > 0 {
            entries[at].frequency -= 1
            main.append(index)
        } else {
            if let slot = slot(of: entries[at].hash) { drop(at, slot: slot) }
            free.append(index)
        }
    }

    /// Frees the places of removed values once they are the greater part of the queues.
    private mutating func compactQueuesIfMostlyEmpty() {
        guard small.count + main.count > 2 * count + 64 else { return }
        for queue in [\ResidentValues.small, \ResidentValues.main] {
            var kept = IndexQueue()
            while let index = self[keyPath: queue].popFirst() {
                if entries[Int(index)].value != nil {
                    kept.append(index)
                } else {
                    free.append(index)
                }
            }
            self[keyPath: queue] = kept
        }
    }

    // MARK: The hash table

    private func slot(of hash: UInt64) -> Int? {
        if slots.isEmpty { return nil }
        let mask = slots.count - 1
        var slot = Self.home(of: hash) & mask
        while Self.isEntry(slots[slot]) {
            // The place and half of the hash are nearly all of it; the entry has the whole.
            if slots[slot] >> 32 == hash >> 32, entries[index(in: slot)].hash == hash {
                return slot
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The low bits are the same for the whole shard.
    private static func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> 20) }

    private static func isEntry(_ slot: UInt64) -> Bool { slot & 0xffff_ffff != 0 }

    private static func half(of hash: UInt64) -> UInt64 { hash & ~0xffff_ffff }

    private func index(in slot: Int) -> Int { Int(slots[slot] & 0xffff_ffff) - 1 }

    /// Where a look-up of what is not there ends.
    private func vacantSlot(for hash: UInt64) -> Int {
        let mask = slots.count - 1
        var slot = Self.home(of: hash) & mask
        while Self.isEntry(slots[slot]) { slot = (slot + 1) & mask }
        return slot
    }

    /// Whether the fingerprint of a value that is not resident is here, and then takes it away; else
    /// leaves it.
    private mutating func takeFingerprint(_ hash: UInt64) -> Bool {
        if slots.isEmpty { return false }
        let slot = vacantSlot(for: hash)
        let isHere = slots[slot] == Self.half(of: hash) && slots[slot] != 0
        slots[slot] = isHere ? 0 : Self.half(of: hash)
        return isHere
    }

    private mutating func leaveFingerprint(_ hash: UInt64) {
        slots[vacantSlot(for: hash)] = Self.half(of: hash)
    }

    private mutating func link(_ index: UInt32, _ hash: UInt64) {
        if (count + 1) * 2 > slots.count { growSlots() }
        slots[vacantSlot(for: hash)] = UInt64(index + 1) | Self.half(of: hash)
    }

    /// Empties a slot and moves back what linear probing had pushed past it.
    private mutating func unlink(_ slot: Int) {
        let mask = slots.count - 1
        var hole = slot
        var next = (hole + 1) & mask
        while Self.isEntry(slots[next]) {
            let home = Self.home(of: entries[index(in: next)].hash) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = 0
    }

    private mutating func growSlots() {
        let old = slots
        slots = Array(repeating: 0, count: max(32, old.count * 2))
        for entry in old where Self.isEntry(entry) {
            let hash = entries[Int(entry & 0xffff_ffff) - 1].hash
            slots[vacantSlot(for: hash)] = entry
        }
    }
}

/// A first-in, first-out queue of indices.
private struct IndexQueue {
    private var items: [UInt32] = []
    private var head = 0

    var isEmpty: Bool { head == items.count }
    var count: Int { items.count - head }

    mutating func append(_ index: UInt32) { items.append(index) }

    mutating func popFirst() -> UInt32? {
        guard head < items.count else { return nil }
        defer {
            head += 1
            if head > 64 && head * 2 > items.count {
                items.removeFirst(head)
                head = 0
            }
        }
        return items[head]
    }
}
