import RoostFormat
import RoostIO
import RoostSnapshot

// How many keys of an order are in a range, from sums that are kept beside its runs. docs/decisions/0205.

/// What a table has noted for counts, and how what a view sees of it is another than what it has now.
struct TakenCounts {
    /// A key that was changed since the view began: the operation that the table has now, and the one that
    /// the view sees.
    struct Change {
        let now: Operation
        let seen: Operation?
    }

    let noted: TakenNotes
    /// `nil` where some of it was forgotten.
    let replaced: [UInt]?
    let replacedMark: NoteMark
    let changes: [Change]

    /// More changes than that are not looked at under a shard's mutex.
    static let changeLimit = 256
}

extension KeyOrder {
    /// By how many the keys of this order make the count of a range another than that of cold storage;
    /// `nil` where that takes a look at each key.
    func countChange(in range: RecordRange, _ view: EngineView) throws -> Int? {
        try state.withLock { state in
            state.begin(shardCount: view.parts.count)
            return try state.countChange(in: range, of: self, view)
        }
    }
}

extension KeyOrder.State {
    fileprivate mutating func countChange(
        in range: RecordRange, of order: KeyOrder, _ view: EngineView
    ) throws -> Int? {
        guard try prepareCounts(of: range, order, view) else { return nil }
        guard let changes = try takeCounts(of: order, view),
            // What was lost took the counts with it.
            var dictionary = dictionaries.removeValue(forKey: range.prefix)
        else { return nil }
        guard var counts = dictionary.takeCounts() else {
            dictionaries[range.prefix] = dictionary
            return nil
        }
        // Where it throws, the next scan collects the dictionary anew.
        guard let runs = dictionary.wholeRuns(), try counts.update(runs, { try view.isCold($0) })
        else {
            dictionaries[range.prefix] = dictionary
            return nil
        }
        var change = counts.change(in: range)
        var isKnown = !counts.hasDeadlines
        for one in changes where range.contains(one.now.key) {
            if one.now.expires || one.seen?.expires == true { isKnown = false }
            change -= counts.isLive(one.now) ? 1 : 0
            if let seen = one.seen {
                change += counts.isLive(seen) ? 1 : 0
            } else if try view.isCold(one.now.key) {
                // The view sees what cold storage has.
                change += 1
            }
        }
        dictionary.counts = counts
        dictionaries[range.prefix] = dictionary
        if MappedRegion.faultCount != 0 { try regions.checkRead() }
        return isKnown ? change : nil
    }

    /// Whether the dictionary has counts for this cold storage, which are made once as much was looked at
    /// key by key as that costs.
    private mutating func prepareCounts(
        of range: RecordRange, _ order: KeyOrder, _ view: EngineView
    ) throws -> Bool {
        let generation = view.cold.tiers.isEmpty ? nil : view.cold.generation
        let cleared = view.clearedSequence(ofPrefix: range.prefix)
        if dictionaries[range.prefix]?.isWhole != true {
            _ = try takeNotes(of: order, view, range.prefix)
            dictionaries[range.prefix] = try collected(range.prefix, of: order, view)
        }
        guard dictionaries[range.prefix]?.isWhole == true else { return false }
        if let counts = dictionaries[range.prefix]?.counts {
            if counts.coldGeneration == generation, counts.clearedSequence == cleared {
                return true
            }
            // The counts are of a cold storage that came after the view.
            if let known = counts.coldGeneration, known > view.cold.generation { return false }
            dictionaries[range.prefix]?.counts = nil
            dictionaries[range.prefix]?.walkedCount = 0
        }
        let runs = dictionaries[range.prefix]?.broughtUpToDate() ?? []
        let keyCount = runs.reduce(0) { $0 + $1.count }
        let walked = runs.reduce(0) { $0 + $1.places(in: range).count }
        dictionaries[range.prefix]?.walkedCount += walked
        guard (dictionaries[range.prefix]?.walkedCount ?? 0) * 2 >= keyCount else { return false }
        // From here on what changes is noted.
        guard try takeCounts(of: order, view) != nil,
            let runs = dictionaries[range.prefix]?.broughtUpToDate()
        else { return false }
        var current: [[UInt]] = []
        for run in runs {
            let found = try view.currentOperations(of: order, run.locations, &regions)
            guard let found else { return false }
            current.append(found)
        }
        dictionaries[range.prefix]?.counts = try OrderCounts(
            runs, current: current, coldGeneration: generation, clearedSequence: cleared,
            { try view.isCold($0) })
        return true
    }

    /// Takes over what the tables have noted; `nil` where the view does not see the order in all shards, or
    /// sees too much of it as it is no more.
    private mutating func takeCounts(
        of order: KeyOrder, _ view: EngineView
    ) throws -> [TakenCounts.Change]? {
        var changes: [TakenCounts.Change] = []
        var isKnown = true
        for shard in view.parts.indices {
            let taken = try view.takeCounts(
                of: order, inShard: shard, behind: marks[shard], replacedMarks[shard])
            guard let taken else {
                isKnown = false
                continue
            }
            take(taken.noted, ofShard: shard)
            replacedMarks[shard] = taken.replacedMark
            if let replaced = taken.replaced {
                for location in replaced { noteReplaced(location) }
            } else {
                for prefix in dictionaries.keys { dictionaries[prefix]?.counts = nil }
            }
            changes += taken.changes
        }
        return isKnown ? changes : nil
    }

    private mutating func noteReplaced(_ location: UInt) {
        guard let (name, _) = splitRecordKey(Operation(location: location).key) else { return }
        let prefix = [UInt8(name.count)] + Array(name)
        guard dictionaries[prefix]?.counts?.note(location) == false else { return }
        dictionaries[prefix]?.counts = nil
    }
}

extension EngineView {
    /// Takes what the table of `order` in a shard has noted. From here on it notes what comes to it. `nil`
    /// where the view has none of the order in the shard, or one that is not written to any more and that
    /// later views do not see.
    fileprivate func takeCounts(
        of order: KeyOrder, inShard index: Int, behind mark: NoteMark?, _ replacedMark: NoteMark?
    ) throws -> TakenCounts? {
        let part = parts[index]
        if let frozen = part.frozen, frozen.order === order {
            return TakenCounts(frozen, behind: mark, replacedMark, changes: [])
        }
        guard part.activeOrder === order else { return nil }
        return try shard(index).published.withLock { state in
            guard state.layers.isOnActiveTable(id), state.active.order === order,
                let changes = try state.layers.changes(since: id, of: state.active)
            else { return nil }
            let taken = TakenCounts(state.active, behind: mark, replacedMark, changes: changes)
            state.active.beginNoting()
            state.active.dropNotes()
            state.active.beginCounting(clearedSequence: state.clears.values.max() ?? 0)
            return taken
        }
    }

    /// The operations that the tables of `order` have now on the keys of others; zero where they have none.
    /// `nil` where the view does not see the order in all shards, or it is not written to any more. They may stand
    /// in segments that are younger than the view, which `regions` keeps mapped.
    fileprivate func currentOperations(
        of order: KeyOrder, _ locations: [UInt], _ regions: inout RegionList
    ) throws -> [UInt]? {
        var places = Array(repeating: [Int](), count: parts.count)
        let hashes = locations.map { hashSeed.hash(Operation(location: $0).key) }
        for (place, hash) in hashes.enumerated() {
            places[shardIndex(of: hash, shardCount: parts.count)].append(place)
        }
        var current = Array(repeating: UInt(0), count: locations.count)
        func look(_ places: ArraySlice<Int>, _ table: LogTable) {
            for place in places {
                let key = Operation(location: locations[place]).key
                current[place] = table.find(key, hash: hashes[place])?.location ?? 0
            }
        }
        for (index, places) in places.enumerated() {
            if let frozen = parts[index].frozen, frozen.order === order {
                look(places[...], frozen)
                continue
            }
            guard parts[index].activeOrder === order else { return nil }
            for begin in stride(from: 0, to: places.count, by: 1 << Self.collectedSlotBits) {
                let end = min(places.count, begin + 1 << Self.collectedSlotBits)
                let pointedInto = shard(index).published.withLock { state -> RegionList? in
                    guard state.active.order === order else { return nil }
                    look(places[begin..<end], state.active)
                    return state.active.regions
                }
                guard let pointedInto else { return nil }
                regions = regions.adding(pointedInto)
            }
        }
        return current
    }
}

extension TakenCounts {
    fileprivate init(
        _ table: LogTable, behind mark: NoteMark?, _ replacedMark: NoteMark?, changes: [Change]
    ) {
        noted = TakenNotes(table, behind: mark)
        replaced = replacedMark.map { table.replaced.behind($0) } ?? []
        self.replacedMark = table.replaced.mark
        self.changes = changes
    }
}

extension ViewLayers {
    /// How the keys of the table were changed since a view began; `nil` where it is too many to look at.
    fileprivate func changes(
        since view: UInt64, of active: LogTable
    ) throws -> [TakenCounts.Change]? {
        try withLayers(of: view, active: active) { table, layers in
            let changed = layers.lazy.map(\.changed).filter { !$0.isEmpty }
            if changed.isEmpty { return [] }
            guard changed.reduce(0, { $0 + $1.count }) <= TakenCounts.changeLimit else {
                return nil
            }
            var changes: [TakenCounts.Change] = []
            var seenHashes: [UInt64: [UnsafeRawBufferPointer]] = [:]
            for layer in changed {
                layer.forEach { key, hash in
                    // What the first layer says of a key is what the view sees.
                    if seenHashes[hash]?.contains(where: { equalBytes($0, key) }) == true { return }
                    seenHashes[hash, default: []].append(key)
                    guard let now = table.find(key, hash: hash) else { return }
                    changes.append(
                        .init(now: now, seen: Self.find(key, hash: hash, in: table, layers)))
                }
            }
            return changes
        }
    }
}
