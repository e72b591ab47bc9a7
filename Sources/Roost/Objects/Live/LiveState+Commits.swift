import RoostEngine
import RoostFormat
import RoostIO

// One batch after the other: what each changes, and what that does to the results.

extension LiveState {
    /// Takes what the watcher was told.
    mutating func takeCommits(_ told: inout LiveTold) throws {
        // Before the batches are taken: what has expired by then and was saved before is among them.
        let time = deadlines.isEmpty ? 0 : engine.clock.milliseconds
        guard let (events, isEnded) = watch?.takeReady() else { return }
        try take(LiveTaken(events: events, isEnded: isEnded, time: time), &told)
    }

    /// Takes what the watcher was told, and what has expired.
    mutating func take(_ taken: LiveTaken, _ told: inout LiveTold) throws {
        if isEnded { return }
        let mayExpire = !deadlines.isEmpty
        // Also where it had been told already: what others tell is to be waited for.
        if !subscribers.isEmpty || !calls.isEmpty { told.hasCalls = true }
        try take(taken.events, &told)
        if taken.isEnded { return end(&told) }
        if mayExpire { expire(upTo: taken.time, &told) }
        try reloadDue(&told)
    }

    mutating func take(_ events: [WatchEvent], _ told: inout LiveTold) throws {
        var remaining = events[...]
        while let first = remaining.first {
            if case .missed = first.content {
                noteMissed()
                remaining.removeFirst()
                continue
            }
            // The events of one batch have one version.
            let count = remaining.prefix { $0.version == first.version }.count
            takeBatch(remaining.prefix(count), &told)
            remaining.removeFirst(count)
        }
    }

    private mutating func takeBatch(_ events: ArraySlice<WatchEvent>, _ told: inout LiveTold) {
        table.batch += 1
        var cleared: [AnyLiveObject] = []
        for event in events {
            switch event.content {
            case .cleared: cleared = clear()
            case .changed(let operation): change(operation, event, &told)
            case .initial, .missed: preconditionFailure("a batch is changes")
            }
        }
        if events.first.map({ if case .cleared = $0.content { true } else { false } }) == true {
            let set = Set(events.compactMap { Self.key($0, repository) })
            for key in subscribers.keys where !set.contains(key) { tellDeleted(key) }
        }
        finishBatch(cleared, &told)
    }

    mutating func finishBatch(
        _ cleared: [AnyLiveObject], _ told: inout LiveTold
    ) {
        if !calls.isEmpty { told.hasCalls = true }
        if table.touched.isEmpty, cleared.isEmpty { return }
        var dropped = cleared
        for touched in table.touched {
            let result = touched.of(Item.self)
            if let change = result.finish(in: table.batch, dropped: &dropped) {
                result.tell(change, &told.wakes)
            }
            if result.isReloadDue { due[result.id] = result }
        }
        table.touched.removeAll(keepingCapacity: table.touched.count < 1024)
        forget(dropped)
    }

    // MARK: One object

    private static func key(_ event: WatchEvent, _ repository: Repository<Item>) -> [UInt8]? {
        guard case .changed(let operation) = event.content else { return nil }
        let prefixCount = repository.dictionary.engineName?.prefix.count ?? 0
        return withExtendedLifetime(event.owner) {
            Array(UnsafeRawBufferPointer(rebasing: operation.key[prefixCount...]))
        }
    }

    private mutating func change(
        _ operation: Operation, _ event: WatchEvent, _ told: inout LiveTold
    ) {
        do { try event.checkRead(operation) } catch {
            return tellUnreadable(error, &told)
        }
        guard let key = Self.key(event, repository) else { return }
        // Nobody has it, and it goes, or its stored bytes say that nobody gets it: nothing is made of it.
        if loading.isEmpty, !isKnown(key),
            !operation.isPut
                || withExtendedLifetime(
                    event.owner, { !table.gate.matcher.mayMatch(operation.value) })
        {
            return
        }
        var item: Item?
        let deadline = withExtendedLifetime(event.owner) {
            operation.isPut ? operation.deadline : .never
        }
        do {
            item = try decode(operation, deadline, event, key)
        } catch {
            let failure =
                error as? RoostError
                ?? RoostError(.decodingFailed, "an object could not be read", cause: error)
            told.failures.append(failure)
            for result in results.values { result.outlet.push(failure, &told.wakes) }
            for subscriber in subscribers[key] ?? [] { tell(subscriber, .failed(failure)) }
            return change(key, to: nil, deadline, &told)
        }
        if let item {
            for subscriber in subscribers[key] ?? [] { tell(subscriber, .updated(item)) }
        } else {
            tellDeleted(key)
        }
        change(key, to: item, item == nil ? .never : deadline, &told)
    }

    /// Whether results keep the object or it is subscribed to.
    func isKnown(_ key: [UInt8]) -> Bool {
        table.gate.objects.index(forKey: key) != nil
            || !subscribers.isEmpty && subscribers.index(forKey: key) != nil
    }

    /// Of an object of which not even the key can be read.
    private mutating func tellUnreadable(_ error: any Error, _ told: inout LiveTold) {
        let failure =
            error as? RoostError ?? RoostError(.io, "an object could not be read", cause: error)
        told.failures.append(failure)
        for result in results.values { result.outlet.push(failure, &told.wakes) }
    }

    mutating func tellDeleted(_ key: [UInt8]) {
        for subscriber in subscribers[key] ?? [] where subscriber.noteDeleted() {
            tell(subscriber, .deleted)
            subscribers[key]?.removeAll { $0 === subscriber }
        }
        if subscribers[key]?.isEmpty == true { subscribers[key] = nil }
        forgetDeadline(of: key)
    }

    /// `nil` for a removal, and for an object that has expired since it was set.
    private func decode(
        _ operation: Operation, _ deadline: Deadline, _ event: WatchEvent, _ key: [UInt8]
    ) throws -> Item? {
        try withExtendedLifetime(event.owner) {
            guard operation.isPut, engine.clock.isLive(deadline) else { return nil }
            return try key.withUnsafeBytes { try repository.decode(operation.value, $0) }
        }
    }

    /// - Parameter deadline: Of what is stored, be it an object or not.
    mutating func change(
        _ key: [UInt8], to item: Item?, _ deadline: Deadline, _ told: inout LiveTold
    ) {
        for id in loading.keys { loading[id]?.changes[key] = (item, deadline) }
        defer { note(deadline, of: key) }
        let known = table.gate.objects[key]
        if let known { table.depart(known) }
        guard let item else {
            if known != nil { table.gate.objects[key] = nil }
            return
        }
        known?.of(Item.self).change(to: item, in: table.batch)
        let table = table
        withUnsafePointer(to: item) { place in
            table.arrive(key, known, UnsafeRawPointer(place)) {
                LiveObject(key, item, changedIn: table.batch)
            } failed: { result, error in
                Self.note(error, result.of(Item.self).outlet, &told)
            }
        }
    }

    /// All objects leave all results; what the batch sets follows. Returns those that there were.
    private mutating func clear() -> [AnyLiveObject] {
        for id in loading.keys {
            loading[id] = Loading(isCleared: true, isMissed: loading[id]?.isMissed == true)
        }
        let all = Array(table.gate.objects.values)
        for object in all { table.depart(object) }
        return all
    }

    // MARK: Reading again

    /// More came than the watcher had room for: nothing is known any more.
    private mutating func noteMissed() {
        table.gate.objects = [:]
        deadlines.removeAll()
        for id in loading.keys { loading[id]?.isMissed = true }
        for result in results.values { result.noteMissed() }
        due = results
        isEverythingDue = true
    }

    /// Reads the results again that need more than they keep. The batches until then are one to their
    /// readers.
    mutating func reloadDue(_ told: inout LiveTold) throws {
        while let watch, isEverythingDue || !due.isEmpty {
            let moment = try engine.moment(of: watch)
            told.afterwards.append(moment.afterwards)
            defer { moment.view.close() }
            // To the others these are as all batches are; then all are at the view's moment.
            try take(moment.events, &told)
            if isEverythingDue { tellAnew(moment.view) }
            isEverythingDue = false
            var isAnyLeft = false
            for result in due.values {
                do { try reload(result, moment.view, &told) } catch {
                    // It is tried again at the next batch.
                    isAnyLeft = true
                    Self.note(error, result.outlet, &told)
                }
            }
            if isAnyLeft { return }
        }
    }

    private static func note(
        _ error: any Error, _ outlet: LiveOutlet<Item>, _ told: inout LiveTold
    ) {
        let failure =
            error as? RoostError ?? RoostError(.io, "the result could not be read", cause: error)
        guard failure.code != .closed else { return }
        told.failures.append(failure)
        outlet.push(failure, &told.wakes)
    }

    private mutating func reload(
        _ result: LiveResult<Item>, _ view: EngineView, _ told: inout LiveTold
    ) throws {
        let isAnew = result.isMissed
        let load = try LiveLoad(result.query, in: view)
        let objects = load.objects.map { object($0.key, $0.item) }
        forget(result.load(objects, isComplete: load.isComplete, in: table.batch))
        for object in load.objects { note(object.deadline, of: object.key) }
        due[result.id] = nil
        if isAnew {
            result.show(in: table.batch)
            result.outlet.noteResultDue(&told.wakes)
        } else if let change = result.reloaded(in: table.batch) {
            result.tell(change, &told.wakes)
        }
    }

    private mutating func tellAnew(_ view: EngineView) {
        for (key, subscribers) in subscribers {
            let event: ObjectEvent<Item>
            var deadline = Deadline.never
            defer { note(deadline, of: key) }
            do {
                guard let item = try read(key, view, &deadline) else {
                    tellDeleted(key)
                    continue
                }
                event = .updated(item)
            } catch {
                event = .failed(
                    error as? RoostError
                        ?? RoostError(.decodingFailed, "an object could not be read", cause: error))
            }
            for subscriber in subscribers { tell(subscriber, event) }
        }
    }
}
