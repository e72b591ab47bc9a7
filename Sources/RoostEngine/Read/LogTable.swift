import RoostFormat
import RoostIO

/// Where a shard's newest records are in the log: a hash table of a hash and an address, sixteen
/// bytes a slot; the keys' bytes stay in the log.
///
/// - A slot is empty while its location is zero; slots are never emptied again.
/// - Within a bucket of `SlotDirectory` a key is in the first slot from its home on that was empty
///   when it came.
/// - `regions` holds every segment that a location points into.
///
/// A value: a copy is a view of one moment, and costs its bytes at the next change.
struct LogTable: Sendable {
    private var slots: SlotDirectory
    private(set) var count = 0
    private(set) var regions = RegionList()
    /// The dictionaries of the keys that have another operation than the one that brought them here.
    private(set) var changedDictionaries = DictionarySet()
    /// The keys in order, for scans, of this table and of those that other shards write to meanwhile.
    private(set) var order: KeyOrder
    /// The keys that are new to the table, from the first scan on.
    private(set) var unordered = NoteList()
    /// For counts, from the first count of a range on: one or none. Behind a reference, as look-ups copy the table.
    private var countNotes: [CountNotes] = []

    private struct CountNotes: Sendable {
        /// The operations that took the place of others of which one counts and the other does not.
        var replaced = NoteList()
        /// Operations before it may have been cleared, so that what takes their place is noted too.
        var countedSequence: UInt64 = 0
    }

    /// The operations that took the place of others of which one counts and the other does not.
    var replaced: NoteList { countNotes.first?.replaced ?? NoteList() }

    static let smallestCapacity = 16

    /// With room for `capacity` slots at first, which is a power of two.
    init(capacity: Int = smallestCapacity, order: KeyOrder = KeyOrder()) {
        self.order = order
        slots = SlotDirectory(capacity: min(capacity, SlotDirectory.fullBucketCapacity))
    }

    var isEmpty: Bool { count == 0 }
    var capacity: Int { slots.capacity }
    var sizeBytes: Int { slots.sizeBytes }

    /// Brings the slot where `hash` will be looked for into the cache.
    @inline(__always)
    func prefetchSlot(_ hash: UInt64) { slots.prefetchSlot(hash) }

    /// The newest operation on `key`, or `nil`.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        let slots = slots
        let mask = slots.mask
        let bucket = slots.bucket(of: hash).slots
        var index = SlotBucket.home(of: hash, mask: mask)
        while true {
            let slot = bucket[index]
            if slot.location == 0 { return nil }
            if slot.hash == hash {
                let operation = Operation(location: slot.location)
                if equalBytes(operation.key, key) { return operation }
                // Two keys with one hash, or memory that no longer holds what was written to it.
                MappedRegion.noteDoubt()
            }
            index = (index + 1) & mask
        }
    }

    /// The operations whose keys have `hash`.
    func forEach(hash: UInt64, _ body: (Operation) throws -> Void) rethrows {
        let bucket = slots.bucket(of: hash).slots
        var index = SlotBucket.home(of: hash, mask: slots.mask)
        while bucket[index].location != 0 {
            if bucket[index].hash == hash { try body(Operation(location: bucket[index].location)) }
            index = (index + 1) & slots.mask
        }
    }

    /// Points `operation`'s key to it, unless the table has a newer operation on the key.
    mutating func insert(_ operation: Operation, hash: UInt64, sequence: UInt64) {
        if !isKnownUniquelyReferenced(&slots) { slots = slots.copy() }
        var bucket = slots.bucket(of: hash)
        while bucket.count >= slots.bucketCapacity / 8 * 5 { bucket = grow(for: hash) }
        let mask = slots.mask
        var index = SlotBucket.home(of: hash, mask: mask)
        while true {
            let slot = bucket.slots[index]
            if slot.location == 0 {
                bucket.slots[index] = .init(hash: hash, location: operation.location)
                bucket.count += 1
                count += 1
                if unordered.isNoting { noteUnordered(operation) }
                return
            }
            if slot.hash == hash {
                let older = Operation(location: slot.location)
                if equalBytes(older.key, operation.key) {
                    changedDictionaries.insert(dictionaryOf: operation.key)
                    if older.sequence <= sequence {
                        if !countNotes.isEmpty { noteReplaced(older, by: operation) }
                        bucket.slots[index].location = operation.location
                    }
                    return
                }
            }
            index = (index + 1) & mask
        }
    }

    @inline(never)
    private mutating func grow(for hash: UInt64) -> SlotBucket {
        slots = slots.grown(for: hash)
        return slots.bucket(of: hash)
    }

    /// Keeps `region` alive for the locations in it.
    mutating func hold(_ region: MappedRegion) { regions = regions.adding(region) }

    // MARK: Order

    @inline(never)
    private mutating func noteUnordered(_ operation: Operation) {
        unordered.append(operation.location, keyCount: count)
    }

    @inline(never)
    private mutating func noteReplaced(_ older: Operation, by operation: Operation) {
        if !countNotes[0].replaced.isNoting { return }
        if older.isPut == operation.isPut, !older.expires, !operation.expires,
            older.sequence >= countNotes[0].countedSequence
        {
            return
        }
        countNotes[0].replaced.append(operation.location, keyCount: count)
    }

    /// From here on new keys are noted, for the order.
    mutating func beginNoting() { unordered.beginNoting() }

    /// Forgets which new keys were noted: the order has them.
    mutating func dropNotes() { unordered.drop() }

    /// From here on it is noted too what takes the place of what, for counts; what was noted until now
    /// they have.
    mutating func beginCounting(clearedSequence: UInt64) {
        if countNotes.isEmpty { countNotes = [CountNotes()] }
        countNotes[0].replaced.drop()
        countNotes[0].replaced.beginNoting()
        countNotes[0].countedSequence = clearedSequence
    }

    /// Gives the table the order of `newer`, whose keys come to it.
    mutating func takeOrder(of newer: LogTable) {
        unordered.forget(after: newer.unordered)
        if countNotes.isEmpty { countNotes = [CountNotes()] }
        countNotes[0].replaced.forget(after: newer.replaced)
        order = newer.order
    }

    /// Gives the table another order, which no scan has looked at.
    mutating func takeOrder(_ order: KeyOrder) {
        unordered.forget()
        if !countNotes.isEmpty { countNotes[0].replaced.forget() }
        self.order = order
    }

    /// Some operation, or `nil` where there is none.
    var first: Operation? {
        var first: Operation?
        forEachUntil { operation in
            first = operation
            return false
        }
        return first
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
        try slots.forEachBucket { bucket in
            let bucket = bucket.all(capacity: slots.bucketCapacity)
            for index in bucket.indices where bucket[index].location != 0 {
                // The records lie scattered over the log.
                let ahead = index + Self.lookAhead
                if ahead < bucket.count, bucket[ahead].location != 0 {
                    Operation(location: bucket[ahead].location).prefetch()
                }
                guard try body(Operation(location: bucket[index].location)) else { return false }
            }
            return true
        }
    }

    private static let lookAhead = 24

    /// Every operation on a key whose hash begins with the `bitCount` bits of `part`, and the
    /// hash. The parts of a table are the same ones after it has grown.
    func forEach(part: Int, bitCount: Int, _ body: (Operation, UInt64) -> Void) {
        slots.forEach(part: part, bitCount: bitCount) { slot in
            body(Operation(location: slot.location), slot.hash)
        }
    }
}

/// Some dictionaries, and maybe others that share a bit with one of them.
struct DictionarySet: Sendable {
    private var bits: UInt64 = 0

    @inline(__always)
    mutating func insert(dictionaryOf key: UnsafeRawBufferPointer) { bits |= Self.bit(of: key) }

    func contains(_ prefix: [UInt8]) -> Bool {
        prefix.withUnsafeBytes { bits & Self.bit(of: $0) != 0 }
    }

    /// Of a key or of its dictionary's prefix: by the length of the name and its last letters.
    @inline(__always)
    private static func bit(of key: UnsafeRawBufferPointer) -> UInt64 {
        guard let nameCount = key.first.map({ Int($0) }), nameCount > 0, nameCount < key.count
        else { return .max }
        let mixed =
            UInt64(key[nameCount]) &* 5 &+ UInt64(key[nameCount - 1]) &* 11 &+ UInt64(nameCount)
        return 1 << (mixed & 63)
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

    func region(of location: UInt) -> MappedRegion? { all.first { $0.contains(location) } }

    func adding(_ region: MappedRegion) -> RegionList {
        all.contains { $0 === region } ? self : RegionList(all + [region])
    }

    func adding(_ others: RegionList) -> RegionList {
        if others === self { return self }
        return others.all.reduce(self) { $0.adding($1) }
    }
}
