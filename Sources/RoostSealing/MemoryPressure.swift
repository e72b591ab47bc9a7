import Synchronization

/// How much memory the open chunks of sealed files take, and what is done where that is too much.
///
/// - `isRelieving` is set from when `relieve` is called until it says that it is done: it is called once at a
///   time.
package final class MemoryPressure: Sendable {
    private let limitBytes: Int
    private let openBytes = Atomic(0)
    private let isRelieving = Atomic(false)
    private let relieve = Mutex<(@Sendable (_ done: @escaping @Sendable () -> Void) -> Void)?>(nil)

    init(limitBytes: Int) { self.limitBytes = limitBytes }

    /// What the open chunks take.
    package var sizeBytes: Int { openBytes.load(ordering: .relaxed) }

    /// Whether so much more may be open.
    func hasRoom(for moreBytes: Int) -> Bool { sizeBytes + moreBytes <= limitBytes }

    func setRelief(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) {
        relieve.withLock { $0 = body }
    }

    func add(_ sizeBytes: Int) {
        let size = openBytes.wrappingAdd(sizeBytes, ordering: .relaxed).newValue
        guard size > limitBytes, sizeBytes > 0, !isRelieving.exchange(true, ordering: .relaxed)
        else { return }
        guard let relieve = relieve.withLock({ $0 }) else {
            return isRelieving.store(false, ordering: .relaxed)
        }
        relieve { [weak self] in self?.isRelieving.store(false, ordering: .relaxed) }
    }
}
