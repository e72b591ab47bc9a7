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

    private(set) var slots: [Slot]
    private(set) var count = 0
    private var shift: UInt64
    private(set) var regions = RegionList()
    /// The lowest sequence number that a record in the table may have.
    private(set) var minimumSequence: UInt64 = .max

    static let smallestCapacity = 16

    init(capacity: Int = smallestCapacity) {
        precondition(capacity & (capacity - 1) == 0)
        slots = Array(repeating: Slot(), count: capacity)
        shift = UInt64(64 - capacity.trailingZeroBitCount)
    }

    var isEmpty: Bool { count == 0 }
    var sizeBytes: Int { slots.count * MemoryLayout<Slot>.stride }

    /// The newest operation on `key`, or `nil`.
    @inline(__always)
    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Operation? {
        slots.withUnsafeBufferPointer { slots in
            let mask = slots.count - 1
            var index = Int(hash >> shift)
            while true {
                let slot = slots[index]
                if slot.location == 0 { return nil }
                if slot.hash == hash {
                    let operation = Operation(location: slot.location)
                    if equalBytes(operation.key, key) { return operation }
                }
                index = (index + 1) & mask
            }
        }
    }

    /// Points `operation`'s key to it, unless the table has a newer operation on the key.
    mutating func insert(_ operation: Operation, hash: UInt64, sequence: UInt64) {
        if count >= slots.count / 8 * 5 { grow() }
        let mask = slots.count - 1
        var index = Int(hash >> shift)
        while true {
            let slot = slots[index]
            if slot.location == 0 {
                slots[index] = Slot(hash: hash, location: operation.location)
                count += 1
                if sequence < minimumSequence { minimumSequence = sequence }
                return
            }
            if slot.hash == hash {
                let older = Operation(location: slot.location)
                if equalBytes(older.key, operation.key) {
                    if older.sequence <= sequence { slots[index].location = operation.location }
                    return
                }
            }
            index = (index + 1) & mask
        }
    }

    /// Keeps `region` alive for the locations in it.
    mutating func hold(_ region: MappedRegion) { regions = regions.adding(region) }

    private mutating func grow() {
        var larger = Array(repeating: Slot(), count: slots.count * 2)
        let mask = larger.count - 1
        shift -= 1
        for slot in slots where slot.location != 0 {
            var index = Int(slot.hash >> shift)
            while larger[index].location != 0 { index = (index + 1) & mask }
            larger[index] = slot
        }
        slots = larger
    }

    /// Every operation, in no order.
    func forEach(_ body: (Operation) throws -> Void) rethrows {
        for slot in slots where slot.location != 0 { try body(Operation(location: slot.location)) }
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
}
