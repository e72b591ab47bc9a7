/// Keys or entries of a ``KeyValueDictionary``, one after the other, wherever it is kept.
///
/// Nothing is read before the iteration begins, and each iteration reads anew.
public struct KeyValueSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = any Error

    /// Gives the next element at each call, and `nil` after the last.
    package typealias Producer = nonisolated(nonsending) () async throws -> Element?

    private let begin: @Sendable () -> Iterator

    /// - Parameter begin: called once for each iteration.
    package init(_ begin: @escaping @Sendable () -> Producer) {
        self.begin = { Iterator(produce: begin()) }
    }

    /// The elements of another sequence.
    init<Base: AsyncSequence & Sendable>(_ base: Base) where Base.Element == Element {
        self.init {
            var iterator = base.makeAsyncIterator()
            return { try await iterator.next(isolation: #isolation) }
        }
    }

    public func makeAsyncIterator() -> Iterator { begin() }

    /// All of the elements, in memory.
    package func all() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }

    /// Takes the elements one by one.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let produce: Producer

        /// As `next(isolation:)`.
        public mutating func next() async throws -> Element? { try await next(isolation: nil) }

        /// Suspends until there is an element; `nil` at the end.
        ///
        /// - Throws: what reading from the dictionary throws.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(any Error) -> Element? {
            try await produce()
        }
    }
}

/// The changes of a ``KeyValueDictionary``, wherever it is kept. Never ends with an error: what breaks is begun again.
public struct KeyValueChanges<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = DictionaryChange<Value>
    public typealias Failure = Never

    /// Gives the next change at each call, and `nil` at the end.
    package typealias Producer = nonisolated(nonsending) () async -> Element?

    private let begin: @Sendable () -> Iterator

    /// - Parameter begin: called once for each iteration.
    package init(_ begin: @escaping @Sendable () -> Producer) {
        self.begin = { Iterator(produce: begin()) }
    }

    /// The elements of another sequence.
    init<Base: AsyncSequence & Sendable>(_ base: Base)
    where Base.Element == Element, Base.Failure == Never {
        self.init {
            var iterator = base.makeAsyncIterator()
            return { await iterator.next(isolation: #isolation) }
        }
    }

    public func makeAsyncIterator() -> Iterator { begin() }

    /// Takes the changes one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let produce: Producer

        /// As `next(isolation:)`.
        public mutating func next() async -> Element? { await next(isolation: nil) }

        /// Suspends until there is a change; `nil` at the end.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> DictionaryChange<Value>? {
            await produce()
        }
    }
}

/// Which keys a scan or a watcher of a ``KeyValueDictionary`` covers, in which order, and how many at most.
public struct KeySelection: Sendable, Hashable {
    package var bounds: KeyBounds
    package var limit: Int?
    package var order: ScanOrder

    package init(bounds: KeyBounds, limit: Int?, order: ScanOrder) {
        self.bounds = bounds
        self.limit = limit
        self.order = order
    }

    /// The keys that begin with the bytes of `prefix`; all where it is empty.
    public init(prefix: String = "", limit: Int? = nil, order: ScanOrder = .ascending) {
        bounds = KeyBounds(prefix: prefix)
        self.limit = limit
        self.order = order
    }

    /// Of the keys that begin with `prefix` those behind a key, in the order that is read in.
    package init(prefix: String = "", after key: String?, limit: Int, order: ScanOrder) {
        bounds = KeyBounds(prefix: prefix).after(key, order)
        self.limit = limit
        self.order = order
    }

    /// The keys in `range`.
    public init(in range: some KeyRange, limit: Int? = nil, order: ScanOrder = .ascending) {
        bounds = range.keyBounds
        self.limit = limit
        self.order = order
    }
}
