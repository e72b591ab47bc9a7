import RoostFormat
import RoostIO

/// Where a shard's newest records are in the log: an open-addressed table of a hash and an
/// address, sixteen bytes a slot; the keys' bytes stay in the log.
///
/// - A slot is empty while its location is zero; slots are never emptied again.
/// - A slot's home is given by the hash's high bits, so that growing keeps the order and is one
///   pass over old and new.
/// - `regions` holds every segment that a location points into.
///
/// A value: a copy is a view of one moment, and costs its bytes at the next change.
struct LogTable: Sendable {
    struct Slot: Sendable {
        var hash: UInt64 = 0
        var location: UInt = 0
    }

    private var slots: SlotMemory
    private(set) var count = 0
    private var shift: UInt64
    private(set) var regions = RegionList()
    /// The lowest sequence number that a record in the table may have.
    private(set) var minimumSequence: UInt64 = .max
    /// Whether each key has the operation still that brought it here.
    private(set) var hasFirstOperations = true
    /// The keys in order, for scans, of this table and of those that other shards write to meanwhile.
    private(set) var order: KeyOrder
    /// Whether keys that are new to the table are noted, in `unordered`: from the first scan on.
    private var isOrdered = false
    private var unordered: [UInt] = []
    /// How many were noted before those.
    private var unorderedBegin = 0
    /// Counts how often what was noted was forgotten.
    private var noteEpoch = 0

    static let smallestCapacity = 16

    init(capacity: Int = smallestCapacity, order: KeyOrder = KeyOrder()) {
        precondition(capacity & (capacity - 1) == 0)
        self.order = order
        slots = SlotMemory(capacity: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
    }

    var isEmpty: Bool { count == 0 }
    var capacity: Int { slots.capacity }
    var sizeBytes: Int { slots.capacity * MemoryLayout<Slot>.stride }

    /// Brings the slot where `hash` will be looked for into the cache.
    @inline(__always)
    func prefetchSlot(_ hash: UInt64) {
        prefetch(UnsafeRawPointer(slots.base + Int(hash >> shift)))
    }

    /// The newest operation on `key`, or `nil`.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        let slots = slots
        let mask = slots.capacity - 1
        var index = Int(hash >> shift)
        while true {
            let slot = slots.base[index]
            if slot.location == 0 { return nil }
            if slot.hash == hash {
                let operation = Operation(location: slot.location)
                if equalBytes(operation.key, key) { return operation }
            }
            index = (index + 1) & mask
        }
    }

    /// Points `operation`'s key to it, unless the table has a newer operation on the key.
    mutating func insert(_ operation: Operation, hash: UInt64, sequence: UInt64) {
        if count >= slots.capacity / 8 * 5 {
            grow()
        } else if !isKnownUniquelyReferenced(&slots) {
            slots = slots.copy(capacity: slots.capacity, shift: shift)
        }
        let mask = slots.capacity - 1
        var index = Int(hash >> shift)
        while true {
            let slot = slots.base[index]
            if slot.location == 0 {
                slots.base[index] = Slot(hash: hash, location: operation.location)
                count += 1
                if sequence < minimumSequence { minimumSequence = sequence }
                if isOrdered { noteUnordered(operation) }
                return
            }
            if slot.hash == hash {
                let older = Operation(location: slot.location)
                if equalBytes(older.key, operation.key) {
                    hasFirstOperations = false
                    if older.sequence <= sequence {
                        slots.base[index].location = operation.location
                    }
                    return
                }
            }
            index = (index + 1) & mask
        }
    }

    /// Keeps `region` alive for the locations in it.
    mutating func hold(_ region: MappedRegion) { regions = regions.adding(region) }

    // MARK: Order

    @inline(never)
    private mutating func noteUnordered(_ operation: Operation) {
        unordered.append(operation.location)
        // Nobody has scanned for long: the next one may as well sort everything.
        if unordered.count > max(Self.unorderedCount, count / 2) { forgetNotes() }
    }

    private static let unorderedCount = 4096

    private mutating func forgetNotes() {
        isOrdered = false
        unordered = []
        unorderedBegin = 0
        noteEpoch += 1
    }

    /// From here on new keys are noted, for the order.
    mutating func beginNoting() { isOrdered = true }

    /// What was noted so far.
    var mark: NoteMark { NoteMark(epoch: noteEpoch, count: unorderedBegin + unordered.count) }

    /// Whether keys are noted, and none was behind `mark`.
    @inline(__always)
    func isNoted(until mark: NoteMark?) -> Bool {
        guard isOrdered, let mark else { return false }
        return mark.count == unorderedBegin + unordered.count && mark.epoch == noteEpoch
    }

    /// The keys that were noted behind `mark`; `nil` where some were forgotten.
    func notes(behind mark: NoteMark) -> [UInt]? {
        guard mark.epoch == noteEpoch else { return nil }
        if mark.count == unorderedBegin { return unordered }
        return Array(unordered.dropFirst(mark.count - unorderedBegin))
    }

    /// Forgets what was noted: the order has it.
    mutating func dropNotes() {
        if unordered.isEmpty { return }
        unorderedBegin += unordered.count
        unordered = []
    }

    /// Gives the table the order of `newer`, whose keys come to it.
    mutating func takeOrder(of newer: LogTable) {
        forgetNotes()
        order = newer.order
        noteEpoch = newer.noteEpoch + 1
    }

    /// Gives the table another order, which no scan has looked at.
    mutating func takeOrder(_ order: KeyOrder) {
        forgetNotes()
        self.order = order
    }

    private mutating func grow() {
        shift -= 1
        slots = slots.copy(capacity: slots.capacity * 2, shift: shift)
    }

    /// Some operation, or `nil` where there is none.
    var first: Operation? {
        slots.all.first { $0.location != 0 }.map { Operation(location: $0.location) }
    }

    /// Every operation, in no order.
    func forEach(_ body: (Operation) throws -> Void) rethrows {
        try forEachUntil { operation in
            try body(operation)
            return true
        }
    }

    /// Every operation, in no order, as long as `body` returns `true`.
    func forEachUntil(_ body: (Operation) throws -> Bool) rethrows {
        let all = slots.all
        for index in all.indices where all[index].location != 0 {
            // The records lie scattered over the log.
            let ahead = index + Self.lookAhead
            if ahead < all.count, all[ahead].location != 0 {
                Operation(location: all[ahead].location).prefetch()
            }
            guard try body(Operation(location: all[index].location)) else { return }
        }
    }

    private static let lookAhead = 24

    /// Every operation on a key whose hash begins with the `bitCount` bits of `part`, and the
    /// hash. The parts of a table are the same ones after it has grown.
    func forEach(part: Int, bitCount: Int, _ body: (Operation, UInt64) -> Void) {
        let slots = slots
        let mask = slots.capacity - 1
        let partCapacity = slots.capacity >> bitCount
        var index = part * partCapacity
        // Keys that found their home taken stand behind it, with no empty slot between.
        for step in 0..<slots.capacity {
            let slot = slots.base[index]
            if slot.location == 0 {
                if step >= partCapacity { return }
            } else if Int(slot.hash >> UInt64(64 - bitCount)) == part {
                body(Operation(location: slot.location), slot.hash)
            }
            index = (index + 1) & mask
        }
    }
}

/// How much of what a table has noted somebody knows.
struct NoteMark: Sendable, Equatable {
    var epoch: Int
    var count: Int
}

/// The slots of a table, in memory that large tables get in large pages: a random look-up in
/// small ones mostly waits for the page table.
///
/// `@unchecked Sendable`: written only by the one `LogTable` that holds the only reference, as
/// `insert` checks before it writes; a table that is shared is copied first. So as long as two
/// threads can see the memory nobody writes to it.
final class SlotMemory: @unchecked Sendable {
    let capacity: Int
    let base: UnsafeMutablePointer<LogTable.Slot>
    private let memory: LargeMemory

    /// All slots empty.
    init(capacity: Int) {
        self.capacity = capacity
        memory = LargeMemory(zeroedSizeBytes: capacity * MemoryLayout<LogTable.Slot>.stride)
        // Zeros are an empty slot.
        base = memory.base.bindMemory(to: LogTable.Slot.self, capacity: capacity)
    }

    var all: UnsafeBufferPointer<LogTable.Slot> { .init(start: base, count: capacity) }

    /// The same slots in a table of `capacity`, in which `shift` gives a hash's home.
    func copy(capacity: Int, shift: UInt64) -> SlotMemory {
        let other = SlotMemory(capacity: capacity)
        if capacity == self.capacity {
            other.base.update(from: base, count: capacity)
            return other
        }
        let mask = capacity - 1
        for slot in all where slot.location != 0 {
            var index = Int(slot.hash >> shift)
            while other.base[index].location != 0 { index = (index + 1) & mask }
            other.base[index] = slot
        }
        return other
    }
}

/// The segments that a table points into, as one object, so that a reader keeps all of them
/// mapped with one reference.
final class RegionList: Sendable {
    let all: [MappedRegion]

    init(_ regions: [MappedRegion] = []) { all = regions }

    func contains(_ location: UInt) -> Bool {
        all.contains { region in
            let base = UInt(bitPattern: region.base)
            return location >= base && location < base + UInt(region.sizeBytes)
        }
    }

    func adding(_ region: MappedRegion) -> RegionList {
        all.contains { $0 === region } ? self : RegionList(all + [region])
    }

    func adding(_ others: RegionList) -> RegionList {
        if others === self { return self }
        return others.all.reduce(self) { $0.adding($1) }
    }
}
