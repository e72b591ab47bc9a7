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

extension Compactor {
    fileprivate func flushAlone() async throws {
        await beginWork()
        defer { endWork() }
        try condition.checkOpen()
        try await flush()
        condition.release()
    }
}
