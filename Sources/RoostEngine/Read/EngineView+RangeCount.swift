import RoostFormat
import RoostIO
import RoostSnapshot

// How many keys are in a range, without a scan: what each tier of cold storage makes of the count, by its groups, and
// what the log changes in that, by sums that its order keeps or key by key. Where two orders of the log have keys in
// the dictionary, one may hide the other's, and a scan counts.

extension EngineView {
    /// How many live records are in `range`, which is of one dictionary; `nil` where only a scan tells.
    ///
    /// Costs about the logarithm of the keys in the log, and an addition for each group of cold storage in the range;
    /// the first counts of a dictionary after a flush look at each key in the log, and at each group once.
    package func count(in range: RecordRange) throws -> Int? { try countLive(in: range)?.count }

    /// The same, and an instant before which none of the values expires.
    func countLive(
        in range: RecordRange
    ) throws -> (count: Int, earliestDeadline: Deadline)? {
        try checkOpen()
        precondition(!range.prefix.isEmpty, "a range of one dictionary")
        if let upper = range.upper, !range.lower.lexicographicallyPrecedes(upper) {
            return (0, .never)
        }
        guard !parts.contains(where: { $0.enqueued != nil }),
            let parts = try countedParts(range)
        else { return nil }
        let count = try coldCount(of: parts, in: range)
        if isLogEmpty { return (count, .never) }
        // It may look at all keys, and the view be closed meanwhile.
        let hold = try ViewHold(self)
        defer { withExtendedLifetime(hold) {} }
        guard let change = try logChange(in: range, hasCold: !parts.isEmpty) else { return nil }
        try checkLogRead()
        return (count + change.count, change.earliestDeadline)
    }

    /// A snapshot that has records of the dictionary.
    private struct CountedPart {
        let tier: Int
        let part: ColdTier.Part
        let mayBeInRange: Bool
        let hasTombstones: Bool
    }

    /// The snapshots that have records of the range's dictionary, the newest first; `nil` where some of these are
    /// not live for another reason than what is newer.
    private func countedParts(_ range: RecordRange) throws -> [CountedPart]? {
        let cleared = clearedSequence(ofPrefix: range.prefix)
        let end = successor(ofPrefix: range.prefix)
        var counted: [CountedPart] = []
        for (index, tier) in cold.tiers.enumerated() {
            let inRange = tier.overlapping(range.lower, range.upper)
            for number in tier.overlapping(range.prefix, end) {
                let part = tier.parts[number]
                guard let entry = try part.snapshot.dictionaryCounts().entry(range.prefix) else {
                    continue
                }
                if entry.earliestDeadline != .never || entry.minimumSequence < cleared {
                    return nil
                }
                counted.append(
                    CountedPart(
                        tier: index, part: part, mayBeInRange: inRange.contains(number),
                        hasTombstones: entry.tombstoneCount > 0))
            }
        }
        return counted
    }

    private func coldCount(of parts: [CountedPart], in range: RecordRange) throws -> Int {
        let oldestTier = parts.last?.tier
        var count = 0
        for counted in parts where counted.mayBeInRange {
            var visible = range
            // What stands before that, a merge has taken over.
            if counted.part.hides(recordsFrom: range.lower) {
                visible = RecordRange(
                    prefix: range.prefix, lower: counted.part.lowerBound, upper: range.upper)
                if let upper = range.upper, !visible.lower.lexicographicallyPrecedes(upper) {
                    continue
                }
            }
            count += try counted.part.snapshot.countChange(
                in: visible, arePuts: !counted.hasTombstones,
                counted.tier == oldestTier ? nil : { try self.isCold($0, from: counted.tier + 1) })
        }
        return count
    }

    /// Whether cold storage has a value for a key, in the tiers from `first` on.
    func isCold(_ key: UnsafeRawBufferPointer, from first: Int = 0) throws -> Bool {
        if first >= cold.tiers.count { return false }
        return try cold.find(key, hash: hashSeed.hash(key), from: first)?.record.isPut ?? false
    }

    private typealias Change = (count: Int, earliestDeadline: Deadline)

    /// By how many the log's keys make the count another than that of cold storage.
    private func logChange(in range: RecordRange, hasCold: Bool) throws -> Change? {
        let orders = keyOrders
        // Of the only order there is: what it has need not be known first.
        if orders.count == 1, let count = try orders[0].countChange(in: range, self) {
            return (count, .never)
        }
        var found: (order: KeyOrder, keys: OrderedKeys)?
        for order in orders {
            let keys = try order.keys(of: range.prefix, in: self)
            if keys.runs.isEmpty { continue }
            if found != nil { return nil }
            found = (order, keys)
        }
        guard let (order, keys) = found else { return (0, .never) }
        if orders.count > 1, let count = try order.countChange(in: range, self) {
            return (count, .never)
        }
        return try countedByKeys(order, keys, range, hasCold: hasCold)
    }

    /// By a look at each key of the range.
    private func countedByKeys(
        _ order: KeyOrder, _ keys: OrderedKeys, _ range: RecordRange, hasCold: Bool
    ) throws -> Change {
        let tables = OrderedTables(self, order, keys)
        var change: Change = (0, .never)
        for (index, run) in keys.runs.enumerated() {
            try add(
                run, besides: keys.runs[..<index], tables, range, hasCold: hasCold, to: &change)
        }
        try withExtendedLifetime(tables) {
            if MappedRegion.faultCount != 0 { try keys.regions.checkRead() }
        }
        return change
    }

    /// The keys of one run that none of `others` has.
    private func add(
        _ run: OrderedRun, besides others: ArraySlice<OrderedRun>, _ tables: OrderedTables,
        _ range: RecordRange, hasCold: Bool, to change: inout Change
    ) throws {
        let cleared = clearedSequence(ofPrefix: range.prefix)
        let places = run.places(in: range)
        var place = places.lowerBound
        let end = places.upperBound
        while place < end {
            var count = 0
            while place < end, count < ScanRun.capacity {
                if run.isFirst(place), !others.contains(where: { $0.has(run.key(place)) }) {
                    tables.locations[count] = run.locations[place]
                    count += 1
                }
                place += 1
            }
            let batch = UnsafeMutableBufferPointer(start: tables.locations, count: count)
            try tables.resolve(batch)
            // Zero stands for a key that this view's tables do not have: it is as cold storage has it.
            for location in batch where location != 0 {
                let operation = Operation(location: location)
                if operation.isPut, clock.isLive(operation.deadline),
                    cleared == 0 || operation.sequence >= cleared
                {
                    change.count += 1
                    change.earliestDeadline = min(change.earliestDeadline, operation.deadline)
                }
                if hasCold, try isCold(operation.key) { change.count -= 1 }
            }
        }
    }
}

extension OrderedRun {
    fileprivate func has(_ key: UnsafeRawBufferPointer) -> Bool {
        let index = firstIndex(notBefore: key)
        return index < count && equalBytes(self.key(index), key)
    }
}
