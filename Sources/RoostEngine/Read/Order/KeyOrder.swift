import RoostFormat
import Synchronization

/// The keys of a log table in order, for scans: made by the first scan of a dictionary and brought
/// up to date by each later one, which sorts only what is new.
///
/// - A key of the table is in its dictionary's order, or among those that the table has noted
///   (`LogTable.unordered`) and that no scan has taken over: the first `takenCount` of them are.
///   A dictionary that was never scanned has no order.
/// - Keys only: which operation a scan shows of a key is looked up in the table.
/// - Its mutex is taken before the shard's. It is held while keys are sorted, so that of several
///   scans one does it and the others wait; a writer never waits for it.
///
/// docs/decisions/0045.
final class KeyOrder: Sendable {
    fileprivate struct State {
        var dictionaries: [[UInt8]: DictionaryOrder] = [:]
        var takenCount = 0
    }

    private let state = Mutex(State())

    /// The keys of the dictionary `prefix`, in order; `nil` where this is no more the order of the
    /// table that `source` shows.
    func keys(of prefix: [UInt8], from source: some OrderSource) throws -> OrderedKeys? {
        try state.withLock { state in
            guard var fresh = source.unordered(of: self, from: state.takenCount) else { return nil }
            state.take(fresh.locations)
            if state.dictionaries[prefix] == nil {
                let collected = try source.collect(prefix)
                state.dictionaries[prefix] = DictionaryOrder(unchecked: collected.locations)
                // What came meanwhile may have been collected too.
                if let later = source.unordered(of: self, from: state.takenCount) {
                    state.take(later.locations)
                    fresh = later
                } else {
                    fresh.regions = collected.regions
                }
            }
            let runs = state.dictionaries[prefix]!.broughtUpToDate(prefix)
            return OrderedKeys(runs: runs, regions: fresh.regions)
        }
    }
}

extension KeyOrder.State {
    fileprivate mutating func take(_ locations: [UInt]) {
        takenCount += locations.count
        guard !dictionaries.isEmpty else { return }
        for location in locations {
            guard let (name, _) = splitRecordKey(Operation(location: location).key) else {
                continue
            }
            dictionaries[[UInt8(name.count)] + Array(name)]?.add(location)
        }
    }
}

/// Keys in order, and what keeps their memory mapped.
struct OrderedKeys {
    let runs: [OrderedRun]
    let regions: RegionList
}

/// Where an order gets a table's keys from.
protocol OrderSource {
    /// The keys that the table has noted behind the first `count`; `nil` where `order` is not, or
    /// no more, the table's.
    func unordered(of order: KeyOrder, from count: Int) -> (locations: [UInt], regions: RegionList)?
    /// All keys of the table in the dictionary, in no order.
    func collect(_ prefix: [UInt8]) throws -> (locations: [UInt], regions: RegionList)
}

/// One dictionary's keys in one table: a few sorted runs without a key in common, and the keys
/// that are in none of them yet.
private struct DictionaryOrder {
    private var runs: [OrderedRun] = []
    private var unsorted: [UInt]
    private var mayRepeat: Bool

    /// A run of at most this many keys takes in the next one whatever its size.
    private static let smallCount = 256
    private static let growth = 4

    /// `unchecked` may have keys more than once.
    init(unchecked: [UInt]) {
        unsorted = unchecked
        mayRepeat = true
    }

    mutating func add(_ location: UInt) { unsorted.append(location) }

    /// Sorts what is new, and merges runs so that each is several times as large as the next: a
    /// key is merged as many times as there are sizes.
    mutating func broughtUpToDate(_ prefix: [UInt8]) -> [OrderedRun] {
        guard !unsorted.isEmpty else { return runs }
        let shared = sharedBytes()
        var run = OrderedRun(unsorted, shared: shared, removesRepeats: mayRepeat)
        unsorted = []
        mayRepeat = false
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
