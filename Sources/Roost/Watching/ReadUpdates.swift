import RoostIO
import Synchronization

extension Workspace {
    /// What `read` gives of this moment, and then of each later one at which something has changed that it looked at:
    /// counts, sums, pages and objects of any repositories and dictionaries, together and of one moment.
    ///
    /// ```swift
    /// let overview = workspace.updates { view in
    ///     (open: try view.count(of: open), next: try view.first(open.order(by: \.due)))
    /// }
    /// for try await (open, next) in overview { show(open, next) }
    /// ```
    ///
    /// In the head of a loop, where Swift takes no closure behind a call, it is `workspace.updates(of: { view in … })`.
    ///
    /// - `read` is run again where a key that it looked up, or one in a range that it scanned, is written, and at the
    ///   moment at which a value expires that it saw; other writes do not run it. It may look at something else each
    ///   time. It should give the same at the same moment, so it uses nothing but the view, and what does not change.
    /// - A reader that falls behind skips to the newest moment, and never holds up a writer.
    /// - What enqueued writes say it sees once they have their place among the changes.
    /// - It begins when it is first asked for an element, for each iterator anew, ends when the workspace is closed,
    ///   which it keeps open, and for the reader whose task is cancelled; what `read` throws is thrown, and ends it.
    ///
    /// Costs, beside the reading itself, a set of what was looked at: of each key and each range some hundred bytes; of
    /// more than 16,384 keys and 256 ranges, whole dictionaries stand for the rest. A write to one of these dictionaries
    /// costs some microseconds more. Of more than 4,096 changes that come during a read only the dictionaries are kept, and it
    /// runs once more where it looked at one of these. Runs `read` off the caller's actor.
    ///
    /// - Parameter read: reads from a view that is closed when it returns; does not suspend.
    public func updates<Value: Sendable>(
        of read: @escaping @Sendable (_ view: ReadView) throws -> Value
    ) -> ReadUpdates<Value> {
        ReadUpdates(workspace: self, read: read) { _, _ in false }
    }

    /// As the other `updates(of:)`, without the values that are equal to the one before.
    public func updates<Value: Sendable & Equatable>(
        of read: @escaping @Sendable (_ view: ReadView) throws -> Value
    ) -> ReadUpdates<Value> {
        ReadUpdates(workspace: self, read: read) { $0 == $1 }
    }
}

/// What a read gives, and then each newer value: what `updates(of:)` of a ``Workspace`` returns.
public struct ReadUpdates<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = any Error

    let workspace: Workspace
    let read: @Sendable (ReadView) throws -> Value
    let isEqual: @Sendable (Value, Value) -> Bool

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: ReadUpdatesReader(workspace, read), isEqual: isEqual)
    }

    /// Takes the values one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let reader: ReadUpdatesReader<Value>
        fileprivate let isEqual: @Sendable (Value, Value) -> Bool
        private var last: Value?
        private var isEnded = false

        fileprivate init(
            reader: ReadUpdatesReader<Value>, isEqual: @escaping @Sendable (Value, Value) -> Bool
        ) {
            self.reader = reader
            self.isEqual = isEqual
        }

        /// Suspends until there is a newer value; `nil` at the end.
        ///
        /// - Throws: what the read throws.
        public mutating func next() async throws -> Value? { try await next(isolation: nil) }

        /// As ``next()``.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Value? {
            while !isEnded {
                do {
                    guard let value = try await reader.next() else { break }
                    if let last, isEqual(last, value) { continue }
                    last = value
                    return value
                } catch {
                    isEnded = true
                    throw error
                }
            }
            isEnded = true
            return nil
        }
    }
}

/// Reads when a read is due.
private final class ReadUpdatesReader<Value: Sendable>: Sendable {
    private let read: @Sendable (ReadView) throws -> Value
    private let observation: ReadObservation
    /// An element while a read is due, the first included.
    private let due: AsyncStream<Void>
    private let end: AsyncStream<Void>.Continuation

    init(_ workspace: Workspace, _ read: @escaping @Sendable (ReadView) throws -> Value) {
        self.read = read
        let (due, end) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.due, self.end) = (due, end)
        observation = ReadObservation(workspace) { end.yield(()) }
        end.yield(())
    }

    /// Not on the caller's actor, as much may be read.
    @concurrent
    func next() async throws -> Value? {
        // It may have been closed before all was watched that tells of it.
        if observation.isEnded { return nil }
        for await _ in due {
            if observation.isEnded { return nil }
            let result = observation.read(read).result
            // It was closed while it was read.
            if case .failure = result, observation.isEnded { return nil }
            return try result.get()
        }
        return nil
    }
}
