import RoostFormat

extension Engine {
    /// Leaves a put, or with no value a removal, to be committed behind the call; readers see it
    /// when this returns. Suspends nobody and never waits for the disk.
    ///
    /// Throws, with nothing changed, what `failures` and the next `synchronize` are to be told.
    package func enqueue(_ value: EncodedValue?, key: String, name: DictionaryName) throws {
        if try condition.checkWritable() { try checkBacklog() }
        if let error = checkSizes(key: key, value: value) { throw error }
        let hash = hash(of: key, in: name)
        let shard = shard(of: hash)
        let size = EnqueuedWrites.sizeBytes(
            keyCount: name.prefix.count + key.utf8.count, valueCount: value?.count ?? 0)
        try behind.reserve(sizeBytes: size)
        do {
            guard try shard.enqueue(value, key: key, name: name, hash: hash) else { return }
        } catch {
            behind.release(sizeBytes: size)
            throw error
        }
        Task.detached(executorPreference: taskExecutor) { await shard.drainInBackground() }
    }

    /// How soon an enqueued write is on disk: as any other, and as a usual one where all others
    /// are synced before they return.
    var enqueuedDurability: Durability {
        configuration.durability == .synced
            ? .interval(.milliseconds(50)) : configuration.durability
    }
}
