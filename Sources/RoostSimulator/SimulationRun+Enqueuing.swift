import Roost
import RoostEngine
import RoostFormat
import RoostIO

// An enqueued write is visible at once and gets its number later, which nobody is told but
// watchers. So the run watches everything while a round lasts, and knows the writes by their values,
// of which no two are alike.

extension SimulationRun {
    func enqueue(_ change: History.Change, _ engine: Engine) throws {
        guard case .put(let dictionary, let key, let value) = change else { return }
        // More of them at a time have too many orders to look at after a crash.
        guard history.enqueuedCalls.count < 3 else { return }
        let call = history.enqueue(change, lastSequence: Int(engine.statistics.lastSequence))
        do {
            try engine.enqueue(encoded(value), key: key, name: DictionaryName(dictionary)!)
        } catch {
            history.end(
                call, isAcknowledged: false, lastSequence: Int(engine.statistics.lastSequence))
            throw error
        }
        note("enqueued \(dictionary)/\(key)")
        guard let found = try engine.value(key, DictionaryName(dictionary)!) else {
            if History.isExpired(value, at: history.now) { return }
            throw SimulationFailure("an enqueued write of \(dictionary)/\(key) is not seen")
        }
        if found != value, !fileSystem.isOff {
            throw SimulationFailure("an older value than the enqueued one of \(dictionary)/\(key)")
        }
    }

    /// Watches all dictionaries from here on, until the next opening. Nothing is under way.
    func beginTracking(_ workspace: Workspace) {
        let engine = workspace.engine
        if !workload.enqueues || trackedEngine === engine { return }
        trackedEngine = engine
        trackers = Workload.dictionaries.map { dictionary in
            let target = WatchTarget(prefix: "", in: DictionaryName(dictionary)!)
            let handle = engine.watch(target, .changes(since: nil, capacity: 100_000))
            return (dictionary, handle)
        }
    }

    /// Gives the enqueued writes that have a number by now their places in the history.
    func placeEnqueued() throws {
        for (dictionary, handle) in trackers {
            while let event = handle.nextReady() {
                guard case .changed(let operation) = event.content, operation.isPut,
                    let (_, key) = splitRecordKey(operation.key)
                else { continue }
                let value = withExtendedLifetime(event.owner) { Array(operation.value) }
                let change = History.Change.put(
                    dictionary: dictionary, key: String(decoding: key, as: UTF8.self), value: value)
                if let call = history.enqueuedCall(of: change) {
                    try history.place(call, at: Int(event.version))
                }
            }
        }
    }
}

extension History {
    /// Those that have no number yet.
    var enqueuedCalls: [Int] { pending.filter { $0.state == .enqueued }.map(\.identifier) }

    func enqueuedCall(of change: Change) -> Int? {
        pending.first { $0.state == .enqueued && $0.batch.changes == [change] }?.identifier
    }
}
