import RoostFormat
import RoostLog

extension Engine {
    /// Makes a put, or with no value a removal, at once, or where something comes first has it made
    /// after that; readers see it when this returns. Suspends nobody and never waits for the disk.
    ///
    /// Throws, with nothing changed, what `failures` and the next `synchronize` are to be told.
    package func enqueue(_ value: EncodedValue?, key: String, name: DictionaryName) throws {
        try enqueue(value, key: key, name: name) {}
    }

    /// As the other. `beforeWrite` is called when the marks are away, and the write is not made.
    @inline(__always)
    func enqueue(
        _ value: EncodedValue?, key: String, name: DictionaryName, beforeWrite: () throws -> Void
    ) throws {
        if try condition.checkWritable() { try checkBacklog() }
        if let error = checkSizes(key: key, value: value) { throw error }
        // Nobody can have a synchronous call wait for room in the log: it gets some beyond the limit.
        try behind.noteAhead(
            sizeBytes: EnqueuedWrites.sizeBytes(
                keyCount: name.prefix.count + key.utf8.count, valueCount: value?.count ?? 0),
            isStalled: condition.waitCause != nil)
        let hash = hash(of: key, in: name)
        var appended: LogWriter.Appended?
        var isMade = false
        while !isMade {
            let generation = guards.generation
            if generation > 0 { try removeMarksAtOnce(of: name) }
            try beforeWrite()
            do {
                appended = try shard(of: hash).enqueue(
                    value, key: key, name: name, hash: hash, guardGeneration: generation)
                isMade = true
            } catch is GuardsChanged {
                continue
            } catch {
                throw name.withRecordKey(key) { WriteBehind.loss(of: $0, error) }
            }
        }
        if let appended { noteAppended(appended, enqueuedDurability) }
        // An index may have been declared meanwhile, and be built from a view that does not have this write.
        if guards.generation > 0 { removeMarksSince(of: name) }
    }

    /// Whether there are enqueued writes that are read, and have no place among the changes yet.
    package var hasEnqueued: Bool { shards.contains { $0.hasEnqueued } }

    /// How soon an enqueued write is on disk: as any other, and as a usual one where all others
    /// are synced before they return.
    var enqueuedDurability: Durability {
        configuration.durability == .synced
            ? .interval(.milliseconds(50)) : configuration.durability
    }
}
