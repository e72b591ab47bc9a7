import RoostFormat

/// What one key of an order means to a count.
struct CountedKey: OptionSet, Sendable {
    let rawValue: UInt8

    /// The place stands for its key. Of a key that is known twice one does.
    static let owns = CountedKey(rawValue: 1)
    /// The table has a value for the key.
    static let live = CountedKey(rawValue: 2)
    /// Cold storage has a value for it.
    static let cold = CountedKey(rawValue: 4)

    /// By how many the key makes a count another than that of cold storage.
    @inline(__always)
    var change: Int { (contains(.live) ? 1 : 0) - (contains(.cold) ? 1 : 0) }
}

/// Sums over the keys of a sorted run, any of which may change: a tree over blocks of keys (Fenwick's), so
/// that a sum and a change both cost the logarithm of their number.
struct CountedRun: Sendable {
    let run: OrderedRun
    private(set) var keys: [CountedKey]
    /// Of blocks, from 1 on: each has the sum of as many blocks before it, itself included, as its lowest
    /// bit says.
    private var sums: [Int32]

    private static let blockBits = 6

    init(_ run: OrderedRun, _ keys: [CountedKey]) {
        precondition(run.count == keys.count, "each key is counted")
        self.run = run
        self.keys = keys
        sums = Array(repeating: 0, count: (keys.count >> Self.blockBits) + 2)
        for (index, key) in keys.enumerated() {
            sums[(index >> Self.blockBits) + 1] += Int32(key.change)
        }
        for index in 1..<sums.count {
            let above = index + (index & -index)
            if above < sums.count { sums[above] += sums[index] }
        }
    }

    /// The changes of all keys before `index`.
    func change(before index: Int) -> Int {
        var block = index >> Self.blockBits
        var sum = 0
        for place in (block << Self.blockBits)..<index { sum += keys[place].change }
        while block > 0 {
            sum += Int(sums[block])
            block &= block - 1
        }
        return sum
    }

    mutating func set(_ key: CountedKey, at index: Int) {
        let change = Int32(key.change - keys[index].change)
        keys[index] = key
        if change == 0 { return }
        var block = (index >> Self.blockBits) + 1
        while block < sums.count {
            sums[block] += change
            block += block & -block
        }
    }

    /// The place that stands for `key`, if one of this run does.
    func owner(of key: UnsafeRawBufferPointer) -> Int? {
        var index = run.firstIndex(notBefore: key)
        while index < run.count, equalBytes(run.key(index), key) {
            if keys[index].contains(.owns) { return index }
            index += 1
        }
        return nil
    }
}
