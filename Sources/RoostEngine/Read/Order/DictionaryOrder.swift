import RoostFormat

/// One dictionary's keys in the tables of one order: a few sorted runs, and the keys that are in none
/// of them yet.
struct DictionaryOrder {
    private(set) var runs: [OrderedRun] = []
    private var unsorted: [UInt] = []
    /// The shards whose keys were collected.
    private var hasShard: [Bool]
    private(set) var isWhole = false
    /// What the keys mean to counts of ranges, once there were enough of these.
    var counts: OrderCounts?
    /// How many keys counts of ranges have looked at one by one.
    var walkedCount = 0

    /// A run of at most this many keys takes in the next one whatever its size.
    private static let smallCount = 256
    private static let growth = 4

    init(shardCount: Int) {
        hasShard = Array(repeating: false, count: shardCount)
    }

    /// The counts, which who takes them puts back: changing them in place would copy them.
    mutating func takeCounts() -> OrderCounts? {
        defer { counts = nil }
        return counts
    }

    var missingShards: [Int] { hasShard.indices.filter { !hasShard[$0] } }

    mutating func add(_ location: UInt) { unsorted.append(location) }

    mutating func add(_ locations: [UInt], ofShard shard: Int) {
        unsorted += locations
        hasShard[shard] = true
        isWhole = hasShard.allSatisfy { $0 }
    }

    /// The keys in order; `nil` where it lacks shards.
    mutating func wholeRuns() -> [OrderedRun]? { isWhole ? broughtUpToDate() : nil }

    /// Sorts what is new, and merges runs so that each is several times as large as the next: a
    /// key is merged as many times as there are sizes.
    mutating func broughtUpToDate() -> [OrderedRun] {
        guard !unsorted.isEmpty else { return runs }
        let shared = sharedBytes()
        var run = OrderedRun(unsorted, shared: shared)
        unsorted = []
        while let last = runs.last,
            last.count <= Self.smallCount || last.count < Self.growth * run.count
        {
            runs.removeLast()
            run = last.shortened(to: shared).merged(with: run)
        }
        runs.append(run)
        return runs
    }

    /// What the new keys begin with, and those of the runs too.
    private func sharedBytes() -> [UInt8] {
        let first = runs.last?.shared ?? Array(Operation(location: unsorted[0]).key)
        var count = first.count
        first.withUnsafeBytes { first in
            for (index, location) in unsorted.enumerated() {
                let ahead = index + 16
                if ahead < unsorted.count { Operation(location: unsorted[ahead]).prefetch() }
                count = commonPrefixCount(
                    .init(rebasing: first[..<count]), Operation(location: location).key)
            }
        }
        return Array(first[..<count])
    }
}
