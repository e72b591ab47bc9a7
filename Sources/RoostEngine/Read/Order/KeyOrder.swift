import RoostFormat
import Synchronization

/// The log's keys in order, for scans: made by the first scan of a dictionary and brought up to date by
/// each later one, which sorts only what is new.
///
/// - The tables that the shards write to between two flushes have one order: a scan walks their keys
///   as one run, not as one of each shard. `shards` says how much of each table it knows.
/// - A key of such a table is in its dictionary's order, or among those that the table has noted
///   (`LogTable.notes`) and that no scan has taken over. A dictionary that was never scanned has no
///   order, and one may lack shards that the views which were scanned did not show.
/// - Keys only, some perhaps twice, some perhaps of no table any more: which operation a scan shows of
///   a key is looked up in the table.
/// - Its mutex is taken before a shard's. It is held while keys are sorted, so that of several
///   scans one does it and the others wait; a writer never waits for it.
///
/// docs/decisions/0045, 0046.
final class KeyOrder: Sendable {
    fileprivate struct State {
        var dictionaries: [[UInt8]: DictionaryOrder] = [:]
        /// What is known of each shard's notes; `nil` where its table was never looked at.
        var marks: [NoteMark?] = []
        /// Whatever any of the locations points into.
        var regions = RegionList()
    }

    /// An order that was begun later has a higher one.
    let number: UInt64
    private let state = Mutex(State())
    private static let lastNumber = Atomic<UInt64>(0)

    init() { number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The keys in the dictionary `prefix` of the tables of this order that `view` sees, in order, and
    /// perhaps others.
    func keys(of prefix: [UInt8], in view: EngineView) throws -> OrderedKeys {
        try state.withLock { state in
            if state.marks.isEmpty { state.marks = Array(repeating: nil, count: view.parts.count) }
            var isExact = try state.takeNotes(of: self, view)
            if let runs = state.dictionaries[prefix]?.wholeRuns() {
                return OrderedKeys(runs: runs, isExact: isExact, regions: state.regions)
            }
            var dictionary = try state.collected(prefix, of: self, view)
            let runs = dictionary.broughtUpToDate()
            state.dictionaries[prefix] = dictionary
            // What was written meanwhile may have been collected: whether anything was is asked anew.
            isExact = try state.takeNotes(of: self, view)
            return OrderedKeys(runs: runs, isExact: isExact, regions: state.regions)
        }
    }
}

extension KeyOrder.State {
    /// Takes over what the view's tables have noted. Whether what the order says of each key, up to
    /// here, is what the view sees.
    fileprivate mutating func takeNotes(of order: KeyOrder, _ view: EngineView) throws -> Bool {
        var isExact = true
        for shard in view.parts.indices {
            if try !takeNotes(of: order, view, shard) { isExact = false }
        }
        return isExact
    }

    /// Whether what the order says of each of the shard's keys is what the view sees.
    private mutating func takeNotes(
        of order: KeyOrder, _ view: EngineView, _ shard: Int
    ) throws -> Bool {
        switch try view.takeNotes(of: order, inShard: shard, behind: marks[shard]) {
        case .none: return false
        case .known(let isExact): return isExact
        case .noted(let noted, let isExact):
            take(noted, ofShard: shard)
            return isExact
        }
    }

    private mutating func take(_ noted: TakenNotes, ofShard shard: Int) {
        regions = regions.adding(noted.regions)
        marks[shard] = noted.mark
        guard let locations = noted.locations else {
            // What was noted is lost: the whole order begins again.
            dictionaries.removeAll()
            return
        }
        guard !dictionaries.isEmpty else { return }
        for location in locations {
            guard let (name, _) = splitRecordKey(Operation(location: location).key) else {
                continue
            }
            dictionaries[[UInt8(name.count)] + Array(name)]?.add(location)
        }
    }

    /// The order of a dictionary with the keys of shards that it lacks, as far as the view sees them.
    fileprivate mutating func collected(
        _ prefix: [UInt8], of order: KeyOrder, _ view: EngineView
    ) throws -> DictionaryOrder {
        var dictionary =
            dictionaries.removeValue(forKey: prefix)
            ?? DictionaryOrder(shardCount: marks.count)
        for shard in dictionary.missingShards {
            let table = try view.collectKeys(of: order, inShard: shard, prefix)
            guard let table else { continue }
            dictionary.add(table.locations, ofShard: shard)
            regions = regions.adding(table.regions)
        }
        return dictionary
    }
}

/// Keys in order, and what keeps their memory mapped.
struct OrderedKeys {
    let runs: [OrderedRun]
    /// Whether the runs have the operations that the view sees, each key's once, and no others. If not,
    /// each key has to be looked up.
    let isExact: Bool
    let regions: RegionList
}

/// One dictionary's keys in the tables of one order: a few sorted runs, and the keys that are in none
/// of them yet.
private struct DictionaryOrder {
    private var runs: [OrderedRun] = []
    private var unsorted: [UInt] = []
    /// The shards whose keys were collected.
    private var hasShard: [Bool]
    private var isWhole = false

    /// A run of at most this many keys takes in the next one whatever its size.
    private static let smallCount = 256
    private static let growth = 4

    init(shardCount: Int) {
        hasShard = Array(repeating: false, count: shardCount)
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
