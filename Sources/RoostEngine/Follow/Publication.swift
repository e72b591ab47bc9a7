import Synchronization

/// Held while a batch of several shards becomes visible, and by whoever looks at all shards at once.
final class Publication: Sendable {
    private let mutex = Mutex<Void>(())

    func withLock<Result>(_ body: () throws -> sending Result) rethrows -> sending Result {
        try mutex.withLock { _ in try body() }
    }
}
