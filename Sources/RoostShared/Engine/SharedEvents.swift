import RoostIO
import Synchronization

/// What an engine tells a watcher, until the connection breaks.
public struct SharedEvents: AsyncSequence, Sendable {
    public typealias Element = SharedEvent
    public typealias Failure = any Error

    fileprivate struct Told: Sendable {
        let event: SharedEvent
        let instant: ContinuousClock.Instant
    }

    private let stream: AsyncThrowingStream<Told, any Error>
    private let ending: Ending
    private let waiting: WaitingBytes

    /// How many events wait for a reader before it is told that it fell behind, and begins again.
    private static let waitingLimit = 4096
    /// How many bytes of keys and values all events but one that wait may have.
    package static let waitingBytesLimit = 64 << 20

    /// Events, and what tells them.
    public static func make() -> (events: SharedEvents, source: Source) {
        let (stream, continuation) = AsyncThrowingStream<Told, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(waitingLimit))
        let ending = Ending()
        let waiting = WaitingBytes()
        continuation.onTermination = { termination in
            if case .finished(let error) = termination {
                ending.end(error)
            } else {
                ending.end(nil)
            }
        }
        return (
            SharedEvents(stream: stream, ending: ending, waiting: waiting),
            Source(continuation: continuation, ending: ending, waiting: waiting)
        )
    }

    /// Calls `body` once the events have ended, with the error where there was one, or their reader has gone; at once where
    /// that is so already.
    package func onEnd(_ body: @escaping @Sendable (_ error: (any Error)?) -> Void) {
        ending.wait(body)
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator(), waiting: waiting)
    }

    /// Takes the events one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var base: AsyncThrowingStream<Told, any Error>.Iterator
        fileprivate let waiting: WaitingBytes
        /// When the last event was so.
        public private(set) var instant = ContinuousClock.now

        /// The next event; `nil` after the last.
        ///
        /// - Throws: `.unavailable` where the reader fell far behind; else what the engine ends its events
        ///   with, as where the connection broke.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> SharedEvent? {
            guard let told = try await base.next(isolation: actor) else { return nil }
            waiting.remove(told.event.sizeBytes)
            instant = told.instant
            return told.event
        }
    }

    /// Tells a watcher's events.
    public struct Source: Sendable {
        fileprivate let continuation: AsyncThrowingStream<Told, any Error>.Continuation
        fileprivate let ending: Ending
        fileprivate let waiting: WaitingBytes

        /// Tells an event. Where the reader has fallen far behind, by events or by what these have, it ends instead: the
        /// reader takes what waits, and begins again after that.
        ///
        /// - Parameter instant: when it was so at the engine: when it came, or was asked for.
        public func tell(_ event: SharedEvent, at instant: ContinuousClock.Instant = .now) {
            guard waiting.add(event.sizeBytes) else { return endBehind() }
            if case .dropped = continuation.yield(Told(event: event, instant: instant)) {
                endBehind()
            }
        }

        private func endBehind() {
            continuation.finish(throwing: RoostError(.unavailable, "the reader fell behind"))
        }

        /// Ends the events, with an error where there is one.
        public func end(_ error: (any Error)?) { continuation.finish(throwing: error) }

        /// Calls `body` once the events have ended, or their reader has gone; at once where that is so already.
        public func onEnd(_ body: @escaping @Sendable () -> Void) { ending.wait { _ in body() } }
    }

    /// The bytes of the events that were told and not read yet.
    fileprivate final class WaitingBytes: Sendable {
        private let count = Atomic<Int>(0)

        /// Whether there is room for an event. What is too large together with others is told where none waits.
        func add(_ size: Int) -> Bool {
            let before = count.wrappingAdd(size, ordering: .relaxed).oldValue
            return size == 0 || before <= 0 || before + size <= SharedEvents.waitingBytesLimit
        }

        func remove(_ size: Int) { count.wrappingSubtract(size, ordering: .relaxed) }
    }

    /// A stream that has ended says so to nobody who asks it later.
    fileprivate final class Ending: Sendable {
        private enum State {
            case open([@Sendable ((any Error)?) -> Void])
            case over((any Error)?)
        }

        private let state = Mutex(State.open([]))

        func wait(_ body: @escaping @Sendable ((any Error)?) -> Void) {
            let error = state.withLock { state -> (any Error)?? in
                switch state {
                case .over(let error): return .some(error)
                case .open(let bodies):
                    state = .open(bodies + [body])
                    return .none
                }
            }
            if let error { body(error) }
        }

        func end(_ error: (any Error)?) {
            let waiting = state.withLock { state -> [@Sendable ((any Error)?) -> Void] in
                guard case .open(let bodies) = state else { return [] }
                state = .over(error)
                return bodies
            }
            for body in waiting { body(error) }
        }
    }
}

/// One thing that a watcher is told.
public enum SharedEvent: Sendable {
    /// All changes of the watched keys up to `revision`, from after the event before, in the order of their
    /// commits; none where the engine only tells how far it is, or that it is no further. Changes of one commit are
    /// in one event.
    case changes([SharedChange], through: UInt64)
    /// The engine no longer has the changes before `oldest`: the first that it can tell. The last event.
    case compacted(oldest: UInt64)

    /// Of its keys and values.
    fileprivate var sizeBytes: Int {
        guard case .changes(let changes, _) = self else { return 0 }
        return changes.reduce(0) { $0 + $1.key.count + ($1.value?.count ?? 0) }
    }
}

/// One change of one key.
public struct SharedChange: Sendable, Hashable {
    public var key: [UInt8]
    /// `nil` where it was removed.
    public var value: [UInt8]?
    public var revision: UInt64

    public init(key: [UInt8], value: [UInt8]?, revision: UInt64) {
        self.key = key
        self.value = value
        self.revision = revision
    }
}
