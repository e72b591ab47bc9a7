import RoostFormat
import RoostIO
import RoostSnapshot

// How many keys are in a range, without a scan: what one tier of cold storage has there, by its groups, and what
// the log changes in that, key by key. Where more than one tier, or more than one order of the log, has keys in the
// range, one may hide the other's, and a scan counts.

extension EngineView {
    /// How many live records are in `range`, which is of one dictionary; `nil` where only a scan tells.
    ///
    /// Costs a look at each key in the log that is in the range, and at each group of cold storage.
    package func count(in range: RecordRange) throws -> Int? {
        try checkOpen()
        precondition(!range.prefix.isEmpty, "a range of one dictionary")
        if let upper = range.upper, !range.lower.lexicographicallyPrecedes(upper) { return 0 }
        guard !parts.contains(where: { $0.enqueued != nil }),
            let parts = try countedParts(range)
        else { return nil }
        var count = 0
        for part in parts { count += try part.snapshot.recordCount(in: range) }
        if isLogEmpty { return count }
        guard let change = try logChange(in: range, hasCold: !parts.isEmpty) else { return nil }
        try checkLogRead()
        return count + change
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

    /// By how many the log's keys make the count another than that of cold storage.
    private func logChange(in range: RecordRange, hasCold: Bool) throws -> Int? {
        var found: (order: KeyOrder, keys: OrderedKeys)?
        for order in keyOrders {
            let keys = try order.keys(of: range.prefix, in: self)
            if keys.runs.isEmpty { continue }
            if found != nil { return nil }
            found = (order, keys)
        }
        guard let (order, keys) = found else { return 0 }
        let tables = OrderedTables(self, order, keys)
        var change = 0
        for (index, run) in keys.runs.enumerated() {
            change += try self.change(
                run, besides: keys.runs[..<index], tables, range, hasCold: hasCold)
        }
        try withExtendedLifetime(tables) {
            if MappedRegion.faultCount != 0 { try keys.regions.checkRead() }
        }
        return change
    }

    /// Of the keys of one run that none of `others` has.
    private func change(
        _ run: OrderedRun, besides others: ArraySlice<OrderedRun>, _ tables: OrderedTables,
        _ range: RecordRange, hasCold: Bool
    ) throws -> Int {
        let cleared = clearedSequence(ofPrefix: range.prefix)
        var place = range.lower.withUnsafeBytes { run.firstIndex(notBefore: $0) }
        let end =
            range.upper.map { upper in upper.withUnsafeBytes { run.firstIndex(notBefore: $0) } }
            ?? run.count
        var change = 0
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
                    change += 1
                }
                if hasCold, try cold.find(operation.key, hash: hashSeed.hash(operation.key)) != nil
                {
                    change -= 1
                }
            }
        }
        return change
    }
}

extension OrderedRun {
    /// Whether the key at `index` is not that before it.
    fileprivate func isFirst(_ index: Int) -> Bool {
        index == 0 || words[index] != words[index - 1] || !equalBytes(key(index), key(index - 1))
    }

    fileprivate func has(_ key: UnsafeRawBufferPointer) -> Bool {
        let index = firstIndex(notBefore: key)
        return index < count && equalBytes(self.key(index), key)
    }
}
