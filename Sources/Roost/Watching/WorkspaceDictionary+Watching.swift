import RoostCoding
import RoostEngine
import RoostIO

// Each call stands twice, for the two kinds of coding, as in `WorkspaceDictionary+Values`.

extension WorkspaceDictionary {
    /// How many changes wait for a reader of `changes` that does not say otherwise.
    public static var defaultBufferCapacity: Int { 1024 }

    // MARK: One key's value

    /// The value of `key`, and then each newer one; `nil` once it is removed or has expired. Costs nothing while the
    /// key is not written.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        updates(key, .binary())
    }

    /// The value of `key`, and then each newer one.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        updates(key, .codable())
    }

    /// The value of `key`, and then each newer one; as `updates(of:as:)`, in the
    /// words of `subscribe(_:of:_:)`.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, of type: Value.Type
    ) -> ValueUpdates<Value> {
        updates(key, .binary())
    }

    /// The value of `key`, and then each newer one.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, of type: Value.Type
    ) -> ValueUpdates<Value> {
        updates(key, .codable())
    }

    /// Calls `body` with the value of `key`, `.initial`, and then with each change of it, in
    /// order, one call at a time, on no particular thread; until the subscription is cancelled
    /// or goes, or the workspace is closed. A value that expires is told as `.deleted`.
    ///
    /// A closure that takes long never holds up a writer: it skips older changes where more than
    /// 1,024 wait. A value that does not read as `Value` is skipped and told to
    /// ``Workspace/failures``.
    public func subscribe<Value: BinaryCodable & Sendable>(
        _ key: String, of type: Value.Type,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(key, .binary(), body)
    }

    /// Calls `body` with the value of `key` and with each change of it; as the other
    /// `subscribe(_:of:_:)`.
    @_disfavoredOverload
    public func subscribe<Value: Codable & Sendable>(
        _ key: String, of type: Value.Type,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(key, .codable(), body)
    }

    // MARK: Changes

    /// Every change of `key`, from the next on, or from those after the version `since` on.
    ///
    /// What came since is read from the log, as far as it goes back: what is in snapshots alone
    /// is told as one `missed`. Where nobody writes for a while the log becomes small.
    public func changes<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<Value> {
        changes(of: key, .binary(), version, bufferCapacity)
    }

    /// Every change of `key`; as the other `changes(forKey:as:since:bufferCapacity:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<Value> {
        changes(of: key, .codable(), version, bufferCapacity)
    }

    /// Every change of the keys that begin with the bytes of `prefix`, of all keys where it is
    /// empty; from the next on, or from those after the version `since` on, as for one key.
    public func changes<Value: BinaryCodable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<Value> {
        changes(prefix: prefix, .binary(), version, bufferCapacity)
    }

    /// Every change of the keys with a prefix; as the other
    /// `changes(prefix:as:since:bufferCapacity:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self, since version: UInt64? = nil,
        bufferCapacity: Int = defaultBufferCapacity
    ) -> DictionaryChanges<Value> {
        changes(prefix: prefix, .codable(), version, bufferCapacity)
    }
}

extension WorkspaceDictionary {
    private func updates<Value>(_ key: String, _ codec: ValueCodec<Value>) -> ValueUpdates<Value> {
        updates(key, decoding(codec))
    }

    private func subscribe<Value>(
        _ key: String, _ codec: ValueCodec<Value>,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        subscribe(key, decoding(codec), body)
    }

    private func changes<Value>(
        of key: String, _ codec: ValueCodec<Value>, _ version: UInt64?, _ capacity: Int
    ) -> DictionaryChanges<Value> {
        changes(of: key, decoding(codec), version, capacity)
    }

    func changes<Value>(
        prefix: String, _ codec: ValueCodec<Value>, _ version: UInt64?, _ capacity: Int
    ) -> DictionaryChanges<Value> {
        let handle = engineName.map { name in
            workspace.engine.watch(
                WatchTarget(prefix: prefix, in: name),
                .changes(since: version, capacity: checked(capacity)))
        }
        return DictionaryChanges(watch: watch(handle, decoding(codec)), key: nil)
    }

    /// All changes from one moment on, and a view of that moment.
    func changesAndView<Value: Sendable>(
        _ codec: ValueCodec<Value>
    ) throws -> (DictionaryChanges<Value>, ReadView) {
        let target = WatchTarget(prefix: "", in: try checkedName())
        let (handle, view) = try workspace.engine.watchAndView(
            target, .changes(since: nil, capacity: Self.defaultBufferCapacity))
        return (
            DictionaryChanges(watch: watch(handle, decoding(codec)), key: nil),
            ReadView(workspace, view)
        )
    }
}

extension Workspace {
    /// What went wrong where no caller waits to hear of it, from here on: enqueued writes that
    /// could not be made, which the next ``synchronize()`` throws too, and watched values that do
    /// not read as the type they are watched as. Ends with the workspace. A reader that does not
    /// read keeps the newest 1,000.
    public var failures: some AsyncSequence<RoostError, Never> & Sendable {
        engine.failures.listen()
    }
}
