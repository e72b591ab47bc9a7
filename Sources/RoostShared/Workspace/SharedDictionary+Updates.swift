import Roost
import RoostIO

// What `KeyValueDictionary`'s other calls do for changes, for the one value of a key. Each stands twice, for the two kinds
// of coding.

extension SharedDictionary {
    /// The value of `key`, `nil` where it has none, and then each newer one.
    ///
    /// - None is older than the one before. A reader that falls behind is not told each value, but the newest of those that
    ///   the engine told at once; after a break it goes on where it was, and where the engine no longer has what came since the
    ///   value is read anew as soon as that is possible.
    /// - A value that expires is told as `nil` when the engine removes it.
    /// - It begins when it is first asked for an element: one request, and a watch. It ends when the workspace is closed, and
    ///   for a reader whose task is cancelled.
    ///
    /// - Throws: while it is iterated, as `load(_:as:)` for the first value; `.decodingFailed` and `.typeMismatch`, which end
    ///   it; `.notPermitted` where the engine refuses again and again.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> KeyValueSequence<Value?> {
        updates(key, .binary())
    }

    /// The value of `key`, and then each newer one; as the other `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> KeyValueSequence<Value?> {
        updates(key, .codable())
    }

    /// The value of `key`, and then each newer one; as `updates(of:as:)`, in the words of `subscribe(_:of:_:)`.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, of type: Value.Type
    ) -> KeyValueSequence<Value?> {
        updates(of: key, as: type)
    }

    /// The value of `key`, and then each newer one; as `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, of type: Value.Type
    ) -> KeyValueSequence<Value?> {
        updates(of: key, as: type)
    }

    /// The value of `key`, or its default, and then each newer one; as `updates(of:as:)`.
    public func updates<Value>(of key: Key<Value>) -> KeyValueSequence<Value> {
        updates(key.name) { record in
            try key.value(ofStored: connection.live(record)?.value, in: try checkedName())
        }
    }

    private func updates<Value>(
        _ key: String, _ form: ValueForm<Value>
    ) -> KeyValueSequence<Value?> {
        updates(key) { try value(of: $0, key, form) }
    }

    private func updates<Element>(
        _ key: String, _ decode: @escaping @Sendable (SharedRecord?) throws -> Element
    ) -> KeyValueSequence<Element> {
        KeyValueSequence {
            let reader = SharedValueReader(self, key, decode)
            return { try await reader.next() }
        }
    }
}

/// One reader of a key's value.
///
/// - `changes` begins behind the revision that the value was last read at; `nil` before it was.
/// - Once `hasEnded` there is nothing more, as an error has left the value between two revisions.
private final class SharedValueReader<Element: Sendable> {
    private let dictionary: SharedDictionary
    private let key: String
    private let decode: @Sendable (SharedRecord?) throws -> Element
    private var changes: ChangeReader?
    private var hasEnded = false

    init(
        _ dictionary: SharedDictionary, _ key: String,
        _ decode: @escaping @Sendable (SharedRecord?) throws -> Element
    ) {
        self.dictionary = dictionary
        self.key = key
        self.decode = decode
    }

    nonisolated(nonsending) func next() async throws -> Element? {
        if hasEnded { return nil }
        let wasBegun = changes != nil
        do {
            let element = try await nextElement()
            hasEnded = element == nil
            return element
        } catch {
            hasEnded = true
            let code = (error as? RoostError)?.code
            if Task.isCancelled, code == .cancelled { return nil }
            // While the value was read anew: the sequence ends as it does at any other moment.
            if wasBegun, code == .closed { return nil }
            throw error
        }
    }

    private nonisolated(nonsending) func nextElement() async throws -> Element? {
        guard let changes else { return try await read() }
        while let told = await changes.nextElements() {
            var newest: SharedChange?
            for element in told.elements {
                // What was missed may be of this key; what was told with it is in what is read.
                guard case .changed(let change) = element else { return try await readAgain() }
                newest = change
            }
            guard let newest else { continue }
            let record = newest.value.map {
                SharedRecord(key: newest.key, value: $0, revision: newest.revision, expires: false)
            }
            return try decode(record)
        }
        if let failure = changes.failure, failure.code != .closed { throw failure }
        return nil
    }

    private nonisolated(nonsending) func read() async throws -> Element {
        let engineKey = try dictionary.engineKey(key)
        let (record, revision) = try await dictionary.connection.record(
            engineKey, before: dictionary.workspace.callEnd)
        changes = ChangeReader(dictionary, SharedKeyRange(engineKey), after: revision)
        return try decode(record)
    }

    /// The engine told that it cannot tell all: it may not be reached yet.
    private nonisolated(nonsending) func readAgain() async throws -> Element {
        var backoff = Backoff()
        while true {
            do { return try await read() } catch let error as RoostError
                where error.code == .unavailable
            { try await backoff.wait(before: .now + .seconds(60)) }
        }
    }
}
