extension Engine {
    /// Returns once no compaction runs that growth of the log set off. For tests that have to
    /// run again as they ran.
    package func waitForCompaction() async {
        while compactor.schedule.isRunning.load(ordering: .sequentiallyConsistent) {
            await compactor.beginWork()
            await compactor.endWork()
            await Task.yield()
        }
    }
}

extension Engine {
    /// Writes the log's records to snapshots and merges nothing. For tests that want several.
    package func flush() async throws { try await compactor.flushAlone() }
}

extension Engine {
    /// How many clears each shard keeps. For tests.
    package var clearCounts: [Int] {
        shards.map { shard in shard.published.withLock { $0.clears.count } }
    }
}

extension Compactor {
    fileprivate func flushAlone() async throws {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        try await flush()
        condition.release()
    }
}
