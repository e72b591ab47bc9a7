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

    private let apartCount = Atomic(0)
    /// What goes with this.
    private let hold: (any Sendable)?

    init(limitBytes: Int, holding hold: (any Sendable)? = nil) {
        self.limitBytes = limitBytes
        self.hold = hold
    }

    /// What the open chunks take.
    package var sizeBytes: Int { openBytes.load(ordering: .relaxed) }

    /// Whether so much more may be open.
    func hasRoom(for moreBytes: Int) -> Bool { sizeBytes + moreBytes <= limitBytes }

    /// So many may have a file open for themselves, besides those who have to. One who walks through it and pauses has it
    /// until he goes on, and all together would have more than if they shared what is open.
    private static let apartLimit = 16

    /// A place among those; `nil` where none is left. It is given back with what this returns.
    func placeApart() -> (any Sendable)? {
        guard apartCount.wrappingAdd(1, ordering: .relaxed).newValue <= Self.apartLimit else {
            apartCount.wrappingSubtract(1, ordering: .relaxed)
            return nil
        }
        return PlaceApart(self)
    }

    private final class PlaceApart: Sendable {
        private let pressure: MemoryPressure
        init(_ pressure: MemoryPressure) { self.pressure = pressure }
        deinit { pressure.apartCount.wrappingSubtract(1, ordering: .relaxed) }
    }

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
