import RoostFormat
import RoostIO
import RoostSnapshot

extension Engine {
    /// Has the snapshots opened anew, so that the memory which was filled with what was read of the old ones goes with
    /// the last view of them: of sealed ones that memory is no other program's. Does not wait.
    package func releaseColdMemory(_ done: @escaping @Sendable () -> Void) {
        if let follower { return follower.shared.release(done) }
        Task.detached(executorPreference: compactor.taskExecutor) { [compactor] in
            await compactor.reopenSnapshots()
            done()
        }
    }
}

extension Compactor {
    /// Gives every shard readers of the same files that have read nothing yet. Does nothing between two steps of a
    /// merge, which keeps readers of its own and soon replaces them; where a file cannot be opened the old
    /// readers stay, and who reads on is told what is wrong.
    fileprivate func reopenSnapshots() async {
        await beginWork()
        defer { endWork() }
        guard merges.isEmpty, !cold.tiers.isEmpty else { return }
        let fresh: ColdStorage
        do {
            try condition.checkOpen()
            fresh = try cold.reopened(manifest, in: directory)
        } catch { return }
        cold = fresh
        var dropped: [Shard.Dropped] = []
        for shard in shards { dropped.append(await shard.install(cold, dropsFrozen: false)) }
        withExtendedLifetime(dropped) {}
    }
}

extension ColdStorage {
    /// The snapshots of `manifest`, which are those that are here, by readers that have read nothing yet.
    func reopened(_ manifest: ManifestRecord, in directory: any Directory) throws -> ColdStorage {
        ColdStorage(
            try ColdStorage(manifest, in: directory).tiers, generation: generation + 1)
    }
}
