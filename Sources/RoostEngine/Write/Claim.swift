import RoostFormat

/// What somebody changes in one shard, and what they rest on there: as much as others have to know to
/// come before or after.
///
/// - Keys are told apart by hash. Two that collide wait for each other, which harms nobody.
/// - Ranges are compared with the keys themselves, so a scan of some keys of a dictionary is not in the
///   way of who writes others.
struct Claim: Sendable {
    /// Where the keys of `changes` stand.
    enum Keys: Sendable {
        /// After a reference, as the claims of all shards have the same.
        indirect case batch(EncodedBatch)
        /// Of most synced puts, which therefore count nothing else.
        case one([UInt8])
        /// With the dictionaries that the keys are in, by prefix.
        case listed([[UInt8]], dictionaries: Set<[UInt8]>)
    }

    var changes: [EncodedBatch.Change]
    var keys: Keys
    /// Those that are emptied, by prefix.
    var clears: [[UInt8]] = []
    /// What nobody else may change until the claim is over.
    var reads: ReadClaim?
    /// Whether the claim is of a staged batch of one key: a later write of that key need not wait for
    /// it, since nobody can tell that the batch was ever visible.
    var isSingle = false
    /// Every key of the workspace.
    var isEverything = false

    /// Of one key; whoever `rests` on its state waits for what a plain write need not.
    init(_ recordKey: UnsafeRawBufferPointer, hash: UInt64, rests: Bool = false) {
        changes = [.init(hash: hash, frameOffset: Frame.headerSizeBytes)]
        keys = .one(Array(recordKey))
        if rests {
            reads = ReadClaim(
                hashes: [hash], ranges: .none,
                dictionaries: [Array(dictionaryPrefix(of: recordKey))])
        }
    }

    /// Of a batch's part in one shard.
    init(
        _ keys: Keys, changes: [EncodedBatch.Change], clears: [[UInt8]], reads: ReadClaim? = nil
    ) {
        self.changes = changes
        self.keys = keys
        self.clears = clears
        self.reads = reads
    }

    init(
        hashes: some Sequence<UInt64>, keys: [[UInt8]], dictionaries: Set<[UInt8]>,
        clears: [[UInt8]], reads: ReadClaim?, isEverything: Bool
    ) {
        changes = hashes.map { .init(hash: $0, frameOffset: 0) }
        self.keys = .listed(keys, dictionaries: dictionaries)
        self.clears = clears
        self.reads = reads
        self.isEverything = isEverything
    }

    /// Takes in a claim of one key, to a claim of such.
    mutating func add(_ other: Claim) {
        guard case .one(let added) = other.keys else { return }
        var (keys, dictionaries): ([[UInt8]], Set<[UInt8]>)
        switch self.keys {
        case .batch: return
        case .one(let key): (keys, dictionaries) = ([key], [Self.prefix(of: key)])
        case .listed(let listed, let prefixes): (keys, dictionaries) = (listed, prefixes)
        }
        // Two references would mean a copy for each key.
        self.keys = .one([])
        changes += other.changes
        keys.append(added)
        dictionaries.insert(Self.prefix(of: added))
        self.keys = .listed(keys, dictionaries: dictionaries)
    }

    private static func prefix(of key: [UInt8]) -> [UInt8] {
        key.withUnsafeBytes { Array(dictionaryPrefix(of: $0)) }
    }

    /// Whether any of the changes is in the dictionary with this prefix.
    func isIn(_ prefix: [UInt8]) -> Bool {
        switch keys {
        case .batch(let batch): batch.dictionaries.contains(prefix)
        case .one(let key): key.starts(with: prefix)
        case .listed(_, let dictionaries): dictionaries.contains(prefix)
        }
    }

    /// Whether a write of one key must wait for this claim; `rests` as above.
    func blocks(_ key: UnsafeRawBufferPointer, hash: UInt64, rests: Bool) -> Bool {
        if isEverything { return true }
        if isSingle { return rests && changes[0].hash == hash }
        if changes.contains(where: { $0.hash == hash }) { return true }
        if !clears.isEmpty {
            let prefix = dictionaryPrefix(of: key)
            if clears.contains(where: { $0.elementsEqual(prefix) }) { return true }
        }
        return reads?.areChanged(by: key, hash: hash) ?? false
    }

    /// Whether `other`, coming later, must wait for this claim.
    func blocks(_ other: Claim) -> Bool {
        if isEverything || other.isEverything { return true }
        // Whoever read a key comes after what is staged on it, a single put included.
        if let reads = other.reads, reads.areChanged(by: self) { return true }
        if isSingle { return false }
        if let reads, reads.areChanged(by: other) { return true }
        if clears.contains(where: { other.isIn($0) || other.clears.contains($0) })
            || other.clears.contains(where: { isIn($0) })
        {
            return true
        }
        return changesAnyKey(of: other)
    }

    private func changesAnyKey(of other: Claim) -> Bool {
        let (few, many) =
            changes.count < other.changes.count
            ? (changes, other.changes) : (other.changes, changes)
        if few.count <= 8 {
            return few.contains { change in many.contains { $0.hash == change.hash } }
        }
        let hashes = Set(few.lazy.map(\.hash))
        return many.contains { hashes.contains($0.hash) }
    }

    func hasKey(where isMet: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        switch keys {
        case .one(let key): key.withUnsafeBytes(isMet)
        case .listed(let keys, _): keys.contains { $0.withUnsafeBytes(isMet) }
        case .batch(let batch):
            batch.withPayload { payload in
                changes.contains { change in
                    let offset = change.frameOffset - Frame.headerSizeBytes
                    return isMet(Operation(address: payload.baseAddress! + offset).key)
                }
            }
        }
    }
}

/// What a transaction has read of one shard.
final class ReadClaim: Sendable {
    let hashes: Set<UInt64>
    let ranges: MergedRanges
    /// Those of the keys and the ranges, by prefix.
    let dictionaries: Set<[UInt8]>

    init(hashes: Set<UInt64>, ranges: MergedRanges, dictionaries: Set<[UInt8]>) {
        self.hashes = hashes
        self.ranges = ranges
        self.dictionaries = dictionaries
    }

    /// Whether a write of a key would change what was read.
    func areChanged(by key: UnsafeRawBufferPointer, hash: UInt64) -> Bool {
        hashes.contains(hash) || ranges.contains(key)
    }

    func areChanged(by claim: Claim) -> Bool {
        claim.isEverything || claim.changes.contains { hashes.contains($0.hash) }
            || claim.clears.contains { dictionaries.contains($0) }
            || ranges.prefixes.contains { claim.isIn($0) }
                && claim.hasKey { ranges.contains($0) }
    }
}

/// A record key begins with its dictionary's prefix, and that with the length of the name.
func dictionaryPrefix(of recordKey: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer.SubSequence {
    recordKey.prefix(1 + Int(recordKey[0]))
}
