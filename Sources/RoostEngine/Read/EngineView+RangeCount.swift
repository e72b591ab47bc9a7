import RoostFormat
import RoostIO
import RoostSnapshot

// How many keys are in a range, without a scan: what one tier of cold storage has there, by its groups, and what
// the log changes in that, by sums that its order keeps or key by key. Where more than one tier, or more than one order of the log, has keys in the
// range, one may hide the other's, and a scan counts.

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
        var count = 0
        for part in parts { count += try part.snapshot.recordCount(in: range) }
        if isLogEmpty { return (count, .never) }
        guard let change = try logChange(in: range, hasCold: !parts.isEmpty) else { return nil }
        try checkLogRead()
        return (count + change.count, change.earliestDeadline)
    }

    /// The snapshots that have records in the range, all of which are live unless the log says otherwise; `nil`
    /// where they may not be.
    private func countedParts(_ range: RecordRange) throws -> [ColdTier.Part]? {
        let cleared = clearedSequence(ofPrefix: range.prefix)
        var counted: [ColdTier.Part] = []
        for tier in cold.tiers {
            let hadParts = !counted.isEmpty
            for part in tier.parts[tier.overlapping(range.lower, range.upper)] {
                guard let entry = try part.snapshot.dictionaryCounts().entry(range.prefix) else {
                    continue
                }
                if hadParts || entry.tombstoneCount > 0 || entry.earliestDeadline != .never
                    || entry.minimumSequence < cleared || part.hides(recordsFrom: range.lower)
                {
                    return nil
                }
                counted.append(part)
            }
        }
        return counted
    }

    private typealias Change = (count: Int, earliestDeadline: Deadline)

    /// By how many the log's keys make the count another than that of cold storage.
    private func logChange(in range: RecordRange, hasCold: Bool) throws -> Change? {
        let orders = keyOrders
        // Of the only order there is: what it has need not be known first.
        if orders.count == 1, let count = try countChange(orders[0], range) {
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
        if orders.count > 1, let count = try countChange(order, range) { return (count, .never) }
        return try countedByKeys(order, keys, range, hasCold: hasCold)
    }

    private func countChange(_ order: KeyOrder, _ range: RecordRange) throws -> Int? {
        // What was emptied is told by the numbers of the operations.
        if clearedSequence(ofPrefix: range.prefix) > 0 { return nil }
        return try order.countChange(in: range, self)
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
                if hasCold, try cold.find(operation.key, hash: hashSeed.hash(operation.key)) != nil
                {
                    change.count -= 1
                }
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
