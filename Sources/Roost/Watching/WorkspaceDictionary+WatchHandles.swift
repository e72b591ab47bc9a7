import RoostEngine
import RoostFormat

/// What stored bytes mean, kind and payload.
struct StoredDecoding<Value: Sendable>: Sendable {
    let value:
        @Sendable (_ stored: UnsafeRawBufferPointer, _ key: String, _ name: DictionaryName) throws
            -> Value
}

// What watches one key, whether it is a string or typed.
extension WorkspaceDictionary {
    private static var subscriptionCapacity: Int { 1024 }

    func decoding<Value>(_ codec: ValueCodec<Value>) -> StoredDecoding<Value> {
        let migrations = workspace.migrations
        return StoredDecoding { stored, key, name in
            try codec.decode(stored: stored, key: key, name: name, migrations: migrations)
        }
    }

    func updates<Value>(_ key: String, _ decode: StoredDecoding<Value>) -> ValueUpdates<Value> {
        let handle = target(key).map { workspace.engine.watch($0, .values(capacity: 1)) }
        return ValueUpdates(watch: watch(handle, decode), key: key)
    }

    func subscribe<Value>(
        _ key: String, _ decode: StoredDecoding<Value>,
        _ body: @escaping @Sendable (SubscriptionEvent<Value>) -> Void
    ) -> Subscription {
        let delivery = SubscriptionDelivery(key: key, body: body)
        let handle = target(key).map { target in
            workspace.engine.watch(target, .values(capacity: Self.subscriptionCapacity)) {
                [weak delivery] in delivery?.start()
            }
        }
        delivery.begin(watch(handle, decode))
        return Subscription(delivery)
    }

    func changes<Value>(
        of key: String, _ decode: StoredDecoding<Value>, _ version: UInt64?, _ capacity: Int
    ) -> DictionaryChanges<Value> {
        let handle = target(key).map {
            workspace.engine.watch($0, .changes(since: version, capacity: checked(capacity)))
        }
        return DictionaryChanges(watch: watch(handle, decode), key: key)
    }

    private func target(_ key: String) -> WatchTarget? {
        engineName.map { WatchTarget(key: key, in: $0, hashSeed: workspace.engine.hashSeed) }
    }

    func watch<Value>(
        _ handle: WatchHandle?, _ decode: StoredDecoding<Value>
    ) -> DictionaryWatch<Value> {
        DictionaryWatch(
            handle: handle, name: engineName, decode: decode, failures: workspace.engine.failures,
            clock: workspace.engine.clock)
    }

    func checked(_ capacity: Int) -> Int {
        precondition(capacity > 0, "bufferCapacity is at least one")
        return capacity
    }
}
