import RoostIO
import Synchronization

extension Query {
    /// The result, and then each newer one.
    ///
    /// ```swift
    /// for await posts in urgent.updates() { show(posts) }
    /// ```
    ///
    /// - A reader that falls behind skips to the newest result, and never holds up a writer.
    /// - A newer result is there to be taken when the write that made it returns.
    /// - It begins when it is first asked for an element, for each iterator anew, and ends when the
    ///   workspace is closed, where a writer can be followed no more, which ``Workspace/failures`` tells, and for the
    ///   reader whose task is cancelled. It keeps the workspace open.
    /// - An object that does not decode is left out, and told to ``Workspace/failures``; so is what keeps
    ///   the result from being read at all, which ends the sequence.
    /// - Objects are decoded, and closures of conditions, predicates and computed properties asked, on a writer's
    ///   thread while other writers of the repository wait. This code of the program's must not use the workspace:
    ///   what it wrote or queried there could wait for itself.
    ///
    /// A write costs what it changes of the result, however many queries are live. A query with a limit
    /// reads some objects again where so many of the first are gone that others move up.
    public func updates() -> LiveUpdates<Item> { LiveUpdates(query: self) }

    /// The result, and then what each transaction changes in it, in the order in which they became
    /// visible, without a gap or an overlap.
    ///
    /// ```swift
    /// for await change in urgent.order(by: \.title).changes() {
    ///     switch change {
    ///     case .result(let posts): items = posts
    ///     case .changed(let change): change.apply(to: &items)
    ///     case .failed(let error): report(error)
    ///     }
    /// }
    /// ```
    ///
    /// - A reader that falls behind is told every change still, until the positions are more than the
    ///   result has objects, and 1,024: then it is given the result anew.
    /// - Where a query with a limit has to read objects that move up while others write, their changes
    ///   are told as one.
    /// - It begins and ends as ``updates()``; an error that ends it is its last element.
    public func changes() -> LiveChanges<Item> { LiveChanges(query: self) }
}

/// A query's result, and then each newer one: see ``Query/updates()``.
public struct LiveUpdates<Item: Identifiable & Sendable>: AsyncSequence, Sendable
where Item.ID: Sendable {
    public typealias Element = [Item]
    public typealias Failure = Never

    let query: Query<Item>

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: LiveReader(query, wantsPositions: false))
    }

    /// Takes the results one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: LiveReader<Item>

        public mutating func next() async -> [Item]? { await next(isolation: nil) }

        /// Suspends until there is a newer result; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> [Item]? {
            while let change = await reader.next(isolation: actor) {
                switch change {
                case .result(let items): return items
                case .changed: preconditionFailure("a reader of results is told no positions")
                case .failed(let error): reader.note(error)
                }
            }
            return nil
        }
    }
}

/// A query's result, and then what each transaction changes in it: see ``Query/changes()``.
public struct LiveChanges<Item: Identifiable & Sendable>: AsyncSequence, Sendable
where Item.ID: Sendable {
    public typealias Element = LiveChange<Item>
    public typealias Failure = Never

    let query: Query<Item>

    public func makeAsyncIterator() -> Iterator {
        Iterator(reader: LiveReader(query, wantsPositions: true))
    }

    /// Takes the changes one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        let reader: LiveReader<Item>

        public mutating func next() async -> LiveChange<Item>? { await next(isolation: nil) }

        /// Suspends until there is a change; `nil` at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> LiveChange<Item>? {
            await reader.next(isolation: actor)
        }
    }
}

/// Makes a query live when it is first asked, and takes what comes.
final class LiveReader<Item: Identifiable & Sendable>: Sendable where Item.ID: Sendable {
    private enum Phase {
        case new
        case live(LiveRegistration<Item>)
        case ended
    }

    private let query: Query<Item>
    private let outlet: LiveOutlet<Item>
    private let phase = Mutex(Phase.new)

    init(_ query: Query<Item>, wantsPositions: Bool) {
        self.query = query
        outlet = LiveOutlet(wantsPositions: wantsPositions)
    }

    /// The next change; `nil` at the end, and where the task is cancelled.
    func next(isolation actor: isolated (any Actor)?) async -> LiveChange<Item>? {
        while !Task.isCancelled {
            let registration: LiveRegistration<Item>
            switch phase.withLock({ $0 }) {
            case .ended: return nil
            case .live(let live): registration = live
            case .new:
                do { registration = try await open() } catch {
                    phase.withLock { $0 = .ended }
                    return .failed(
                        error as? RoostError
                            ?? RoostError(.io, "the result could not be read", cause: error))
                }
            }
            switch outlet.take() {
            case .change(let change): return change
            case .resultDue:
                if let items = await items(registration) { return .result(items) }
            case .ended:
                phase.withLock { $0 = .ended }
                return nil
            case .empty: await outlet.wait()
            }
        }
        return nil
    }

    func note(_ failure: RoostError) {
        query.repository.dictionary.workspace.engine.failures.note(failure)
    }

    /// Not on the caller's actor, as many objects may be read.
    @concurrent
    private func open() async throws -> LiveRegistration<Item> {
        let objects = query.repository.dictionary.workspace.live.objects(of: query.repository)
        let registration = try objects.open(query, outlet)
        phase.withLock { $0 = .live(registration) }
        return registration
    }

    @concurrent
    private func items(_ registration: LiveRegistration<Item>) async -> [Item]? {
        registration.items(outlet)
    }
}
