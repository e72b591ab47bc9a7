import RoostEngine

// Watching typed keys: each call does what the call on the key's name does, and gives the key's
// default where that gives `nil`.

extension WorkspaceDictionary {
    /// The value of `key`, or its default, and then each newer one. Does not suspend, and costs
    /// nothing while the key is not written.
    ///
    /// ```swift
    /// for await theme in settings.updates(of: .theme) { apply(theme) }
    /// ```
    public func updates<Value>(of key: Key<Value>) -> KeyUpdates<Value> {
        KeyUpdates(
            updates: updates(key.name, decoding(key.form)), defaultValue: key.defaultValue)
    }

    /// Calls `body` with the value of `key`, `.initial`, and then with each change of it, as
    /// `subscribe(_:of:_:)`. The initial value is the key's default where it has
    /// none; `.deleted` says that it has its default again.
    public func subscribe<Value>(
        _ key: Key<Value>, _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        let defaultValue = key.defaultValue
        return subscribe(key.name, decoding(key.form)) { event in
            if case .initial(nil) = event { body(.initial(defaultValue)) } else { body(event) }
        }
    }

    /// Every change of `key`, from the next on, or from those after the version `since` on; as
    /// `changes(forKey:as:since:bufferCapacity:)`. `.removed` says that it has
    /// its default again.
    public func changes<Value>(
        of key: Key<Value>, since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<Value> {
        changes(of: key.name, decoding(key.form), version, bufferCapacity)
    }

    private func decoding<Form: KeyForm>(_ form: Form.Type) -> StoredDecoding<Form.Value> {
        let decode = decoding(form.codec)
        return StoredDecoding { stored, key, name in
            // A form has a value for whatever is stored; only where nothing is, the default counts.
            form.value(of: try decode.value(stored, key, name))!
        }
    }
}

/// A typed key's value, or its default where it has none, and then each newer one.
///
/// Else as ``ValueUpdates``: a reader that falls behind skips to the newest value; a value that does
/// not read as `Value` is skipped and told to ``Workspace/failures``; it ends when the workspace is
/// closed or goes, and for the reader whose task is cancelled. It is for one reader.
public struct KeyUpdates<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value
    public typealias Failure = Never

    let updates: ValueUpdates<Value>
    let defaultValue: Value

    public func makeAsyncIterator() -> Iterator {
        Iterator(updates: updates.makeAsyncIterator(), defaultValue: defaultValue)
    }

    /// Takes the elements one by one, and waits for the next.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var updates: ValueUpdates<Value>.Iterator
        fileprivate let defaultValue: Value

        public mutating func next() async -> Value? { await next(isolation: nil) }

        /// Suspends until there is a newer value; `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Value? {
            switch await updates.next(isolation: actor) {
            case .some(.some(let value)): value
            case .some(.none): defaultValue
            case .none: nil
            }
        }
    }
}
