// Publishers, of Combine where there is Combine. The product RoostCombine compiles this file once more,
// with OpenCombine, for systems without.

#if RoostCombine
    #if OpenCombine
        import OpenCombine
        import Roost

        // Roost has a `Subscription` too.
        private typealias PublisherSubscription = OpenCombine.Subscription
    #endif
#elseif canImport(Combine)
    import Combine

    private typealias PublisherSubscription = Combine.Subscription
#endif

#if (RoostCombine && OpenCombine) || (!RoostCombine && canImport(Combine))
    import Dispatch
    import Synchronization

    extension Query {
        /// The result, and then each newer one, as by ``Query/updates()``: a subscriber that asks for no
        /// more skips to the newest. Each subscriber has a live result of its own. Elements come soon after
        /// the write: on the main actor where the subscription was made there, else on no particular
        /// thread.
        public func publisher() -> UpdatesPublisher<LiveUpdates<Item>> {
            UpdatesPublisher(updates: updates())
        }
    }

    extension Repository {
        /// The object with this identifier, and then each newer one; `nil` while there is none. As
        /// ``Repository/updates(of:)``.
        public func publisher(of id: Item.ID) -> UpdatesPublisher<ValueUpdates<Item>> {
            UpdatesPublisher(updates: updates(of: id))
        }
    }

    extension Workspace {
        /// What a read gives, and then each newer value, as by ``Workspace/updates(of:)``: it fails with what `read` throws.
        /// Elements come as those of a query's publisher.
        public func publisher<Value: Sendable>(
            of read: @escaping @Sendable (_ view: ReadView) throws -> Value
        ) -> UpdatesPublisher<ReadUpdates<Value>> {
            UpdatesPublisher(updates: updates(of: read))
        }

        /// As the other `publisher(of:)`, without the values that are equal to the one before.
        public func publisher<Value: Sendable & Equatable>(
            of read: @escaping @Sendable (_ view: ReadView) throws -> Value
        ) -> UpdatesPublisher<ReadUpdates<Value>> {
            UpdatesPublisher(updates: updates(of: read))
        }
    }

    /// Publishes what a sequence gives. Each subscriber iterates over it anew, and takes as many
    /// elements as it asks for. It finishes, or fails, with the sequence.
    public struct UpdatesPublisher<Updates: AsyncSequence & Sendable>: Publisher
    where Updates.Element: Sendable {
        public typealias Output = Updates.Element
        public typealias Failure = Updates.Failure

        let updates: Updates

        public func receive<Downstream: Subscriber>(subscriber: Downstream)
        where Downstream.Input == Output, Downstream.Failure == Failure {
            subscriber.receive(subscription: UpdatesSubscription(updates, subscriber))
        }
    }

    /// Takes elements for one subscriber, in a task that begins with its first demand.
    ///
    /// - `@unchecked Sendable`: what the subscriber is told elements and the end by is called by `run`
    ///   alone, which one task runs; all else that changes is under `state`.
    private final class UpdatesSubscription<Updates: AsyncSequence & Sendable>:
        PublisherSubscription, @unchecked Sendable
    where Updates.Element: Sendable {
        private struct State {
            var demand = Subscribers.Demand.none
            var task: Task<Void, Never>?
            var waiting: CheckedContinuation<Void, Never>?
            var isCancelled = false
        }

        private let updates: Updates
        private let receive: (Updates.Element) -> Subscribers.Demand
        private let end: (Subscribers.Completion<Updates.Failure>) -> Void
        /// A closure that was made on the main actor may be called there alone.
        private let isOnMainActor = MainQueue.isCurrent
        private let state = Mutex(State())

        init<Downstream: Subscriber>(_ updates: Updates, _ downstream: Downstream)
        where Downstream.Input == Updates.Element, Downstream.Failure == Updates.Failure {
            self.updates = updates
            receive = { downstream.receive($0) }
            end = { downstream.receive(completion: $0) }
        }

        func request(_ demand: Subscribers.Demand) {
            let waiting = state.withLock { state in
                guard !state.isCancelled, demand > .none else {
                    return nil as CheckedContinuation<Void, Never>?
                }
                state.demand += demand
                if state.task == nil { state.task = begun }
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume()
        }

        func cancel() {
            let (task, waiting) = state.withLock { state in
                state.isCancelled = true
                defer { state.waiting = nil }
                return (state.task, state.waiting)
            }
            task?.cancel()
            waiting?.resume()
        }

        private var begun: Task<Void, Never> {
            isOnMainActor ? Task { @MainActor in await run() } : Task { await run() }
        }

        private nonisolated(nonsending) func run() async {
            var iterator = updates.makeAsyncIterator()
            var completion = Subscribers.Completion<Updates.Failure>.finished
            do {
                while await takeDemand(),
                    let element = try await iterator.next(isolation: #isolation)
                {
                    if state.withLock({ $0.isCancelled }) { return }
                    let more = receive(element)
                    state.withLock { $0.demand += more }
                }
            } catch {
                completion = .failure(error)
            }
            if !state.withLock({ $0.isCancelled }) { end(completion) }
        }

        /// Waits until an element is asked for; `false` where none will be.
        private nonisolated(nonsending) func takeDemand() async -> Bool {
            await withCheckedContinuation { continuation in
                let goesOn = state.withLock { state in
                    if state.isCancelled || state.demand > .none { return true }
                    state.waiting = continuation
                    return false
                }
                if goesOn { continuation.resume() }
            }
            return state.withLock { state in
                guard !state.isCancelled, state.demand > .none else { return false }
                state.demand -= 1
                return true
            }
        }
    }
#endif
