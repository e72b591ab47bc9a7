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
/// fingerprint after. docs/decisions/0035.
///
/// - The hash of a value that left unread, or did not enter, stays in the slot where its look-up
///   ended. A newer one displaces it, and a value does: then its own takes one read more to enter.
/// - A key is known by 128 bits of keyed hash: the slot's and the value's `fingerprint`.
/// - The queues hold the hashes and tickets of values; one whose value has another ticket, or is not
///   there, is of a value that was removed.
struct ResidentValues: ~Copyable {
    private var table = ResidentTable()
    private var small = TicketQueue()
    private var main = TicketQueue()
    private var lastTicket: UInt64 = 0
    private var smallBytes = 0
    private(set) var sizeBytes = 0
    private let budgetBytes: Int

    /// What a value costs beside itself.
    static let overheadBytes = 96

    init(budgetBytes: Int) { self.budgetBytes = budgetBytes }

    var count: Int { table.count }

    /// The value of a key, noted as used.
    @inline(__always)
    mutating func find(_ hash: UInt64, fingerprint: () -> UInt64) -> Resident? {
        if count == 0 { return nil }
        return findPresent(hash, fingerprint)
    }

    private mutating func findPresent(
        _ hash: UInt64, _ fingerprint: () -> UInt64
    ) -> Resident? {
        guard let slot = table.slot(of: hash) else { return nil }
        let value = table.value(in: slot)
        guard value.fingerprint == fingerprint() else { return nil }
        if value.frequency < 3 { value.frequency += 1 }
        return value
    }

    /// Whether a value that is not resident may be, now that it was read; notes that it was.
    mutating func admits(_ hash: UInt64, costBytes: Int) -> Bool {
        let cost = costBytes + Self.overheadBytes
        guard cost <= budgetBytes / 4 else { return false }
        if sizeBytes + cost <= budgetBytes { return true }
        return table.takeHash(hash)
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
        table.add(value, hash: hash)
        sizeBytes += cost
        if isInMain {
            main.append(.init(hash: hash, number: lastTicket))
        } else {
            small.append(.init(hash: hash, number: lastTicket))
            smallBytes += cost
        }
        while sizeBytes > budgetBytes { evictOne() }
    }

    /// Brings the slot where `hash` will be looked for into the cache.
    @inline(__always)
    func prefetchSlot(_ hash: UInt64) {
        if count != 0 { table.prefetchSlot(hash) }
    }

    /// Brings the value that `remove` would forget into the cache.
    @inline(__always)
    func prefetchValue(_ hash: UInt64) {
        if count != 0 { table.prefetchValue(hash) }
    }

    /// Forgets the value of a key, as every write of the key does.
    @inline(__always)
    mutating func remove(_ hash: UInt64) {
        if count != 0 { removePresent(hash) }
    }

    private mutating func removePresent(_ hash: UInt64) {
        // Its ticket stays in its queue, where eviction finds it void.
        if let slot = table.slot(of: hash) { drop(slot) }
    }

    mutating func removeAll() {
        self = ResidentValues(budgetBytes: budgetBytes)
    }

    private mutating func drop(_ slot: ResidentTable.Slot) {
        let value = table.value(in: slot)
        sizeBytes -= Int(value.costBytes)
        if !value.isInMain { smallBytes -= Int(value.costBytes) }
        table.remove(slot)
        if small.count + main.count > 2 * count + 64 {
            small.dropVoidTickets(in: table)
            main.dropVoidTickets(in: table)
        }
    }

    private mutating func evictOne() {
        if smallBytes > budgetBytes / 10 || main.isEmpty {
            evictFromSmall()
        } else {
            evictFromMain()
        }
    }

    private mutating func evictFromSmall() {
        guard let ticket = small.popFirst(), let (slot, value) = table.holder(of: ticket)
        else { return }
        if value.frequency > 0 {
            smallBytes -= Int(value.costBytes)
            value.isInMain = true
            value.frequency = 0
            main.append(ticket)
        } else {
            drop(slot)
            table.leaveHash(ticket.hash)
        }
    }

    private mutating func evictFromMain() {
        guard let ticket = main.popFirst(), let (slot, value) = table.holder(of: ticket)
        else { return }
        if value.frequency > 0 {
            value.frequency -= 1
            main.append(ticket)
        } else {
            drop(slot)
        }
    }
}

extension ResidentTable {
    /// The value that a ticket is of; `nil` where it was removed.
    fileprivate func holder(of ticket: TicketQueue.Ticket) -> (slot: Slot, value: Resident)? {
        guard let slot = slot(of: ticket.hash) else { return nil }
        let value = value(in: slot)
        return value.ticket == ticket.number ? (slot, value) : nil
    }
}

extension TicketQueue {
    private static let lookedAtTogetherCount = 16

    /// Looks at some tickets, where the greater part is of removed values, and drops those. The
    /// others wait once more: to keep their places all would have to be looked at, and readers
    /// wait meanwhile.
    fileprivate mutating func dropVoidTickets(in table: borrowing ResidentTable) {
        // Their slots, and then their values, are far from each other: asked for together.
        let count = forEachFirst(Self.lookedAtTogetherCount) { table.prefetchSlot($0.hash) }
        _ = forEachFirst(count) { table.prefetchValue($0.hash) }
        for _ in 0..<count {
            if let ticket = popFirst(), table.holder(of: ticket) != nil { append(ticket) }
        }
    }
}
