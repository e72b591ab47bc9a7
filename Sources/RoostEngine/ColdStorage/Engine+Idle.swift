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
