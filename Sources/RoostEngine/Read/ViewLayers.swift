import RoostFormat
import RoostIO

/// The keys of a table that were changed since some moment, and what the table said of each then.
///
/// - Open-addressed, a power of two of slots; a slot is empty while its location is zero.
/// - A location with its highest bit set says that the table did not have the key: the address
///   is then of the operation that brought it, which says the key.
struct ChangedKeys: Sendable {
    enum Previous {
        case operation(Operation)
        /// The table did not have the key.
        case absent
    }

    private struct Slot {
        var hash: UInt64 = 0
        var location: UInt = 0
    }

    private static let absentBit: UInt = 1 << 63
    private var slots: [Slot] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    func find(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Previous? {
        if count == 0 { return nil }
        let slot = slots[index(of: key, hash: hash)]
        if slot.location == 0 { return nil }
        if slot.location & Self.absentBit != 0 { return .absent }
        return .operation(Operation(location: slot.location))
    }

    /// Notes what the table said of a key that `operation` is about to change; the first note
    /// of a key counts.
    mutating func note(_ operation: Operation, hash: UInt64, previous: Operation?) {
        insert(
            Slot(
                hash: hash,
                location: previous?.location ?? operation.location | Self.absentBit))
    }

    /// Takes over what `newer` knows of keys that are not noted here.
    mutating func merge(_ newer: ChangedKeys) {
        if isEmpty {
            self = newer
            return
        }
        for slot in newer.slots where slot.location != 0 { insert(slot) }
    }

    /// The operations that were noted of keys with `hash`.
    func forEach(hash: UInt64, _ body: (Operation) throws -> Void) rethrows {
        if count == 0 { return }
        let mask = slots.count - 1
        var index = Self.home(of: hash, mask: mask)
        while slots[index].location != 0 {
            if slots[index].hash == hash {
                try body(Operation(location: slots[index].location & ~Self.absentBit))
            }
            index = (index + 1) & mask
        }
    }

    /// Whether a key with `hash` is noted.
    func contains(hash: UInt64) -> Bool {
        var isNoted = false
        forEach(hash: hash) { _ in isNoted = true }
        return isNoted
    }

    /// Calls `body` with each key and its hash.
    func forEach(_ body: (_ key: UnsafeRawBufferPointer, _ hash: UInt64) -> Void) {
        for slot in slots where slot.location != 0 { body(Self.key(of: slot), slot.hash) }
    }

    /// Whether `isMet` holds for any of the keys.
    func contains(where isMet: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        slots.contains { $0.location != 0 && isMet(Self.key(of: $0)) }
    }

    private mutating func insert(_ slot: Slot) {
        if count * 2 >= slots.count { grow() }
        let index = index(of: Self.key(of: slot), hash: slot.hash)
        if slots[index].location != 0 { return }
        slots[index] = slot
        count += 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: Slot(), count: max(16, old.count * 2))
        for slot in old where slot.location != 0 {
            slots[index(of: Self.key(of: slot), hash: slot.hash)] = slot
        }
    }

    /// Where the key is, or the empty slot where it would be.
    private func index(of key: UnsafeRawBufferPointer, hash: UInt64) -> Int {
        let mask = slots.count - 1
        var index = Self.home(of: hash, mask: mask)
        while slots[index].location != 0 {
            if slots[index].hash == hash, equalBytes(Self.key(of: slots[index]), key) { break }
            index = (index + 1) & mask
        }
        return index
    }

    private static func home(of hash: UInt64, mask: Int) -> Int {
        Int(truncatingIfNeeded: hash >> 20) & mask
    }

    private static func key(of slot: Slot) -> UnsafeRawBufferPointer {
        Operation(location: slot.location & ~absentBit).key
    }
}

/// What keeps a shard's table readable as it was when each live read view began, while writers
/// change it: instead of copying the table, a writer notes what it overwrites.
///
/// - One layer for each live view, in the order in which they began: the keys changed from its
///   begin to the begin of the next, or until now. So a change is noted once, in the newest layer,
///   and a view looks into its own and the newer ones before the table.
/// - When a table is frozen, the layers on it go with it to `ended`: it changes no more. It also
///   keeps the memory mapped that the layers point into.
struct ViewLayers: Sendable {
    struct Layer {
        let view: UInt64
        var changed = ChangedKeys()
    }

    private struct EndedTable {
        let table: LogTable
        var layers: [Layer]
    }

    private var layers: [Layer] = []
    private var ended: [EndedTable] = []
    /// Whether a write has to note what it overwrites.
    private(set) var isNoting = false

    mutating func begin(_ view: UInt64) {
        layers.append(Layer(view: view))
        isNoting = true
    }

    /// Returns the table that nobody needs any more, for the caller to let go of without the shard's
    /// mutex: it may be the last hold of mapped files.
    mutating func end(_ view: UInt64) -> LogTable? {
        if Self.remove(view, from: &layers) {
            isNoting = !layers.isEmpty
            return nil
        }
        for index in ended.indices where Self.remove(view, from: &ended[index].layers) {
            return ended[index].layers.isEmpty ? ended.remove(at: index).table : nil
        }
        return nil
    }

    /// What the view's layer knows is needed by the one before it, which is older.
    private static func remove(_ view: UInt64, from layers: inout [Layer]) -> Bool {
        guard let index = layers.lastIndex(where: { $0.view == view }) else { return false }
        let removed = layers.remove(at: index)
        if index > 0, !removed.changed.isEmpty { layers[index - 1].changed.merge(removed.changed) }
        return true
    }

    /// Called before `operation` is entered into `table`, while `isNoting`.
    mutating func note(_ operation: Operation, hash: UInt64, in table: LogTable) {
        layers[layers.count - 1].changed.note(
            operation, hash: hash, previous: table.find(operation.key, hash: hash))
    }

    /// `table` changes no more, and another takes its place.
    mutating func endTable(_ table: LogTable) {
        guard !layers.isEmpty else { return }
        ended.append(EndedTable(table: table, layers: layers))
        layers.removeAll()
        isNoting = false
    }

    /// Calls `body` with the table that the view began on, `active` if it is still in use, and the
    /// changes since.
    func withLayers<Result>(
        of view: UInt64, active: LogTable, _ body: (LogTable, ArraySlice<Layer>) -> Result
    ) throws -> Result {
        if let index = layers.lastIndex(where: { $0.view == view }) {
            return body(active, layers[index...])
        }
        for ended in ended {
            if let index = ended.layers.lastIndex(where: { $0.view == view }) {
                return body(ended.table, ended.layers[index...])
            }
        }
        throw RoostError(.closed, "the read view is closed")
    }

    /// The operation on `key` that the table had when the view began.
    func find(
        _ key: UnsafeRawBufferPointer, hash: UInt64, view: UInt64, active: LogTable
    ) throws -> Operation? {
        try withLayers(of: view, active: active) { table, layers in
            Self.find(key, hash: hash, in: table, layers)
        }
    }

    static func find(
        _ key: UnsafeRawBufferPointer, hash: UInt64, in table: LogTable, _ layers: ArraySlice<Layer>
    ) -> Operation? {
        for layer in layers {
            switch layer.changed.find(key, hash: hash) {
            case .operation(let operation): return operation
            case .absent: return nil
            case nil: continue
            }
        }
        return table.find(key, hash: hash)
    }

    /// Adds the operations that the table had when the view began, of the keys whose hashes begin
    /// with the `bitCount` bits of `part`, to `operations`.
    func collect(
        part: Int, bitCount: Int, view: UInt64, active: LogTable,
        into operations: inout [Operation]
    ) throws {
        try withLayers(of: view, active: active) { table, layers in
            let changed = layers.lazy.map(\.changed).filter { !$0.isEmpty }
            table.forEach(part: part, bitCount: bitCount) { operation, hash in
                for changed in changed {
                    switch changed.find(operation.key, hash: hash) {
                    case .operation(let previous): return operations.append(previous)
                    case .absent: return
                    case nil: continue
                    }
                }
                operations.append(operation)
            }
        }
    }

    // MARK: Changes since a view began

    /// Whether the table that the view began on is still the one in use. If not, what changed
    /// since is not known key by key.
    func isOnActiveTable(_ view: UInt64) -> Bool { layers.contains { $0.view == view } }

    /// Whether a key with `hash` was changed. By the hash alone: the key stands in the log, and a page that cannot
    /// be read must not make an unchanged one of it.
    func isChanged(hash: UInt64, since view: UInt64) -> Bool {
        layers.reversed().contains { layer in
            layer.view >= view && layer.changed.contains(hash: hash)
        }
    }

    /// Whether this key was changed.
    func isChanged(_ key: UnsafeRawBufferPointer, hash: UInt64, since view: UInt64) -> Bool {
        layers.reversed().contains { layer in
            layer.view >= view && layer.changed.find(key, hash: hash) != nil
        }
    }

    func isAnyChanged(
        since view: UInt64, where isMet: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool {
        layers.contains { $0.view >= view && $0.changed.contains(where: isMet) }
    }
}
