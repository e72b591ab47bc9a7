import RoostFormat
import RoostSnapshot

extension Compactor {
    /// A shard, and how many of its newest snapshots become one.
    typealias Merge = (shard: Int, count: Int)

    /// Merges until nothing is due, or until a flush is.
    func mergeWhatIsDue(isIdle: Bool) async throws {
        while !schedule.isStopping.load(ordering: .relaxed) {
            let due = shards.indices.compactMap { shard -> Merge? in
                policy.mergeCount(manifest.snapshots[shard].map(\.fileSizeBytes), isIdle: isIdle)
                    .map { (shard, $0) }
            }
            // As many at a time as there are threads: a flush that comes due need not wait long.
            try await mergeTogether(Array(due.prefix(buildThreads.count)))
            if due.isEmpty || log.map({ $0.totalBytes >= schedule.nextFlushBytes }) == true {
                return
            }
        }
    }

    /// Merges in several steps, each of as many shards as there are threads, so that space
    /// comes back step by step.
    func merge(_ merges: [Merge]) async throws {
        for begin in stride(from: 0, to: merges.count, by: buildThreads.count) {
            let end = min(begin + buildThreads.count, merges.count)
            try await mergeTogether(Array(merges[begin..<end]))
        }
    }

    private func mergeTogether(_ merges: [Merge]) async throws {
        guard !merges.isEmpty else { return }
        var next = manifest
        next.generation += 1
        var lists: [Int: [SnapshotReader]] = [:]
        var jobs: [SnapshotBuilder.Job] = []
        for merge in merges {
            let list = shards[merge.shard].published.withLock { $0.snapshots.snapshots }
            lists[merge.shard] = list
            jobs.append(
                .init(
                    shard: merge.shard, number: next.nextSnapshotNumber,
                    origin: .snapshots(Array(list.prefix(merge.count))), existing: list))
            next.nextSnapshotNumber += 1
        }
        noteNumbers(of: next)
        let fresh = try await build(jobs, manifest.clears)
        for merge in merges {
            next.snapshots[merge.shard].replaceSubrange(
                0..<merge.count, with: fresh[merge.shard].map { [.init(footer: $0.footer)] } ?? [])
        }
        try replaceManifest(next)
        var dropped: [Shard.Dropped] = []
        for merge in merges {
            let kept = lists[merge.shard]!.dropFirst(merge.count)
            let list = SnapshotList((fresh[merge.shard].map { [$0] } ?? []) + kept)
            dropped.append(await shards[merge.shard].install(list, dropsFrozen: false))
        }
        schedule.mergeCount.wrappingAdd(UInt64(merges.count), ordering: .relaxed)
        try withExtendedLifetime(dropped) { try removeUnneeded() }
    }
}
