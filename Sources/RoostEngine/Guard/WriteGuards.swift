import RoostFormat
import RoostIO
import Synchronization

/// Dictionaries of which something else is derived, as indexes are of objects.
///
/// What is derived holds as long as a *mark* does, a record of its own. A write of a guarded
/// dictionary that does not say that it keeps what is derived takes the marks away in the same batch.
///
/// - A change of the guards has a `generation`. Each shard has the generation that counts in it, and
///   refuses a batch that was made ready under an earlier one (`Shard.prepare`, `Shard.write`): it is made
///   ready anew. A put of a single key asks its shard's turn anyway whether something comes first
///   (`ShardTurn.isContended`), so it costs nothing where nothing is guarded.
/// - docs/decisions/0081.
package final class WriteGuards: Sendable {
    private struct State {
        var generation: UInt64 = 0
        var marks: [[UInt8]: Set<[UInt8]>] = [:]
        /// The dictionaries whose marks are as the opening found them: nobody puts one of these anew.
        var foundAtOpening: Set<[UInt8]> = []
    }

    private let state = Mutex(State())
    private let latest = Atomic<UInt64>(0)

    var generation: UInt64 { latest.load(ordering: .acquiring) }

    /// The record keys of the marks of a dictionary, by its prefix.
    package func marks(of prefix: [UInt8]) -> Set<[UInt8]> {
        if generation == 0 { return [] }
        return state.withLock { $0.marks[prefix] ?? [] }
    }

    /// The generation, where all marks of a dictionary are among `kept`.
    fileprivate func generation(of prefix: [UInt8], keeping kept: Set<[UInt8]>) -> UInt64? {
        state.withLock { state in
            state.marks[prefix]?.isSubset(of: kept) ?? true ? state.generation : nil
        }
    }

    /// Sets the marks of a dictionary; the new generation.
    func set(
        _ marks: Set<[UInt8]>, of prefix: [UInt8], isOpening: Bool = false
    ) -> UInt64 {
        state.withLock { state in
            state.marks[prefix] = marks
            if isOpening {
                state.foundAtOpening.insert(prefix)
            } else {
                state.foundAtOpening.remove(prefix)
            }
            state.generation += 1
            latest.store(state.generation, ordering: .releasing)
            return state.generation
        }
    }

    /// Adds to a batch the removals of the marks that it takes away.
    func complete(_ batch: inout EncodedBatch) {
        let generation = generation
        guard generation > 0, batch.guardGeneration != generation else { return }
        let marks = state.withLock { state in
            batch.guardGeneration = state.generation
            var marks: Set<[UInt8]> = []
            for prefix in batch.dictionaries {
                if let own = state.marks[prefix] { marks.formUnion(own) }
            }
            marks.subtract(batch.keptMarks)
            for prefix in batch.plainDictionaries.union(batch.clears) {
                if let own = state.marks[prefix] { marks.formUnion(own) }
            }
            return marks
        }
        batch.removedMarks.formUnion(marks)
        // In one order, so that the same run writes the same bytes.
        for mark in marks.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            batch.removeMark(mark)
        }
    }
}

extension WriteGuards {
    /// Forgets the marks that a committed batch has taken away, of dictionaries of which nobody has said since the
    /// opening what is derived of them: what is not there any more need not be taken away again. Recovery keeps a
    /// begin of the sequence, so that a later write survives no crash that the removal does not survive.
    ///
    /// - Returns: the dictionaries that have no marks left.
    func forgetRemoved(by batch: EncodedBatch) -> [[UInt8]] {
        guard !batch.removedMarks.isEmpty else { return [] }
        return state.withLock { state in
            var bare: [[UInt8]] = []
            for prefix in batch.dictionaries.union(batch.clears)
            where state.foundAtOpening.contains(prefix) {
                guard let marks = state.marks[prefix], !marks.isEmpty else { continue }
                let left = marks.subtracting(batch.removedMarks)
                // No new generation: batches that are made ready already take away more than they must.
                state.marks[prefix] = left
                if left.isEmpty { bare.append(prefix) }
            }
            return bare
        }
    }
}

/// The marks that the writes of somebody keep, and for which state of the guards that is known to be enough.
package final class KeptMarks: Sendable {
    package let marks: Set<[UInt8]>
    private let known = Atomic<UInt64>(0)

    package init(_ marks: Set<[UInt8]>) { self.marks = marks }

    /// The state of the guards, where a write of the dictionary that keeps these marks takes none away; else
    /// `nil`. Costs two loads where nothing has changed.
    package func generation(of guards: WriteGuards, _ name: DictionaryName) -> UInt64? {
        let generation = guards.generation
        if generation == known.load(ordering: .relaxed) { return generation }
        guard let generation = guards.generation(of: name.prefix, keeping: marks) else {
            return nil
        }
        known.store(generation, ordering: .relaxed)
        return generation
    }
}

/// A put of a single key met a guard: it has to be a batch.
struct GuardedWrite: Error {}

/// A batch was completed for other guards than a shard knows by now.
struct GuardsChanged: Error {}

extension Engine {
    /// Sets the marks whose removal every write of a dictionary brings with it, but for the batches
    /// that keep them: all that are there, and those that are about to be. Returns once no write is under
    /// way that does not know of them.
    package func guardWrites(of name: DictionaryName, marks: Set<[UInt8]>) async {
        let generation = guards.set(marks, of: name.prefix)
        for shard in shards {
            await shard.apply(guardGeneration: generation, prefix: name.prefix)
        }
    }

    /// As `guardWrites`, before anybody has the engine.
    package func guardWritesAtOpening(of name: DictionaryName, marks: Set<[UInt8]>) {
        let generation = guards.set(marks, of: name.prefix, isOpening: true)
        for shard in shards {
            shard.begin(guardGeneration: generation, prefix: name.prefix)
        }
    }

    /// A batch that was completed for the guards is committed: what it has taken away is guarded no more.
    @inline(__always)
    func noteCommitted(_ batch: EncodedBatch) {
        if !batch.removedMarks.isEmpty { forgetGuards(by: batch) }
    }

    private func forgetGuards(by batch: EncodedBatch) {
        for prefix in guards.forgetRemoved(by: batch) {
            for shard in shards {
                shard.endGuards(of: prefix) { guards.marks(of: prefix).isEmpty }
            }
        }
    }

    /// A write of a single key of a guarded dictionary: as a batch, which takes the marks with it.
    nonisolated(nonsending) func writeGuarded(
        _ value: EncodedValue?, key: String, name: DictionaryName, durability: Durability?
    ) async throws -> UInt64 {
        try await commit(batch(value, key: key, name: name), durability: durability)
    }

    /// As `writeGuarded`, if the key's newest record is still the one that `version` names.
    nonisolated(nonsending) func writeGuarded(
        _ value: EncodedValue?, key: String, name: DictionaryName, if version: RecordVersion,
        durability: Durability?
    ) async throws -> UInt64? {
        let shard = shard(of: hash(of: key, in: name))
        while true {
            let view = try view()
            defer { view.close() }
            var reads = TransactionReads(view)
            reads.note(key, in: name)
            reads.note(version.deadline)
            // An enqueued write that was read has another number once it has its place among the changes.
            let sequence = shard.published.withLock { $0.places.sequence(of: version.sequence) }
            guard
                try view.sequence(of: key, name: name) == sequence ?? version.sequence
            else { return nil }
            let committed = try await commit(
                batch(value, key: key, name: name), reads: reads, durability: durability)
            if let committed { return committed }
            // Others changed the key, or a flush came between, of which a view does not know what it brought: a newer
            // view tells.
        }
    }

    private func batch(
        _ value: EncodedValue?, key: String, name: DictionaryName
    ) -> EncodedBatch {
        var batch = EncodedBatch(hashSeed: hashSeed)
        if let value {
            batch.put(value, forKey: key, in: name)
        } else {
            batch.remove(key, in: name)
        }
        return batch
    }

    /// Takes a dictionary's marks away before a write that can wait for nothing.
    func removeMarksAtOnce(of name: DictionaryName) throws {
        for mark in guards.marks(of: name.prefix) {
            let isThere = try mark.withUnsafeBytes { mark in
                let hash = hashSeed.hash(mark)
                return try shard(of: hash).findVersioned(mark, hash: hash).found != nil
            }
            guard isThere else { continue }
            let appended = try mark.withUnsafeBytes { mark in
                let hash = hashSeed.hash(mark)
                return try shard(of: hash).writeAtOnce(nil, mark, hash: hash)
            }
            guard let appended else {
                throw RoostError(
                    .conflict,
                    "\"\(name.name)\" has an index, and is being written: set the key without enqueuing"
                )
            }
            noteAppended(appended, .process)
        }
    }
}

extension Engine {
    /// Takes away marks that came while a write was enqueued. A mark that comes after this look is of a building whose
    /// views have the write.
    func removeMarksSince(of name: DictionaryName) {
        // Where something comes first, the removal comes behind it; and fails there where it would have failed here.
        do { try removeMarksAtOnce(of: name) } catch { removeMarksBehind(of: name) }
    }

    private func removeMarksBehind(of name: DictionaryName) {
        var batch = EncodedBatch(hashSeed: hashSeed)
        for mark in guards.marks(of: name.prefix) { batch.removeMark(mark) }
        let removals = batch
        guard !removals.isEmpty else { return }
        Task.detached(executorPreference: compactor.taskExecutor) { [self] in
            do { _ = try await commit(removals, durability: nil) } catch {
                failures.note(
                    error as? RoostError
                        ?? RoostError(.io, "an index could not be marked", cause: error))
            }
        }
    }
}

extension Shard {
    /// Returns once every batch is resolved that was made ready under an earlier generation.
    func apply(guardGeneration: UInt64, prefix: [UInt8]) async {
        begin(guardGeneration: guardGeneration, prefix: prefix)
        let earlier = turn.withLock { _ in published.withLock { $0.staged.map(\.token) } }
        while true {
            let (count, isOver) = withTurn { turn in
                foldResolved(&turn)
                let isOver = published.withLock { state in
                    !state.staged.contains { staged in earlier.contains { $0 === staged.token } }
                }
                return (turn.resolutionCount, isOver)
            }
            if isOver { return }
            await waitForResolution(since: count)
        }
    }

    nonisolated func begin(guardGeneration: UInt64, prefix: [UInt8]) {
        turn.withLock { $0.noteGuards(guardGeneration, of: prefix) }
    }

    /// Puts of a single key are no batches any more. It is asked within the turn whether that is still so: whoever
    /// guards the dictionary anew tells the shard after the guards.
    nonisolated func endGuards(of prefix: [UInt8], _ isBare: () -> Bool) {
        turn.withLock { if isBare() { $0.endGuards(of: prefix) } }
    }
}

extension TransactionReads {
    /// Notes that a key was read.
    package mutating func note(_ key: String, in name: DictionaryName) {
        let hashSeed = view.hashSeed
        name.withRecordKey(key) { note($0, hash: hashSeed.hash($0), in: name) }
    }

    /// Notes that a record was read, by its whole key.
    package mutating func note(recordKey: [UInt8], in name: DictionaryName) {
        recordKey.withUnsafeBytes { note($0, hash: view.hashSeed.hash($0), in: name) }
    }
}
