import Roost
import RoostEngine
import RoostFormat
import RoostIO
import RoostSimulation

/// What one watcher of a round looks at, and what it was told.
struct RoundWatcher {
    /// What one batch did to what is looked at.
    struct Told: Equatable {
        var isCleared = false
        var values: [String: [UInt8]?] = [:]
    }

    let dictionary: String
    /// One key, or all of the dictionary.
    let key: String?
    /// It is told of the batches after this one.
    let since: Int
    let engine: Engine
    let reader: Task<Void, any Error>
    /// By the batches' numbers.
    var told: [Int: Told] = [:]
    var lastVersion = 0
    /// Changes that it was too slow for, or that the log no longer held.
    var missedCount = 0

    /// What the watcher is to be told of a batch; `nil` where nothing.
    func expected(_ batch: History.Batch) -> Told? {
        var told = Told()
        for change in batch.changes {
            switch change {
            case .put(dictionary, let key, let value) where self.key ?? key == key:
                told.values[key] = .some(value)
            case .remove(dictionary, let key) where self.key ?? key == key:
                told.values[key] = .some(nil)
            case .clear(dictionary): told.isCleared = true
            default: break
            }
        }
        // A key that is set in the same batch was not seen without a value.
        if key != nil, !told.values.isEmpty { told.isCleared = false }
        return told == Told() ? nil : told
    }
}

extension SimulationRun {
    /// Begins to watch, in some rounds. Nothing is under way yet, so what a watcher is told of
    /// begins after the last batch, or after an earlier one that is drawn.
    func beginWatching(_ workspace: Workspace) {
        watchers = []
        guard random.once(in: 3) else { return }
        let engine = workspace.engine
        for index in 0..<(1 + random.below(2)) {
            let dictionary = workload.dictionary(&random)
            let key = random.once(in: 3) ? workload.key(&random) : nil
            let last = Int(engine.statistics.lastSequence)
            let version = random.once(in: 2) ? random.below(last + 1) : nil
            let name = DictionaryName(dictionary)!
            let target =
                key.map { WatchTarget(key: $0, in: name, hashSeed: engine.hashSeed) }
                ?? WatchTarget(prefix: "", in: name)
            let capacity = random.once(in: 5) ? 2 : 10_000
            let handle = engine.watch(
                target, .changes(since: version.map(UInt64.init), capacity: capacity))
            note("watches \(dictionary)/\(key ?? "*") since \(version ?? last)")
            let reader = Task(executorPreference: scheduling.executor) {
                try await self.readChanges(of: index, handle)
            }
            watchers.append(
                RoundWatcher(
                    dictionary: dictionary, key: key, since: version ?? last, engine: engine,
                    reader: reader))
        }
    }

    private func readChanges(of index: Int, _ handle: WatchHandle) async throws {
        while let event = await handle.next() { try take(event, for: index) }
    }

    private func take(_ event: WatchEvent, for index: Int) throws {
        let version = Int(event.version)
        counts.watchEvents += 1
        switch event.content {
        case .missed(let count): return watchers[index].missedCount += count
        case .initial:
            throw SimulationFailure("a watcher of changes was told a value to begin with")
        case .cleared: watchers[index].told[version, default: .init()].isCleared = true
        case .changed(let operation):
            guard let (_, key) = splitRecordKey(operation.key) else {
                throw SimulationFailure("a watcher was told of what is no key")
            }
            let value: [UInt8]? = withExtendedLifetime(event.owner) {
                operation.isPut ? Array(operation.value) : nil
            }
            watchers[index].told[version, default: .init()]
                .values[String(decoding: key, as: UTF8.self)] = .some(value)
        }
        guard version >= watchers[index].lastVersion else {
            throw SimulationFailure(
                "a watcher was told of batch \(version) after \(watchers[index].lastVersion)")
        }
        watchers[index].lastVersion = version
    }

    /// Ends the round's watchers, and compares what they were told with what was written.
    func endWatching() async throws {
        // Time passes only once nothing can run, but for a draw in two hundred.
        for _ in 0..<20 where watchers.contains(where: { objection(to: $0) != nil }) {
            if fileSystem.isOff || hasFaults || isClosing { break }
            do { try await scheduling.sleep(for: .microseconds(10)) } catch {}
        }
        for watcher in watchers {
            watcher.reader.cancel()
            try await watcher.reader.value
        }
        defer { watchers = [] }
        if fileSystem.isOff { return }
        for watcher in watchers {
            // What ends in the middle of a close is told by the next opening's history.
            let isAllToBeTold = !hasFaults && !isClosing && workspace?.engine === watcher.engine
            if let objection = objection(to: watcher, isAllToBeTold: isAllToBeTold) {
                throw SimulationFailure(
                    "a watcher of \(watcher.dictionary)/\(watcher.key ?? "*") since "
                        + "\(watcher.since): \(objection)")
            }
        }
    }

    /// What is wrong with what a watcher was told. Nothing is under way.
    private func objection(to watcher: RoundWatcher, isAllToBeTold: Bool = true) -> String? {
        for (version, told) in watcher.told {
            if version <= watcher.since { return "it was told of \(version)" }
            guard let batch = history.certainBatch(version) else { continue }
            guard watcher.expected(batch) == told || watcher.missedCount > 0 else {
                return "of \(version) it was not told what that did"
            }
        }
        guard isAllToBeTold, watcher.missedCount == 0, watcher.since < history.lastKnown else {
            return nil
        }
        for version in (watcher.since + 1)...history.lastKnown where watcher.told[version] == nil {
            if let batch = history.certainBatch(version), watcher.expected(batch) != nil,
                !history.wasOvertaken(version)
            {
                return "it was not told of \(version)"
            }
        }
        return nil
    }
}
