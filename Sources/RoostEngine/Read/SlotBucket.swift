import RoostFormat

/// A part of a table's slots: memory that begins with how many are taken and how many of a
/// hash's high bits all keys in it have in common.
///
/// A pointer: who made it deallocates it.
struct SlotBucket {
    struct Slot {
        var hash: UInt64 = 0
        /// Of an operation or a value; zero where the slot has none.
        var location: UInt = 0
    }

    private struct Header {
        var count = 0
        var depth: Int
        let isPooled: Bool
    }

    private let header: UnsafeMutablePointer<Header>

    /// A slot is not to lie across two of the processor's cache lines.
    private static let headerSizeBytes = 64

    static func sizeBytes(capacity: Int) -> Int {
        headerSizeBytes + capacity * MemoryLayout<Slot>.stride
    }

    /// All slots empty.
    init(capacity: Int, depth: Int) {
        let sizeBytes = Self.sizeBytes(capacity: capacity)
        let isFull = capacity == SlotDirectory.fullBucketCapacity
        let pooled = isFull ? BucketPool.shared.take() : nil
        let memory =
            pooled ?? .allocate(byteCount: sizeBytes, alignment: Self.headerSizeBytes)
        // Zeros are an empty slot.
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: sizeBytes)
        header = memory.bindMemory(to: Header.self, capacity: 1)
        header.initialize(to: Header(depth: depth, isPooled: pooled != nil))
        (memory + Self.headerSizeBytes).bindMemory(to: Slot.self, capacity: capacity)
    }

    func deallocate() {
        let memory = UnsafeMutableRawPointer(header)
        if header.pointee.isPooled {
            BucketPool.shared.give(memory)
        } else {
            memory.deallocate()
        }
    }

    @inline(__always)
    var slots: UnsafeMutablePointer<Slot> {
        (UnsafeMutableRawPointer(header) + Self.headerSizeBytes)
            .assumingMemoryBound(to: Slot.self)
    }

    func all(capacity: Int) -> UnsafeBufferPointer<Slot> { .init(start: slots, count: capacity) }

    @inline(__always)
    var count: Int {
        get { header.pointee.count }
        nonmutating set { header.pointee.count = newValue }
    }

    var depth: Int { header.pointee.depth }

    /// Where a key's slot is looked for first. Neither the bits that tell a directory's entry nor
    /// those that tell the shard.
    @inline(__always)
    static func home(of hash: UInt64, mask: Int) -> Int {
        Int(truncatingIfNeeded: hash &>> 16) & mask
    }

    /// Adds a slot of a key that is not here; there is room.
    @inline(__always)
    func add(_ slot: Slot, mask: Int) {
        var index = Self.home(of: slot.hash, mask: mask)
        while slots[index].location != 0 { index = (index + 1) & mask }
        slots[index] = slot
        count += 1
    }

    /// A new bucket with those keys whose hash has `bit`, the first that not all have in common;
    /// the others stay.
    func split(bit: UInt64, capacity: Int) -> SlotBucket {
        header.pointee.depth += 1
        let other = SlotBucket(capacity: capacity, depth: depth)
        let mask = capacity - 1
        let slots = slots
        // From after an empty slot on: so each key, taken out and added again, finds its place
        // among those before it, and none after it has been moved yet.
        var index = 0
        while slots[index].location != 0 { index += 1 }
        for _ in 0..<capacity {
            index = (index + 1) & mask
            let slot = slots[index]
            if slot.location == 0 { continue }
            slots[index] = Slot()
            count -= 1
            (slot.hash & bit == 0 ? self : other).add(slot, mask: mask)
        }
        return other
    }

    func copy(capacity: Int) -> SlotBucket {
        let other = SlotBucket(capacity: capacity, depth: depth)
        other.slots.update(from: slots, count: capacity)
        other.count = count
        return other
    }
}
