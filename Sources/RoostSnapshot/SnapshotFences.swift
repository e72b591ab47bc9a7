import RoostFormat
import RoostIO
import Synchronization

/// Where one dictionary's groups begin, so that a scan finds its first group without reading, and
/// checking, a group at each step of the search. Filled in by the searches that come by: each
/// group is read once.
///
/// - Groups `begin..<end` begin with a key of the dictionary; all those keys begin with `shared`.
/// - `words[i]` is the eight bytes after it of the first key of group `begin + i`; zero where it
///   has not been looked at.
/// - `changes[i]` is what that group makes of a count of the dictionary's keys, as counts of ranges have
///   found. It is empty before the first.
struct SnapshotFences: Sendable {
    private let begin: Int
    private let end: Int
    private let shared: [UInt8]
    private var words: [UInt64]
    private var changes: [Int8] = []
    /// More than a group has records.
    private static let unknownChange = Int8.min

    init(_ prefix: [UInt8], in snapshot: SnapshotReader) throws {
        begin = try prefix.withUnsafeBytes {
            try snapshot.firstGroup(beginningBehind: $0, orAt: true, in: 0..<snapshot.groupCount)
        }
        guard let next = successor(ofPrefix: prefix) else {
            preconditionFailure("a dictionary's prefix begins with its length")
        }
        let range = begin..<snapshot.groupCount
        end = try next.withUnsafeBytes {
            try snapshot.firstGroup(beginningBehind: $0, orAt: true, in: range)
        }
        guard begin < end else {
            shared = []
            words = []
            return
        }
        let first = try snapshot.withFirstKey(ofGroup: begin) { Array($0) }
        let common = try snapshot.withFirstKey(ofGroup: end - 1) { last in
            first.withUnsafeBytes { commonPrefixCount($0, last) }
        }
        shared = Array(first[..<common])
        words = Array(repeating: 0, count: end - begin)
    }

    /// The sum of what `groups` make of a count, as far as that is known, and those of which it is not.
    func change(of groups: Range<Int>) -> (sum: Int, unknown: [Int]) {
        if changes.isEmpty || groups.lowerBound < begin || groups.upperBound > end {
            return (0, Array(groups))
        }
        var sum = 0
        var unknownCount = 0
        for change in changes[(groups.lowerBound - begin)..<(groups.upperBound - begin)] {
            let isUnknown = change == Self.unknownChange
            sum += isUnknown ? 0 : Int(change)
            unknownCount += isUnknown ? 1 : 0
        }
        if unknownCount == 0 { return (sum, []) }
        return (sum, groups.filter { changes[$0 - begin] == Self.unknownChange })
    }

    mutating func note(_ change: Int, ofGroup index: Int) {
        guard begin..<end ~= index, let change = Int8(exactly: change) else { return }
        if changes.isEmpty {
            changes = Array(repeating: Self.unknownChange, count: end - begin)
        }
        changes[index - begin] = change
    }

    /// The last group that begins at or before `bound`, or the first of all: the only one that may
    /// hold it.
    mutating func group(for bound: UnsafeRawBufferPointer, in snapshot: SnapshotReader) throws
        -> Int
    {
        let common = min(shared.count, bound.count)
        let comparison = shared.withUnsafeBytes {
            compareBytes(.init(rebasing: bound[..<common]), .init(rebasing: $0[..<common]))
        }
        if comparison < 0 || (comparison == 0 && bound.count < shared.count) {
            return max(0, begin - 1)
        }
        if comparison > 0 { return max(0, end - 1) }
        let word = leadingWord(bound, from: shared.count)
        var low = begin
        var high = end
        while low < high {
            let middle = (low + high) / 2
            if words[middle - begin] == 0 {
                words[middle - begin] = try snapshot.withFirstKey(ofGroup: middle) {
                    leadingWord($0, from: shared.count)
                }
            }
            let known = words[middle - begin]
            let isAtOrBefore =
                known != word
                ? known < word : try snapshot.compareFirstKey(ofGroup: middle, to: bound) <= 0
            if isAtOrBefore { low = middle + 1 } else { high = middle }
        }
        return max(0, low - 1)
    }
}

/// The fences of the dictionaries that were scanned.
struct SnapshotFenceCache: Sendable {
    var dictionaries: [[UInt8]: SnapshotFences] = [:]

    /// Beyond it all are forgotten: a store may have a great many dictionaries.
    static let dictionaryCount = 64
}

extension SnapshotReader {
    /// The last group that begins at or before `bound`, or the first of all; `bound` is about a
    /// key of the dictionary `prefix`, or of any where it is empty.
    package func group(for bound: UnsafeRawBufferPointer, in prefix: [UInt8]) throws -> Int {
        guard !prefix.isEmpty else {
            let behind = try firstGroup(beginningBehind: bound, orAt: false, in: 0..<groupCount)
            return max(0, behind - 1)
        }
        // Held over the search, which is as short as what it would be given back for.
        return try fences.withLock { cache in
            if let group = try cache.dictionaries[prefix]?.group(for: bound, in: self) {
                return group
            }
            var made = try SnapshotFences(prefix, in: self)
            let group = try made.group(for: bound, in: self)
            if cache.dictionaries.count >= SnapshotFenceCache.dictionaryCount {
                cache.dictionaries.removeAll()
            }
            cache.dictionaries[prefix] = made
            return group
        }
    }

    /// The first group in `groups` whose first key is after `bound`, or at it where that is
    /// wanted.
    func firstGroup(
        beginningBehind bound: UnsafeRawBufferPointer, orAt isAtWanted: Bool, in groups: Range<Int>
    ) throws -> Int {
        var low = groups.lowerBound
        var high = groups.upperBound
        while low < high {
            let middle = (low + high) / 2
            let comparison = try compareFirstKey(ofGroup: middle, to: bound)
            if comparison < 0 || (comparison == 0 && !isAtWanted) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    func compareFirstKey(
        ofGroup index: Int, to bound: UnsafeRawBufferPointer
    ) throws -> Int {
        try withFirstKey(ofGroup: index) { compareBytes($0, bound) }
    }

    /// Calls `body` with a group's first key, whole.
    package func withFirstKey<Result>(
        ofGroup index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result {
        let group = try group(index)
        var cursor = try cursor(group)
        guard let record = cursor.next() else {
            throw damaged("a group's records make no sense", at: group.baseAddress!)
        }
        if record.shared == 0 {
            let result = try body(record.suffix)
            try checkRead(group)
            return result
        }
        return try withUnsafeTemporaryAllocation(
            byteCount: record.shared + record.suffix.count, alignment: 1
        ) { key in
            footer.firstKey.withBytes {
                key.copyMemory(from: .init(rebasing: $0[..<record.shared]))
            }
            UnsafeMutableRawBufferPointer(rebasing: key[record.shared...]).copyMemory(
                from: record.suffix)
            try checkRead(group)
            return try body(UnsafeRawBufferPointer(key))
        }
    }
}
