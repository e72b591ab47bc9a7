extension Engine {
    /// Forgets all decoded values, as when they would be decoded otherwise now.
    package func forgetResidents() {
        for shard in shards { shard.published.withLock { $0.residents.removeAll() } }
    }
}
