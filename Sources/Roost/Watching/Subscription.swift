import Foundation
import RoostEngine
import RoostIO
import Synchronization

/// Calls a closure with one key's value and each change of it, until it is cancelled or goes.
///
/// Keep it as long as the calls are wanted. See `subscribe(_:of:_:)`.
public final class Subscription: Sendable {
    private let delivery: any Cancellable

    init(_ delivery: any Cancellable) { self.delivery = delivery }

    /// Ends the calls: none comes after it has returned, and one that is under way on another
    /// thread has returned too. From inside the closure it returns at once, and that call is the
    /// last. Cancelling twice is no error. As it may wait, it is not for a caller with a lock that the closure
    /// takes.
    public func cancel() { delivery.cancel() }

    deinit { delivery.cancel() }
}

protocol Cancellable: Sendable {
    func cancel()
}

/// Takes one subscription's events and calls its closure.
///
/// - The closure is called, and `hasValue` and `hasBegun` changed, only while `gate` is held; so the calls come
///   one after another, in the events' order, whoever takes them.
/// - `gate` is recursive, so that the closure may cancel.
final class SubscriptionDelivery<Value: Sendable>: Cancellable {
    private let gate = NSRecursiveLock()
    private let isCancelled = Atomic<Bool>(false)
    private let hasValue = Atomic<Bool>(false)
    private let hasBegun = Atomic<Bool>(false)
    private let watch = Mutex<DictionaryWatch<Value>?>(nil)
    private let key: String
    private let body: @Sendable (SubscriptionEvent<Value>) -> Void

    init(key: String, body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void) {
        self.key = key
        self.body = body
    }

    func begin(_ watch: DictionaryWatch<Value>) {
        self.watch.withLock { $0 = watch }
        start()
    }

    /// Called when there are events; not on the writer's thread, which may not wait.
    func start() {
        Task.detached { [weak self] in
            while self?.deliverNext() == true {}
        }
    }

    func cancel() {
        isCancelled.store(true, ordering: .sequentiallyConsistent)
        gate.withLock {}
        watch.withLock { $0 = nil }
    }

    private func deliverNext() -> Bool {
        gate.withLock {
            guard !isCancelled.load(ordering: .sequentiallyConsistent),
                let watch = watch.withLock({ $0 }), let event = watch.handle?.nextReady()
            else { return false }
            do {
                if let event = try told(event, watch) { body(event) }
            } catch {
                watch.failures.note(watch.readable(error, key: key))
            }
            return true
        }
    }

    /// `nil` where the closure has nothing to learn: a key without a value was removed again.
    private func told(
        _ event: WatchEvent, _ watch: DictionaryWatch<Value>
    ) throws -> SubscriptionEvent<Value>? {
        // What does not read is a value too.
        let hadValue = hasValue.exchange(true, ordering: .relaxed)
        let value = try value(of: event, watch)
        hasValue.store(value != nil, ordering: .relaxed)
        // What did not decode was told to nobody, so that the first that does is where the closure begins.
        let isFirst = !hasBegun.exchange(true, ordering: .relaxed)
        if isFirst { return .initial(value) }
        return value.map { .updated($0) } ?? (hadValue ? .deleted : nil)
    }

    private func value(of event: WatchEvent, _ watch: DictionaryWatch<Value>) throws -> Value? {
        switch event.content {
        case .initial(let record): try watch.value(of: record, key: key)
        case .changed(let operation): try watch.value(of: operation, event, key: key)
        case .cleared: nil
        case .missed: preconditionFailure("a watcher of values keeps the newest")
        }
    }
}
