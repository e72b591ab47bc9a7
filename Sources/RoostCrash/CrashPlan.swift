import ArgumentParser
import Roost

/// Which durability the writers ask for.
enum DurabilityChoice: String, ExpressibleByArgument, CaseIterable, Sendable {
    case process, interval, synced, mixed
}

/// What the tasks of a writer do, step by step: a function of the seed, so that the supervisor
/// knows what was written from the count of acknowledged steps alone.
///
/// - Each task has dictionaries of its own and takes one step after another. So after a kill it
///   stands exactly where its last acknowledged step left it, or one step further.
struct CrashPlan: Sendable {
    static let taskCount = 4
    static let dictionaryCount = 2
    static let keyCount = 24
    static var slotCount: Int { dictionaryCount * keyCount }

    /// One operation on a slot: a key of one of the task's dictionaries.
    enum Change: Sendable {
        case put(slot: Int, stamp: UInt64, sizeBytes: Int)
        case remove(slot: Int)
        case clear(dictionary: Int)
    }

    struct Step: Sendable {
        var changes: [Change]
        var durability: Durability
        /// All of one call that makes a batch of them.
        var isBatch: Bool
        /// Waits for the disk afterwards.
        var synchronizes: Bool
    }

    let seed: UInt64
    let durability: DurabilityChoice

    /// Step `number`, counted from 1, of `task`.
    func step(_ number: UInt64, task: Int) -> Step {
        var random = CrashRandom(
            seed: seed &+ number &* 0x2545_f491_4f6c_dd1d &+ UInt64(task) << 48)
        func put(_ index: Int) -> Change {
            let sizes = [8, 12, 40, 100, 100, 300, 900, 4000]
            let size = random.once(in: 300) ? 100_000 : sizes[random.below(sizes.count)]
            return .put(
                slot: random.below(Self.slotCount), stamp: number << 8 | UInt64(index),
                sizeBytes: size)
        }
        func change(_ index: Int) -> Change {
            random.once(in: 5) ? .remove(slot: random.below(Self.slotCount)) : put(index)
        }
        let durability = pickDurability(&random)
        var changes: [Change]
        let kind = random.below(100)
        switch kind {
        case ..<72: changes = [change(0)]
        case ..<93: changes = (0..<(2 + random.below(9))).map(change)
        case ..<97: changes = [.clear(dictionary: random.below(Self.dictionaryCount))]
        default:
            changes = [.clear(dictionary: random.below(Self.dictionaryCount))]
            changes += (0..<4).map(put)
        }
        return Step(
            changes: changes, durability: durability, isBatch: changes.count > 1,
            synchronizes: random.once(in: 40))
    }

    private func pickDurability(_ random: inout CrashRandom) -> Durability {
        switch durability {
        case .process: .process
        case .interval: .interval(.milliseconds(2))
        case .synced: .synced
        case .mixed: [.process, .process, .interval(.milliseconds(2)), .synced][random.below(4)]
        }
    }

    static func dictionaryName(_ dictionary: Int, task: Int) -> String {
        "task \(task), \(dictionary)"
    }
    static func dictionary(ofSlot slot: Int) -> Int { slot / keyCount }
    static func key(ofSlot slot: Int) -> String { "key \(slot % keyCount)" }

    /// A put's value: its stamp, its length, and bytes that follow from both.
    static func value(stamp: UInt64, sizeBytes: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(max(sizeBytes, 12))
        withUnsafeBytes(of: stamp.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(sizeBytes).littleEndian) { bytes.append(contentsOf: $0) }
        var random = CrashRandom(seed: stamp)
        while bytes.count < sizeBytes {
            // Half of it compresses.
            let word = bytes.count % 64 < 32 ? random.next() : 0x2020_6465_7961_6c70
            withUnsafeBytes(of: word) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    /// The stamp of a value that is as it was written; `nil` for any other bytes.
    static func stamp(of value: [UInt8]) -> UInt64? {
        guard value.count >= 12 else { return nil }
        let (stamp, size) = value.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
            )
        }
        guard Int(size) <= value.count + 8, Self.value(stamp: stamp, sizeBytes: Int(size)) == value
        else { return nil }
        return stamp
    }
}

/// The stamps that a task's slots hold, 0 for none.
struct CrashModel: Equatable, Sendable {
    var stamps = [UInt64](repeating: 0, count: CrashPlan.slotCount)

    mutating func apply(_ step: CrashPlan.Step) {
        // A clear removes what was there before its batch.
        for case .clear(let dictionary) in step.changes {
            for key in 0..<CrashPlan.keyCount { stamps[dictionary * CrashPlan.keyCount + key] = 0 }
        }
        for change in step.changes {
            switch change {
            case .put(let slot, let stamp, _): stamps[slot] = stamp
            case .remove(let slot): stamps[slot] = 0
            case .clear: break
            }
        }
    }
}

/// SplitMix64: the same numbers again from the same seed.
struct CrashRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    /// True once in `count` times.
    mutating func once(in count: Int) -> Bool { below(count) == 0 }
}
