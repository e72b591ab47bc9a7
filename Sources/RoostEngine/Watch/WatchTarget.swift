import RoostFormat

/// What a watcher looks at.
package enum WatchTarget: Sendable {
    /// One record key, and its hash.
    case key([UInt8], hash: UInt64)
    /// Every record key that begins with `prefix`, which begins with its dictionary's.
    case range(prefix: [UInt8], dictionary: [UInt8])

    package init(key: String, in name: DictionaryName, hashSeed: HashSeed) {
        let recordKey = name.withRecordKey(key) { Array($0) }
        self = .key(recordKey, hash: recordKey.withUnsafeBytes { hashSeed.hash($0) })
    }

    package init(prefix: String, in name: DictionaryName) {
        self = .range(prefix: name.prefix + Array(prefix.utf8), dictionary: name.prefix)
    }

    var isKey: Bool {
        if case .key = self { true } else { false }
    }

    func contains(_ key: UnsafeRawBufferPointer) -> Bool {
        switch self {
        case .key(let bytes, _): bytes.withUnsafeBytes { equalBytes($0, key) }
        case .range(let prefix, _): hasPrefix(key, prefix)
        }
    }

    /// Whether emptying the dictionary with `prefix` empties what is looked at.
    func isIn(dictionary prefix: [UInt8]) -> Bool {
        switch self {
        case .key(let bytes, _): bytes.starts(with: prefix)
        case .range(_, let dictionary): dictionary == prefix
        }
    }
}

/// What a writer asks of its shard before each change: whether anybody watches the key.
///
/// - `filter` has the bit of every hash in `keyCounts`, and stray bits of some that were removed.
/// - `isEmpty` exactly while nobody watches any of the shard's keys.
struct ShardWatches: Sendable {
    private(set) var isEmpty = true
    /// How many watchers a key has, by its hash.
    private var keyCounts: [UInt64: Int] = [:]
    /// How many watchers the record keys with a prefix have, and the prefix's dictionary.
    private var ranges: [[UInt8]: (dictionary: [UInt8], count: Int)] = [:]
    /// A bit for each of sixteen places a key: a hundred thousand keys in sixteen shards fit into
    /// a processor's cache, where the table of their hashes would not.
    private var filter: [UInt64] = [0]

    /// Whether the key is watched; a handful of nanoseconds where it is not.
    @inline(__always)
    func contains(_ key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        if isEmpty { return false }
        return mayContain(hash) || (!ranges.isEmpty && isInRange(key))
    }

    /// Whether a batch may have a change that is watched.
    func mayContain(
        _ changes: [EncodedBatch.Change], dictionaries: Set<[UInt8]>
    ) -> Bool {
        if isEmpty { return false }
        return changes.contains { mayContain($0.hash) }
            || ranges.values.contains { dictionaries.contains($0.dictionary) }
    }

    @inline(__always)
    private func mayContain(_ hash: UInt64) -> Bool {
        let (word, bit) = place(of: hash)
        return filter[word] & bit != 0 && keyCounts[hash] != nil
    }

    private func isInRange(_ key: UnsafeRawBufferPointer) -> Bool {
        ranges.keys.contains { hasPrefix(key, $0) }
    }

    /// The low bits choose the shard and the high ones the log table's slot.
    @inline(__always)
    private func place(of hash: UInt64) -> (word: Int, bit: UInt64) {
        (Int(hash >> 26) & (filter.count - 1), 1 << ((hash >> 20) & 63))
    }

    mutating func add(_ target: WatchTarget) {
        isEmpty = false
        switch target {
        case .range(let prefix, let dictionary):
            ranges[prefix, default: (dictionary, 0)].count += 1
        case .key(_, let hash):
            keyCounts[hash, default: 0] += 1
            if keyCounts.count > filter.count * 4 { return rebuildFilter() }
            let (word, bit) = place(of: hash)
            filter[word] |= bit
        }
    }

    mutating func remove(_ target: WatchTarget) {
        switch target {
        case .range(let prefix, let dictionary):
            let count = (ranges[prefix]?.count ?? 1) - 1
            ranges[prefix] = count == 0 ? nil : (dictionary, count)
        case .key(_, let hash):
            let count = (keyCounts[hash] ?? 1) - 1
            keyCounts[hash] = count == 0 ? nil : count
            // Stray bits cost a look-up each: not many of them may stay.
            if keyCounts.count * 2 < filter.count, filter.count > 1 { rebuildFilter() }
        }
        isEmpty = keyCounts.isEmpty && ranges.isEmpty
    }

    private mutating func rebuildFilter() {
        var wordCount = 1
        while wordCount * 2 < keyCounts.count { wordCount *= 2 }
        filter = Array(repeating: 0, count: wordCount)
        for hash in keyCounts.keys {
            let (word, bit) = place(of: hash)
            filter[word] |= bit
        }
    }
}
