import RoostIO
import Synchronization

/// What a subscription to one object is told.
public enum ObjectEvent<Item: Sendable>: Sendable {
    /// The object when the subscription began, or `nil` where there was none. Always the first.
    case initial(Item?)
    /// The object is this from now on.
    case updated(Item)
    /// The object is there no more, and the subscription has ended.
    case deleted
    /// The object could not be read. What follows once it can be is `updated`; nothing where a writer can be followed no
    /// more.
    case failed(RoostError)
}

extension ObjectEvent: Equatable where Item: Equatable {
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.initial(let item), .initial(let other)): item == other
        case (.updated(let item), .updated(let other)): item == other
        case (.deleted, .deleted): true
        case (.failed(let error), .failed(let other)): error.code == other.code
        default: false
        }
    }
}

extension Repository {
    /// Calls `body` with the object with this identifier, `.initial`, before it returns, and then with
    /// each change of it, in order and one call at a time, until it is deleted, the subscription is
    /// cancelled or goes, the workspace is closed, or its writer can be followed no more. Where a closure of another
    /// subscription subscribes, `.initial` may come once that has returned.
    ///
    /// A change is told on its writer's thread, before the write returns: a closure that takes long
    /// holds the repository's writers up, and one must not wait for another writer, who may wait for it. A closure
    /// that writes itself is told of that once it has returned. The object's decoding must not use the workspace, as
    /// others wait for it.
    public func subscribe(
        _ id: Item.ID, _ body: @escaping @Sendable (ObjectEvent<Item>) -> Void
    ) -> Subscription {
        let objects = dictionary.workspace.live.objects(of: self)
        let subscriber = ObjectSubscriber(Array(key(of: id).utf8), objects, body)
        objects.subscribe(subscriber)
        return Subscription(subscriber)
    }

    /// The object with this identifier, and then each newer one; `nil` while there is none. A reader
    /// that falls behind skips to the newest. As `updates(of:as:)` of the dictionary.
    public func updates(of id: Item.ID) -> ValueUpdates<Item> {
        dictionary.updates(key(of: id), dictionary.decoding(codec))
    }
}

/// Takes one subscription's events and calls its closure.
///
/// - The closure is called only while `gate` is held, so the calls come one after another, in the order
///   of the events.
final class ObjectSubscriber<Item: Identifiable & Sendable>: Cancellable where Item.ID: Sendable {
    private struct State {
        var events: [ObjectEvent<Item>] = []
        var hasObject = false
    }

    let key: [UInt8]
    private let objects: LiveObjects<Item>
    private let body: @Sendable (ObjectEvent<Item>) -> Void
    private let gate = SubscriptionGate()
    private let isCancelled = Atomic<Bool>(false)
    private let state = Mutex(State())

    init(
        _ key: [UInt8], _ objects: LiveObjects<Item>,
        _ body: @escaping @Sendable (ObjectEvent<Item>) -> Void
    ) {
        self.key = key
        self.objects = objects
        self.body = body
    }

    func push(_ event: ObjectEvent<Item>) {
        state.withLock { state in
            state.events.append(event)
            switch event {
            case .initial(let item): state.hasObject = item != nil
            // What cannot be read is an object too.
            case .updated, .failed: state.hasObject = true
            case .deleted: state.hasObject = false
            }
        }
    }

    /// Whether there was an object to delete.
    func noteDeleted() -> Bool { state.withLock { $0.hasObject } }

    func deliver() {
        gate.call {
            while !isCancelled.load(ordering: .sequentiallyConsistent), let event = nextEvent() {
                body(event)
            }
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        gate.waitForCall()
        objects.unsubscribe(self)
    }

    private func nextEvent() -> ObjectEvent<Item>? {
        state.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
    }
}
