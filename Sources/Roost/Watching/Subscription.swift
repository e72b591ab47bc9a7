import Foundation
import RoostEngine
import RoostIO
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

/// Calls a closure with one key's value and each change of it, until it is cancelled or goes.
///
/// Keep it as long as the calls are wanted. See `subscribe(_:of:_:)`.
public final class Subscription: Sendable {
    private let delivery: any Cancellable

    init(_ delivery: any Cancellable) { self.delivery = delivery }

    /// Ends the calls: none comes after it has returned, and one that is under way on another
    /// thread has returned too. From inside the closure it returns at once, and that call is the
    /// last. From inside the closure of another subscription it returns at once too, and a call that is under way
    /// goes on. Cancelling twice is no error. As it may wait, it is not for a caller with a lock that the closure
    /// takes.
    public func cancel() { delivery.cancel() }

    deinit { delivery.cancel() }
}

protocol Cancellable: Sendable {
    func cancel()
}

/// Held while a subscription's closure is called, so that one call comes after another.
///
/// - It is recursive, so that the closure may cancel.
/// - Who cancels waits for a call that is under way, unless a subscription's closure is what cancels: two that end each
///   other would wait for each other.
final class SubscriptionGate: Sendable {
    private let lock = NSRecursiveLock()
    /// Set on a thread while it has a gate. Not for a task, as those that a closure begins would have it too.
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let failure = pthread_key_create(&key, nil)
        precondition(failure == 0, "the system has no more keys for what is of a thread")
        return key
    }()

    func call<Outcome>(_ body: () -> Outcome) -> Outcome {
        lock.withLock {
            let outer = pthread_getspecific(Self.key).map { UnsafeRawPointer($0) }
            _ = pthread_setspecific(Self.key, Unmanaged.passUnretained(self).toOpaque())
            defer { _ = pthread_setspecific(Self.key, outer) }
            return body()
        }
    }

    func waitForCall() {
        if pthread_getspecific(Self.key) == nil { lock.withLock {} }
    }
}

/// Takes one subscription's events and calls its closure.
///
/// - The closure is called, and `hasValue` and `hasBegun` changed, only while `gate` is held; so the calls come
///   one after another, in the events' order, whoever takes them.
final class SubscriptionDelivery<Value: Sendable>: Cancellable {
    private let gate = SubscriptionGate()
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
        gate.waitForCall()
        watch.withLock { $0 = nil }
    }

    private func deliverNext() -> Bool {
        gate.call {
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
