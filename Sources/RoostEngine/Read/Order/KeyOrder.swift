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
    struct State {
        var dictionaries: [[UInt8]: DictionaryOrder] = [:]
        /// What is known of each shard's notes; `nil` where its table was never looked at.
        var marks: [NoteMark?] = []
        /// The same, of what took the place of other operations.
        var replacedMarks: [NoteMark?] = []
        /// Whatever any of the locations points into.
        var regions = RegionList()
    }

    /// An order that was begun later has a higher one.
    let number: UInt64
    let state = Mutex(State())
    private static let lastNumber = Atomic<UInt64>(0)

    init() { number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The keys in the dictionary `prefix` of the tables of this order that `view` sees, in order, and
    /// perhaps others.
    func keys(of prefix: [UInt8], in view: EngineView) throws -> OrderedKeys {
        try state.withLock { state in
            state.begin(shardCount: view.parts.count)
            var isExact = try state.takeNotes(of: self, view, prefix)
            if let runs = state.dictionaries[prefix]?.wholeRuns() {
                return OrderedKeys(runs: runs, isExact: isExact, regions: state.regions)
            }
            var dictionary = try state.collected(prefix, of: self, view)
            let runs = dictionary.broughtUpToDate()
            state.dictionaries[prefix] = dictionary
            // What was written meanwhile may have been collected: whether anything was is asked anew.
            isExact = try state.takeNotes(of: self, view, prefix)
            return OrderedKeys(runs: runs, isExact: isExact, regions: state.regions)
        }
    }
}

extension KeyOrder.State {
    mutating func begin(shardCount: Int) {
        guard marks.isEmpty else { return }
        marks = Array(repeating: nil, count: shardCount)
        replacedMarks = marks
    }

    /// Takes over what the view's tables have noted. Whether what the order says of each key of the
    /// dictionary `prefix`, up to here, is what the view sees.
    mutating func takeNotes(
        of order: KeyOrder, _ view: EngineView, _ prefix: [UInt8]
    ) throws -> Bool {
        var isExact = true
        for shard in view.parts.indices {
            guard let changed = try takeNotes(of: order, view, shard), !changed.contains(prefix)
            else {
                isExact = false
                continue
            }
        }
        return isExact
    }

    /// The dictionaries of which what the order says of each of the shard's keys may not be what the view
    /// sees; `nil` where that is any.
    private mutating func takeNotes(
        of order: KeyOrder, _ view: EngineView, _ shard: Int
    ) throws -> DictionarySet? {
        switch try view.takeNotes(of: order, inShard: shard, behind: marks[shard]) {
        case .none: return nil
        case .known(let changed): return changed
        case .noted(let noted, let changed):
            take(noted, ofShard: shard)
            return changed
        }
    }

    mutating func take(_ noted: TakenNotes, ofShard shard: Int) {
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
    mutating func collected(
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
