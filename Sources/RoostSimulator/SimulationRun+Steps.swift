import Roost
import RoostEngine
import RoostFormat
import RoostIO

extension SimulationRun {
    /// Makes one call; other tasks make theirs whenever this one waits.
    func perform(_ action: Workload.Action, on workspace: Workspace) async throws {
        let engine = workspace.engine
        // What calls showed that a stopped machine cut short is not known, and may be seen.
        if fileSystem.isOff { return }
        switch action {
        case .write(let changes, let durability): try await write(engine, changes, durability)
        case .enqueue(let change): try enqueue(change, engine)
        case .read(let dictionary, let key):
            let found = try engine.value(key, DictionaryName(dictionary)!)
            guard history.allows(found, dictionary: dictionary, key: key) else {
                throw SimulationFailure(
                    "a wrong value of \(dictionary)/\(key): "
                        + history.explanation(of: found, dictionary, key))
            }
        case .transaction(let reads, let changes, let durability):
            try await makeTransaction(engine, reading: reads, changes, durability)
        case .view:
            let view = try engine.view()
            defer { view.close() }
            let first = try view.content()
            try await scheduling.sleep(for: .milliseconds(1))
            if try view.content() != History.live(first, at: history.now) {
                throw SimulationFailure("a read view has changed")
            }
        case .check: try compare(workspace, "while open")
        case .synchronize: try await synchronize { try await engine.synchronize() }
        case .confirm: try await synchronize(drains: false) { try await engine.confirm(.synced) }
        case .rest:
            let last = history.promisedCount
            await scheduling.waitUntilIdle()
            guard !fileSystem.isOff, !hasFaults, self.workspace === workspace else { return }
            history.durableCount = max(history.durableCount, last)
            note("rested, \(last) is on disk")
        case .wait(let duration): try await scheduling.sleep(for: duration)
        case .compact:
            note("compact")
            try await engine.compact()
        case .close: try await close(workspace)
        }
    }

    private func synchronize(
        drains: Bool = true, _ body: () async throws -> Void
    ) async throws {
        let last = history.lastKnown
        let enqueued = drains ? history.enqueuedCalls : []
        try await body()
        // Where a fault hit, one of them may have been given up, and somebody told of it before.
        if !fileSystem.isOff, !hasFaults { history.noteOnDisk(enqueued) }
        // Counted by what is known to have been appended: nothing else was promised.
        if !fileSystem.isOff { history.durableCount = max(history.durableCount, last) }
        note("synchronized \(last)")
    }

    private func write(
        _ engine: Engine, _ changes: [History.Change], _ durability: Durability
    ) async throws {
        let atOnce = random.once(in: 2)
        _ = try await call(engine, changes, durability) {
            try await engine.make(changes, durability, atOnce: atOnce)
        }
    }

    private func makeTransaction(
        _ engine: Engine, reading places: [Workload.Place], _ changes: [History.Change],
        _ durability: Durability
    ) async throws {
        var turn: TransactionTurn?
        let optimisticCount = 1 + random.below(3)
        for attempt in 1...8 {
            var read: [[UInt8]?] = []
            let hadTurn = turn != nil
            let sequence = try await call(engine, changes, durability) {
                let outcome = try await engine.makeTransaction(
                    reading: places, changes, durability, &turn,
                    takesTurn: attempt >= optimisticCount)
                read = outcome.read
                return outcome.sequence
            }
            if hadTurn { counts.actions["turn", default: 0] += 1 }
            guard let sequence else { continue }
            for (place, value) in zip(places, read) {
                guard
                    history.allows(
                        value, dictionary: place.dictionary, key: place.key, before: sequence)
                else {
                    throw SimulationFailure(
                        "transaction \(sequence) read what was no longer so: \(place.key)")
                }
                history.noteRest(
                    History.Rest(
                        sequence: sequence, dictionary: place.dictionary, key: place.key,
                        value: value))
            }
            return
        }
    }

    /// Makes one call that commits `changes`; its batch's number, or `nil` where there is none.
    private func call(
        _ engine: Engine, _ changes: [History.Change], _ durability: Durability,
        _ body: () async throws -> UInt64?
    ) async throws -> Int? {
        let isAwaited = durability == .synced
        let call = history.begin(
            History.Batch(changes: changes, isAwaited: isAwaited),
            lastSequence: lastSequence(engine))
        do {
            guard let sequence = try await body().map({ Int($0) }) else {
                history.drop(call)
                return nil
            }
            note("wrote \(sequence) \(durability) \(changes.count)")
            // A machine that is off may have stopped before the frame was complete.
            if fileSystem.isOff || workspace?.engine !== engine {
                history.end(call, isAcknowledged: false, lastSequence: lastSequence(engine))
                return nil
            }
            try history.place(call, at: sequence)
            history.acknowledgedCount = max(history.acknowledgedCount, sequence)
            if isAwaited { history.durableCount = max(history.durableCount, sequence) }
            if case .interval = durability {
                history.promisedCount = max(history.promisedCount, sequence)
            }
            return sequence
        } catch let error as RoostError {
            note("write \(durability) failed: \(error)")
            history.end(call, isAcknowledged: false, lastSequence: lastSequence(engine))
            throw error
        }
    }

    private func lastSequence(_ engine: Engine) -> Int { Int(engine.statistics.lastSequence) }

    private func close(_ workspace: Workspace) async throws {
        guard self.workspace === workspace else { return }
        isClosing = true
        let last = history.lastKnown
        let enqueued = history.enqueuedCalls
        countWork()
        do {
            try await workspace.close()
            note("closed at \(last)")
            // One that was poisoned closes without a sync.
            if !fileSystem.isOff, !hasFaults {
                history.durableCount = max(history.durableCount, last)
                history.noteOnDisk(enqueued)
            }
        } catch {
            note("closing failed: \(error)")
            leave(workspace)
            throw error
        }
        leave(workspace)
    }

    private func leave(_ closed: Workspace) {
        guard workspace === closed, !fileSystem.isOff else { return }
        requiredCount = history.acknowledgedCount
        requiresAcknowledged = true
        workspace = nil
    }
}
