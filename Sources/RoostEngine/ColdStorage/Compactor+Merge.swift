import RoostFormat
import RoostSnapshot

/// A merge of neighbouring tiers into one that goes from range to range of keys.
///
/// - `olderTierCount` tiers are older than those that are merged: counted from that end, they keep their
///   places while flushes and merges of newer ones go on.
/// - Before the first of `remainingCuts` lies the next range; after the last one the last range.
struct Merge {
    let olderTierCount: Int
    let tierCount: Int
    /// Where the next range begins. What lies before it, the oldest of the tiers alone has.
    var lowerBound: [UInt8] = []
    var remainingCuts: ArraySlice<[UInt8]>
    let dictionary: CompressionDictionary
    let begin = ContinuousClock.now
    /// What it has written so far.
    var written: [ColdTier.Part] = []
}

extension Compactor {
    /// Flushes when a flush is due and merges what is due, until nothing is.
    ///
    /// After a flush at least one range is merged before the next, and more where tiers have piled up:
    /// writers wait for flushes, but reads wait for every tier.
    func workUntilIdle() async throws {
        while isRunning {
            let isBusy = isFlushDue()
            if isBusy {
                try await flush()
                condition.release()
            }
            try await dropCleared()
            var steps = 1
            while isRunning, let merge = try takeMerge(isIdle: !isBusy) {
                try await step(merge)
                if isFlushDue(), steps >= cold.tiers.count - policy.busyMergeCount { break }
                steps += 1
            }
            if !isFlushDue(), try !isMergeDue(isIdle: true) { return }
        }
    }

    /// Merges the newest `tierCount` tiers, and flushes when that is due meanwhile.
    func merge(tierCount: Int) async throws {
        merges = [try newMerge(tierCount: tierCount, of: cold.tiers.count)]
        while let merge = merges.popLast() {
            try await step(merge)
            if isFlushDue(), !merges.isEmpty {
                try await flush()
                condition.release()
            }
        }
    }

    // MARK: What to merge

    var isRunning: Bool {
        !schedule.isStopping.load(ordering: .relaxed) && condition.poison == nil
    }

    /// How many tiers are newer than those of the merge that was begun last.
    private var newerTierCount: Int {
        guard let last = merges.last else { return cold.tiers.count }
        return cold.tiers.count - last.olderTierCount - last.tierCount
    }

    private func dueCount(isIdle: Bool) throws -> Int? {
        let newer = cold.tiers.prefix(newerTierCount)
        let sizes = try newer.map { tier in
            try tier.parts.reduce(0) { try $0 + KeyRanges.sizeBytes(of: $1) }
        }
        // A merge that is under way leaves out what was emptied before it began.
        let emptied = merges.isEmpty && !manifest.clears.isEmpty ? clearedSizeBytes() : 0
        return policy.mergeCount(
            sizes, emptied: emptied, isWhole: merges.isEmpty, isIdle: isIdle)
    }

    private func isMergeDue(isIdle: Bool) throws -> Bool {
        try !merges.isEmpty || dueCount(isIdle: isIdle) != nil
    }

    /// The merge to go on with: a small one of new tiers goes before the rest of a large one.
    private func takeMerge(isIdle: Bool) throws -> Merge? {
        if let count = try dueCount(isIdle: isIdle) {
            return try newMerge(tierCount: count, of: newerTierCount)
        }
        return merges.popLast()
    }

    /// Of the last `tierCount` of the newest tiers.
    private func newMerge(tierCount: Int, of newestCount: Int) throws -> Merge {
        let tiers = Array(cold.tiers[..<newestCount].prefix(tierCount))
        return Merge(
            olderTierCount: cold.tiers.count - tierCount, tierCount: tierCount,
            remainingCuts: try keyRanges.cuts(of: tiers)[...],
            dictionary: try dictionary(for: tiers, isAll: tierCount == cold.tiers.count))
    }

    /// That of the oldest of the tiers; another where it is outgrown and nothing else has it.
    private func dictionary(for tiers: [ColdTier], isAll: Bool) throws -> CompressionDictionary {
        let known = try tiers[tiers.count - 1].parts[0].snapshot.dictionary()
        func recordCount(_ tier: ColdTier) -> Int {
            tier.parts.reduce(0) { $0 + Int($1.snapshot.footer.recordCount) }
        }
        let count = tiers.reduce(0) { $0 + recordCount($1) }
        guard isAll, configuration.compresses, known.isOutgrown(byRecordCount: count),
            let largest = tiers.max(by: { recordCount($0) < recordCount($1) })
        else { return known }
        return try .trained(for: largest, recordCount: count)
    }

    // MARK: A step

    /// Merges the next ranges, as many as there are threads, and keeps what remains of the merge.
    private func step(_ merge: Merge) async throws {
        try checkOwnership()
        var merge = merge
        var next = manifest
        let end = cold.tiers.count - merge.olderTierCount
        let begin = end - merge.tierCount
        let merged = Array(cold.tiers[begin..<end])
        var jobs: [SnapshotBuilder.Job] = []
        var isLast = false
        var lower = merge.lowerBound
        while jobs.count < buildThreads.count, !isLast {
            let upper = merge.remainingCuts.popFirst()
            jobs.append(
                .init(
                    number: takeNumber(&next), lowerBound: lower,
                    origin: .tiers(merged, upper: upper)))
            isLast = upper == nil
            lower = upper ?? []
        }
        let builder = builder(
            manifest.clears, dictionary: merge.dictionary,
            dropsTombstones: merge.olderTierCount == 0)
        let fresh: [ColdTier.Part]
        let dropped: [Shard.Dropped]
        do {
            fresh = try await build(jobs, by: builder)
            let tiers =
                cold.tiers[..<begin] + merge.tiers(merged, by: fresh, upTo: isLast ? nil : lower)
                + cold.tiers[end...]
            dropped = try await install(Array(tiers), next, dropsFrozen: false)
        } catch {
            removeUnfinished()
            throw error
        }
        merge.lowerBound = lower
        if configuration.observer != nil { merge.written += fresh }
        if isLast {
            schedule.mergeCount.wrappingAdd(1, ordering: .relaxed)
            configuration.observer?.merged(
                observed(since: merge.begin, tierCount: merge.tierCount, merge.written))
        } else {
            merges.append(merge)
        }
        try withExtendedLifetime(dropped) { try removeUnneeded() }
        // A store that is never compacted as a whole keeps them else, and its manifest grows.
        if isLast, merge.olderTierCount == 0 { try await forgetClears() }
    }
}

extension Merge {
    /// What stands in the place of the tiers `merged` once `fresh` has all of theirs up to `bound`; `nil`: all of them.
    fileprivate func tiers(
        _ merged: [ColdTier], by fresh: [ColdTier.Part], upTo bound: [UInt8]?
    ) -> [ColdTier] {
        // What was merged before and now is in the oldest of the tiers alone.
        let done = merged[merged.count - 1].parts(before: lowerBound)
        let remaining = merged.map { tier in
            bound.map { tier.parts(from: $0, after: lowerBound) } ?? []
        }
        let lists = remaining.dropLast() + [done + fresh + (remaining.last ?? [])]
        return lists.filter { !$0.isEmpty }.map(ColdTier.init)
    }
}

extension ColdTier {
    /// What the tier has before `bound`, where one of its parts begins.
    fileprivate func parts(before bound: [UInt8]) -> [Part] {
        parts.filter { $0.lowerBound.lexicographicallyPrecedes(bound) }
    }

    /// What the tier has from `bound` on, of which nothing was merged yet: what stands before it is
    /// merged, and what begins before `merged` is what an earlier step has written.
    fileprivate func parts(from bound: [UInt8], after merged: [UInt8]) -> [Part] {
        parts.indices.compactMap { index in
            if parts[index].lowerBound.lexicographicallyPrecedes(merged) { return nil }
            let isLast = index == parts.count - 1
            if !isLast, !bound.lexicographicallyPrecedes(parts[index + 1].lowerBound) { return nil }
            guard parts[index].lowerBound.lexicographicallyPrecedes(bound) else {
                return parts[index]
            }
            return Part(snapshot: parts[index].snapshot, lowerBound: bound, isTrimmed: true)
        }
    }
}
