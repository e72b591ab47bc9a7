import RoostFormat

/// A decoded value in the cache, with what the cache knows of it: one object, so that a look-up
/// touches a slot of the table, this, and what the value refers to. The value itself is in a subclass.
///
/// `@unchecked Sendable`: `type` and `deadline` never change; what is `var` belongs to the cache
/// that holds the object, which touches it under its shard's mutex only.
open class Resident: @unchecked Sendable {
    /// Of the value.
    public final let type: ObjectIdentifier
    package final let deadline: Deadline
    fileprivate final var fingerprint: UInt64 = 0
    fileprivate final var ticket: UInt64 = 0
    fileprivate final var costBytes: Int32 = 0
    fileprivate final var frequency: UInt8 = 0
    fileprivate final var isInMain = false

    public init(type: ObjectIdentifier, deadline: Deadline = .never) {
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
/// - `slots` is open-addressed with linear probing. A slot's home is given by the hash's high bits, so
///   that growing, which readers of the shard wait for, is one pass over old and new.
/// - A slot without a value may hold a hash: that of a value which left unread, or did not enter, in
///   the slot where its look-up ended. A newer one displaces it, and a value does: then its own takes
///   one read more to enter.
/// - A key is known by 128 bits of keyed hash: the slot's and the value's `fingerprint`.
/// - The queues hold the hashes and tickets of values; one whose value has another ticket, or is not
///   there, is of a value that was removed.
struct ResidentValues {
    private struct Slot {
        var hash: UInt64 = 0
        var value: Resident?
    }

    private var slots: [Slot] = []
    private var shift: UInt64 = 63
    private var small = TicketQueue()
    private var main = TicketQueue()
    private var lastTicket: UInt64 = 0
    private var smallBytes = 0
    private(set) var count = 0
    private(set) var sizeBytes = 0
    private let budgetBytes: Int

    /// What a value costs beside itself.
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
        guard let slot = slot(of: hash), let value = slots[slot].value,
            value.fingerprint == fingerprint()
        else { return nil }
        if value.frequency < 3 { value.frequency += 1 }
        return value
    }

    /// Whether a value that is not resident may be, now that it was read; notes that it was.
    mutating func admits(_ hash: UInt64, costBytes: Int) -> Bool {
        let cost = costBytes + Self.overheadBytes
        guard cost <= budgetBytes / 4 else { return false }
        if sizeBytes + cost <= budgetBytes { return true }
        return takeHash(hash)
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
        lastTicket += 1
        value.fingerprint = fingerprint
        value.ticket = lastTicket
        value.costBytes = Int32(cost)
        value.isInMain = isInMain
        if (count + 1) * 2 > slots.count { growSlots() }
        slots[vacantSlot(for: hash)] = Slot(hash: hash, value: value)
        count += 1
        sizeBytes += cost
        if isInMain {
            main.append(hash, lastTicket)
        } else {
            small.append(hash, lastTicket)
            smallBytes += cost
        }
        while sizeBytes > budgetBytes { evictOne() }
    }

    /// Brings the slot where `hash` will be looked for into the cache.
    @inline(__always)
    func prefetchSlot(_ hash: UInt64) {
        if count == 0 { return }
        slots.withUnsafeBufferPointer { slots in
            prefetch(UnsafeRawPointer(slots.baseAddress.unsafelyUnwrapped + home(of: hash)))
        }
    }

    /// Forgets the value of a key, as every write of the key does.
    @inline(__always)
    mutating func remove(_ hash: UInt64) {
        if count != 0 { removePresent(hash) }
    }

    private mutating func removePresent(_ hash: UInt64) {
        // Its ticket stays in its queue, where eviction finds it void.
        if let slot = slot(of: hash) { drop(slot) }
    }

    mutating func removeAll() {
        self = ResidentValues(budgetBytes: budgetBytes)
    }

    private mutating func drop(_ slot: Int) {
        guard let value = slots[slot].value else { return }
        sizeBytes -= Int(value.costBytes)
        if !value.isInMain { smallBytes -= Int(value.costBytes) }
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
        guard let ticket = small.popFirst(), let (slot, value) = holder(of: ticket) else { return }
        if value.frequency > 0 {
            smallBytes -= Int(value.costBytes)
            value.isInMain = true
            value.frequency = 0
            main.append(ticket.hash, ticket.number)
        } else {
            drop(slot)
            leaveHash(ticket.hash)
        }
    }

    private mutating func evictFromMain() {
        guard let ticket = main.popFirst(), let (slot, value) = holder(of: ticket) else { return }
        if value.frequency > 0 {
            value.frequency -= 1
            main.append(ticket.hash, ticket.number)
        } else {
            drop(slot)
        }
    }

    /// The value that a ticket is of; `nil` where it was removed.
    private func holder(of ticket: TicketQueue.Ticket) -> (slot: Int, value: Resident)? {
        guard let slot = slot(of: ticket.hash), let value = slots[slot].value,
            value.ticket == ticket.number
        else { return nil }
        return (slot, value)
    }

    /// Drops the tickets of removed values once they are the greater part of the queues.
    private mutating func compactQueuesIfMostlyEmpty() {
        guard small.count + main.count > 2 * count + 64 else { return }
        for queue in [\ResidentValues.small, \ResidentValues.main] {
            var kept = TicketQueue()
            while let ticket = self[keyPath: queue].popFirst() {
                if holder(of: ticket) != nil { kept.append(ticket.hash, ticket.number) }
            }
            self[keyPath: queue] = kept
        }
    }

    // MARK: The hash table

    private func slot(of hash: UInt64) -> Int? {
        if slots.isEmpty { return nil }
        let mask = slots.count - 1
        var slot = home(of: hash)
        while slots[slot].value != nil {
            if slots[slot].hash == hash { return slot }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Not of an empty table.
    private func home(of hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> shift) }

    /// Where a look-up of what is not there ends.
    private func vacantSlot(for hash: UInt64) -> Int {
        let mask = slots.count - 1
        var slot = home(of: hash)
        while slots[slot].value != nil { slot = (slot + 1) & mask }
        return slot
    }

    /// Whether the hash of a value that is not resident is here, and then takes it away; else
    /// leaves it.
    private mutating func takeHash(_ hash: UInt64) -> Bool {
        if slots.isEmpty { return false }
        let slot = vacantSlot(for: hash)
        let isHere = slots[slot].hash == hash && hash != 0
        slots[slot].hash = isHere ? 0 : hash
        return isHere
    }

    private mutating func leaveHash(_ hash: UInt64) { slots[vacantSlot(for: hash)].hash = hash }

    /// Empties a slot and moves back what linear probing had pushed past it.
    private mutating func unlink(_ slot: Int) {
        let mask = slots.count - 1
        var hole = slot
        var next = (hole + 1) & mask
        while slots[next].value != nil {
            let home = home(of: slots[next].hash)
            if (next - home) & mask >= (next - hole) & mask {
                slots.swapAt(hole, next)
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = Slot()
    }

    private mutating func growSlots() {
        let count = max(32, slots.count * 2)
        // One by one, and swapped: each copy of a slot counts a reference, while readers wait.
        var old = [Slot](unsafeUninitializedCapacity: count) { slots, initializedCount in
            for index in 0..<count { slots.initializeElement(at: index, to: Slot()) }
            initializedCount = count
        }
        swap(&old, &slots)
        shift = UInt64(64 - count.trailingZeroBitCount)
        for index in old.indices where old[index].value != nil {
            swap(&old[index], &slots[vacantSlot(for: old[index].hash)])
        }
    }
}

/// A first-in, first-out queue of tickets.
private struct TicketQueue {
    struct Ticket {
        var hash: UInt64
        var number: UInt64
    }

    private var tickets: [Ticket] = []
    private var head = 0

    var isEmpty: Bool { head == tickets.count }
    var count: Int { tickets.count - head }

    mutating func append(_ hash: UInt64, _ number: UInt64) {
        tickets.append(Ticket(hash: hash, number: number))
    }

    mutating func popFirst() -> Ticket? {
        guard head < tickets.count else { return nil }
        defer {
            head += 1
            if head > 64 && head * 2 > tickets.count {
                tickets.removeFirst(head)
                head = 0
            }
        }
        return tickets[head]
    }
}
