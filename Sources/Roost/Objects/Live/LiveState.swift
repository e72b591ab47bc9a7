import RoostEngine
import RoostFormat
import RoostIO

/// What `LiveObjects` guards.
///
/// - `table.gate.objects` has the objects that `results` keep, each as it was after batch number `table.batch`.
/// - `deadlines` has those of the objects that results keep or that are subscribed to, where they have one.
/// - A result is in `results` and `table.gate.matcher`, or, while it is loaded outside of the mutex, in `loading`
///   with what has changed since its view.
struct LiveState<Item: Identifiable & Sendable> where Item.ID: Sendable {
    typealias Object = LiveObject<Item>
    typealias Result = LiveResult<Item>

    /// What is of no type.
    let table = LiveTable()

    /// What has changed while a result is loaded, each key's last.
    struct Loading {
        var isCleared = false
        /// What else has changed is not known.
        var isMissed = false
        var changes: [[UInt8]: (item: Item?, deadline: Deadline)] = [:]
    }

    let repository: Repository<Item>
    var watch: LiveWatch? { table.gate.watch }
    private(set) var isEnded = false
    private var lastID: UInt64 = 0
    var results: [UInt64: Result] = [:]
    var loading: [UInt64: Loading] = [:]
    private var orders: [LiveOrder<Item>] = []
    var subscribers: [[UInt8]: [ObjectSubscriber<Item>]] = [:]
    /// Those that have something to be told.
    var calls: [ObjectSubscriber<Item>] = []
    /// The results that have to be read again.
    var due: [UInt64: Result] = [:]
    /// What changed is not known: the watcher had no room for it.
    var isEverythingDue = false
    var deadlines = DeadlineQueue<[UInt8]>()
    /// The one that `expiry` waits for.
    var awaitedDeadline = Deadline.never
    /// Made with the first deadline.
    var expiry: ExpiryWaiter?

    init(_ repository: Repository<Item>) { self.repository = repository }

    /// Why nothing is told any more.
    private var ending: RoostError {
        engine.readingFailure ?? RoostError(.closed, "the workspace is closed")
    }

    /// Whether a batch that is about no result has no other consequence: nobody waits for one.
    var isQuiet: Bool {
        !isEnded && subscribers.isEmpty && calls.isEmpty && loading.isEmpty && due.isEmpty
            && !isEverythingDue && (deadlines.isEmpty || awaitedDeadline != .never)
    }

    var engine: Engine { repository.dictionary.workspace.engine }

    // MARK: Beginning

    /// Begins to watch, where that is to be done, and brings all to the moment of the view, which the
    /// caller closes. Results that are due then are read again once whoever begins is told of what comes
    /// after that moment, and not before.
    mutating func begin(_ watching: () -> LiveWatch?, _ told: inout LiveTold) throws -> EngineView {
        if watch == nil, !isEnded {
            table.gate.watch = watching()
            table.gate.prefixCount = try repository.dictionary.checkedName().prefix.count
        }
        guard let watch else { throw ending }
        let moment = try engine.moment(of: watch)
        told.afterwards.append(moment.afterwards)
        do { try take(moment.events, &told) } catch {
            moment.view.close()
            throw error
        }
        return moment.view
    }

    mutating func beginLoading() -> UInt64 {
        lastID += 1
        loading[lastID] = Loading()
        return lastID
    }

    /// Takes what was read at the begin, and what has changed since.
    mutating func finishLoading(
        _ id: UInt64, _ query: Query<Item>, _ load: LiveLoad<Item>, _ outlet: LiveOutlet<Item>,
        _ told: inout LiveTold
    ) throws {
        guard let changed = loading.removeValue(forKey: id), !isEnded else {
            throw ending
        }
        let result = Result(id, query, order(of: query), outlet)
        if changed.isMissed { return try addMissed(result, &told) }
        let known = changed.isCleared ? [] : load.objects
        let unchanged = known.filter { changed.changes[$0.key] == nil }
        _ = result.load(
            unchanged.map { object($0.key, $0.item) },
            isComplete: load.isComplete || changed.isCleared, in: table.batch)
        for object in unchanged { note(object.deadline, of: object.key) }
        do { try stage(changed.changes, query.condition, result) } catch {
            // It does not come into being, and nobody will close it.
            var dropped: [AnyLiveObject] = []
            _ = result.finish(in: table.batch, dropped: &dropped)
            forget(dropped + result.removeAll())
            throw error
        }
        var dropped: [AnyLiveObject] = []
        _ = result.finish(in: table.batch, dropped: &dropped)
        forget(dropped)
        result.show(in: table.batch)
        results[id] = result
        if result.isReloadDue { due[id] = result }
        table.gate.matcher.add(result)
        for failure in load.failures { outlet.push(failure, &told.wakes) }
        // Of a limited result so much was removed meanwhile that it has to be read again.
        try reloadDue(&told)
    }

    /// What has changed while the result was loaded, as if it came now.
    private mutating func stage(
        _ changes: [[UInt8]: (item: Item?, deadline: Deadline)], _ condition: ConditionNode<Item>,
        _ result: Result
    ) throws {
        for (key, change) in changes {
            guard let item = change.item else { continue }
            let object = object(key, item)
            defer {
                if object.holders.isEmpty { table.gate.objects[key] = nil }
                note(change.deadline, of: key)
            }
            let matches = try withUnsafePointer(to: object.item) { try condition.matches($0) }
            if matches, result.stageArrival(object) { object.holders.append(result) }
        }
    }

    /// Of a result that was loaded while batches were missed nothing is known: it is read again.
    private mutating func addMissed(_ result: Result, _ told: inout LiveTold) throws {
        results[result.id] = result
        table.gate.matcher.add(result)
        result.noteMissed()
        due[result.id] = result
        try reloadDue(&told)
    }

    /// The object that results share, made of `item` where there is none yet.
    func sharedObject(_ key: [UInt8], _ item: Item) -> Object {
        table.gate.objects[key]?.of(Item.self) ?? Object(key, item, changedIn: table.batch)
    }

    mutating func object(_ key: [UInt8], _ item: Item) -> Object {
        let object = sharedObject(key, item)
        table.gate.objects[key] = object
        return object
    }

    /// Lets go of objects that nobody keeps.
    mutating func forget(_ dropped: [AnyLiveObject]) {
        for object in dropped where table.letGo(of: object) {
            forgetDeadline(of: object.key)
        }
    }

    private mutating func order(of query: Query<Item>) -> LiveOrder<Item> {
        if let known = orders.first(where: { $0.isOf(query) }) { return known }
        orders.append(LiveOrder(orders.count, query))
        return orders[orders.count - 1]
    }

    // MARK: Ending

    /// Returns the watcher where nobody needs it any more, and the result's query, for the caller to let go of without
    /// the mutex: what a closure of a condition holds may be anything, another live result not least.
    mutating func close(_ id: UInt64) -> (watch: LiveWatch?, query: Query<Item>?) {
        loading[id] = nil
        due[id] = nil
        let result = results.removeValue(forKey: id)
        if let result {
            table.gate.matcher.remove(result)
            forget(result.removeAll())
        }
        return (unneededWatch(), result?.query)
    }

    /// Returns the watcher where nobody needs it any more, for the caller to let go of.
    mutating func remove(_ subscriber: ObjectSubscriber<Item>) -> LiveWatch? {
        subscribers[subscriber.key]?.removeAll { $0 === subscriber }
        if subscribers[subscriber.key]?.isEmpty == true { subscribers[subscriber.key] = nil }
        forgetDeadline(of: subscriber.key)
        calls.removeAll { $0 === subscriber }
        return unneededWatch()
    }

    private mutating func unneededWatch() -> LiveWatch? {
        guard results.isEmpty, loading.isEmpty, subscribers.isEmpty else { return nil }
        defer { table.gate.watch = nil }
        return watch
    }

    /// The workspace was closed, or its writer can be followed no more, which is told. Results stay for readers that have
    /// not taken them.
    mutating func end(_ told: inout LiveTold) {
        isEnded = true
        let failure = engine.readingFailure
        for result in results.values { result.outlet.end(failure, &told.wakes) }
        if let failure {
            told.failures.append(failure)
            for subscriber in subscribers.values.joined() { tell(subscriber, .failed(failure)) }
        }
        loading = [:]
        subscribers = [:]
        deadlines.removeAll()
    }

    // MARK: Subscriptions

    mutating func add(_ subscriber: ObjectSubscriber<Item>, _ view: EngineView) throws {
        var deadline = Deadline.never
        let event: ObjectEvent<Item>
        do {
            event = .initial(try read(subscriber.key, view, &deadline))
        } catch let error as RoostError
            where error.code == .decodingFailed || error.code == .typeMismatch
        {
            event = .failed(error)
        }
        subscribers[subscriber.key, default: []].append(subscriber)
        note(deadline, of: subscriber.key)
        tell(subscriber, event)
    }

    /// - Parameter deadline: Takes the object's, where there is one, whether it decodes or not.
    func read(_ key: [UInt8], _ view: EngineView, _ deadline: inout Deadline) throws -> Item? {
        let name = try repository.dictionary.checkedName()
        return try ViewSource(view: view).withValue(recordKey: name.prefix + key, in: name) {
            stored in
            guard let stored else { return nil }
            deadline = ValueHeader(stored)?.deadline ?? .never
            return try key.withUnsafeBytes { try repository.decode(stored, $0) }
        }
    }

    mutating func tell(_ subscriber: ObjectSubscriber<Item>, _ event: ObjectEvent<Item>) {
        subscriber.push(event)
        calls.append(subscriber)
    }

    mutating func nextCall() -> ObjectSubscriber<Item>? {
        calls.isEmpty ? nil : calls.removeFirst()
    }
}

/// A `LiveState` of whatever type.
class AnyLiveState {
    /// As what it is: whoever asks knows its type.
    final func of<Item: Identifiable & Sendable>(_ type: Item.Type) -> LiveStateBox<Item>
    where Item.ID: Sendable {
        unsafeDowncast(self, to: LiveStateBox<Item>.self)
    }
}

final class LiveStateBox<Item: Identifiable & Sendable>: AnyLiveState where Item.ID: Sendable {
    var state: LiveState<Item>

    init(_ state: LiveState<Item>) { self.state = state }
}
