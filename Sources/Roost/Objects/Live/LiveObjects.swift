import Foundation
import RoostEngine
import RoostFormat
import RoostIO
import Synchronization

/// What is live of one repository: results of queries, and subscriptions to single objects.
///
/// - All of it is told of a batch by one watcher, on the thread that made the batch visible and before
///   that thread's call returns. Each object that changed is decoded once, and looked up among the
///   results (`LiveMatcher`): what a batch costs is what it touches.
/// - `state` is changed under its mutex, one batch after the other. A writer waits for the batches
///   before its own; its own readers find what it changed.
/// - Nothing is told to closures of others under that mutex. Those of subscriptions are called under
///   `calls`, one at a time; whoever is in such a call and writes does not wait for it.
/// - The mutex is taken before the engine's, so under it no call is made that may tell what others owe.
final class LiveObjects<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    let repository: Repository<Item>
    private let state: Mutex<LiveGuarded>
    private let calls = NSRecursiveLock()
    /// Whether a thread that has `calls` is at it; whoever has `calls` asks.
    private let isCalling = Atomic<Bool>(false)
    let awaitedReaders = AwaitedReaders()

    init(_ repository: Repository<Item>) {
        self.repository = repository
        let typed = LiveStateBox(LiveState(repository))
        state = Mutex(LiveGuarded(table: typed.state.table, typed: typed))
    }

    private func withState<Result: Sendable>(
        _ body: (inout LiveState<Item>) throws -> Result
    ) rethrows -> Result {
        try state.withLock { guarded in
            let box = guarded.typed.of(Item.self)
            return try body(&box.state)
        }
    }

    // MARK: Results

    /// Makes a query live. Its result is there when this returns, and to be taken by `items(of:)`.
    ///
    /// - Throws: `.closed`, `.corrupt`, and what else keeps the objects from being read.
    func open(_ query: Query<Item>, _ outlet: LiveOutlet<Item>) throws -> LiveRegistration<Item> {
        // The first look at the catalog takes a view, which may not be under the mutex.
        _ = try repository.indexes?.current()
        let (id, view) = try changeState { state, told in
            let view = try state.begin(watching, &told)
            let id = state.beginLoading()
            do { try state.reloadDue(&told) } catch {
                state.loading[id] = nil
                view.close()
                throw error
            }
            return (id, view)
        }
        defer { view.close() }
        let registration = LiveRegistration(objects: self, id: id)
        let loaded = try LiveLoad(query, in: view)
        for failure in loaded.failures { note(failure) }
        try changeState { state, told in
            try state.finishLoading(id, query, loaded, outlet, &told)
            // What has expired while it was read is not to be in the first result.
            if !state.deadlines.isEmpty { try state.takeCommits(&told) }
        }
        return registration
    }

    /// The result as it is now, for the reader of `outlet`; `nil` where it is not live any more.
    func items(of id: UInt64, _ outlet: LiveOutlet<Item>) -> [Item]? {
        withState { state in
            outlet.noteResultTaken()
            return state.results[id]?.items
        }
    }

    func close(_ id: UInt64) {
        // What is let go of here is so without the mutex.
        let closed = withState { state in
            defer { settle(&state) }
            return state.close(id)
        }
        withExtendedLifetime(closed) {}
    }

    /// How many objects the results keep together.
    var keptObjectCount: Int { withState { $0.table.gate.objects.count } }

    // MARK: Objects

    func subscribe(_ subscriber: ObjectSubscriber<Item>) {
        do {
            try changeState { state, told in
                let view = try state.begin(watching, &told)
                defer { view.close() }
                try state.add(subscriber, view)
                told.hasCalls = true
                try state.reloadDue(&told)
            }
        } catch {
            subscriber.push(.failed(readable(error)))
            subscriber.deliver()
        }
    }

    func unsubscribe(_ subscriber: ObjectSubscriber<Item>) {
        let watch = withState { state in
            defer { settle(&state) }
            return state.remove(subscriber)
        }
        withExtendedLifetime(watch) {}
    }

    // MARK: Commits

    /// Makes the watcher. Not of the engine or the workspace: a reference to these has every call pay.
    private var watching: @Sendable () -> LiveWatch? {
        { [self] in
            guard let name = repository.dictionary.engineName else { return nil }
            return repository.dictionary.workspace.engine.watchLive(
                WatchTarget(prefix: "", in: name)
            ) { [weak self] in self?.takeCommits() }
        }
    }

    /// Called by the thread that made a batch visible.
    private func takeCommits() {
        let clock = repository.dictionary.workspace.engine.clock
        let taken: (told: LiveTold, failure: RoostError?)? = state.withLock { guarded in
            guard let taken = guarded.table.gate.takeTouching(clock) else { return nil }
            return take(taken, guarded)
        }
        if let taken {
            finish(taken.told)
            if let failure = taken.failure { noteReading(failure) }
        }
        if !awaitedReaders.isEmpty, MainQueue.isCurrent { callAwaitedReaders() }
    }

    /// What the main actor has written shows when its write returns, also where a reader was called before for what others
    /// wrote, or another thread took what the main actor has written.
    @inline(never)
    private func callAwaitedReaders() {
        let calls = withState { $0.results.values.compactMap { $0.outlet.callAgain } }
        for call in calls { call() }
    }

    /// That what was committed could not be taken.
    private func noteReading(_ failure: RoostError) {
        // Its end is told too, and by another call.
        if failure.code != .closed { note(failure) }
    }

    /// Apart, so that a batch which is about nothing that is live meets no code that is of a type.
    @inline(never)
    private func take(_ taken: LiveTaken, _ guarded: LiveGuarded) -> (LiveTold, RoostError?) {
        let box = guarded.typed.of(Item.self)
        var told = LiveTold()
        defer { settle(&box.state) }
        do { try box.state.take(taken, &told) } catch { return (told, readable(error)) }
        return (told, nil)
    }

    // MARK: Expiry

    /// To be called at the end of whatever changes the state, under the mutex.
    private func settle(_ state: inout LiveState<Item>) {
        awaitExpiry(&state)
        state.table.gate.isQuiet = state.isQuiet
        state.table.gate.deadline = state.awaitedDeadline
    }

    /// Has the workspace's timer call when the first of the objects expires, where that is another moment now. Under
    /// the mutex, so that the last that is said is what holds.
    private func awaitExpiry(_ state: inout LiveState<Item>) {
        guard let deadline = state.newEarliestDeadline() else { return }
        let expiry =
            state.expiry
            ?? repository.dictionary.workspace.engine.expiryTimer.waiter { [weak self] in
                self?.takeExpired()
            }
        state.expiry = expiry
        expiry.wait(until: deadline)
    }

    /// Called by the timer, or by whoever moved the clock.
    private func takeExpired() {
        do {
            try changeState { state, told in
                state.awaitedDeadline = .never
                try state.takeCommits(&told)
            }
        } catch {
            noteReading(readable(error))
        }
    }

    private func changeState<Result: Sendable>(
        _ body: @Sendable (inout LiveState<Item>, inout LiveTold) throws -> Result
    ) throws -> Result {
        let (result, told) = withState { state in
            var told = LiveTold()
            let result = Swift.Result { try body(&state, &told) }
            settle(&state)
            return (result, told)
        }
        finish(told)
        return try result.get()
    }

    /// Does what has to be done once the mutex is given back.
    private func finish(_ told: LiveTold) {
        for afterwards in told.afterwards { afterwards() }
        for wake in told.wakes { wake() }
        for failure in told.failures { note(failure) }
        if told.hasCalls { makeCalls() }
    }

    /// Calls the closures of the subscriptions that have something to be told. What others are telling
    /// them has been told when it returns, unless this is in such a call itself.
    private func makeCalls() {
        repeat {
            guard makeWaitingCalls() else { return }
            // Somebody who does not wait for `calls` may have left one since the last look.
        } while withState { !$0.calls.isEmpty }
    }

    /// `false` where another thread, or a caller of this one, makes them.
    private func makeWaitingCalls() -> Bool {
        if LiveCall.isUnderWay {
            guard calls.try() else { return false }
        } else {
            calls.lock()
        }
        defer { calls.unlock() }
        guard !isCalling.exchange(true, ordering: .relaxed) else { return false }
        defer { isCalling.store(false, ordering: .relaxed) }
        LiveCall.$isUnderWay.withValue(true) {
            while let subscriber = withState({ $0.nextCall() }) { subscriber.deliver() }
        }
        return true
    }

    private func note(_ failure: RoostError) {
        repository.dictionary.workspace.engine.failures.note(failure)
    }

    private func readable(_ error: any Error) -> RoostError {
        error as? RoostError ?? RoostError(.io, "the objects could not be read", cause: error)
    }
}

/// What the mutex of `LiveObjects` guards: of no type, so that it is found without looking one up.
private struct LiveGuarded {
    let table: LiveTable
    let typed: AnyLiveState
}

/// What has to be done once the mutex is given back.
struct LiveTold: Sendable {
    var wakes: [LiveWake] = []
    var failures: [RoostError] = []
    /// What the engine owes to others.
    var afterwards: [@Sendable () -> Void] = []
    var hasCalls = false
}

/// Whether the running code is called by a subscription.
enum LiveCall {
    @TaskLocal static var isUnderWay = false
}

/// Keeps a result live; the last reference ends it.
final class LiveRegistration<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    private let objects: LiveObjects<Item>
    private let id: UInt64

    init(objects: LiveObjects<Item>, id: UInt64) {
        self.objects = objects
        self.id = id
        objects.repository.dictionary.workspace.live.noteOpened()
    }

    deinit {
        objects.close(id)
        objects.repository.dictionary.workspace.live.noteClosed()
    }

    func items(_ outlet: LiveOutlet<Item>) -> [Item]? { objects.items(of: id, outlet) }
}
