import Foundation
import RoostEngine
import RoostFormat

// Values that expire. From its deadline on, no call shows a value: it is as if it had been removed
// at that instant. Its bytes go when compaction next meets them.

extension WorkspaceDictionary {
    // MARK: Setting

    /// Sets the value of `key`, which is gone once `duration` has passed by the workspace's
    /// clock, up to two milliseconds earlier; at once where it is not positive. Any later `set`
    /// of the key that says nothing of expiry makes its value stay.
    ///
    /// The deadline is stored as a time of day, so that it holds across reopenings. While the
    /// clock is set back before a time at which a value was found expired, that time counts on
    /// until the workspace is closed.
    ///
    /// As durable, and with the errors, of `set(_:forKey:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await set(value, key, .binary(), deadline(after: duration), durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:expiresIn:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await set(value, key, .codable(), deadline(after: duration), durability)
    }

    /// Sets the value of `key`, which is gone from `date` on, to the millisecond before it; as
    /// `set(_:forKey:expiresIn:durability:)`.
    public nonisolated(nonsending) func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, expiresAt date: Date, durability: Durability? = nil
    ) async throws {
        try await set(value, key, .binary(), Deadline(date), durability)
    }

    /// Sets the value of `key`; as the other `set(_:forKey:expiresAt:durability:)`.
    @_disfavoredOverload
    public nonisolated(nonsending) func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, expiresAt date: Date, durability: Durability? = nil
    ) async throws {
        try await set(value, key, .codable(), Deadline(date), durability)
    }

    /// Sets the value of `key`, which has its default again once `duration` has passed; as
    /// `set(_:forKey:expiresIn:durability:)`.
    public nonisolated(nonsending) func set<Value>(
        _ value: Value, for key: Key<Value>, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws {
        try await set(value, key.name, key.form, deadline(after: duration), durability)
    }

    /// Sets the value of `key`, which has its default again from `date` on; as
    /// `set(_:forKey:expiresAt:durability:)`.
    public nonisolated(nonsending) func set<Value>(
        _ value: Value, for key: Key<Value>, expiresAt date: Date, durability: Durability? = nil
    ) async throws {
        try await set(value, key.name, key.form, Deadline(date), durability)
    }

    // MARK: Replacing

    /// Sets the value of the entry's key, which is gone once `duration` has passed, if the key still has the
    /// entry's version: a lease that its holder renews. Else as `replace(_:with:durability:)`.
    @discardableResult
    public nonisolated(nonsending) func replace<Value: BinaryCodable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, .binary(), deadline(after: duration), durability)
    }

    /// Sets the value of the entry's key; as the other `replace(_:with:expiresIn:durability:)`.
    @_disfavoredOverload
    @discardableResult
    public nonisolated(nonsending) func replace<Value: Codable & Sendable>(
        _ entry: Entry<Value>, with value: Value, expiresIn duration: Duration,
        durability: Durability? = nil
    ) async throws -> Entry<Value> {
        try await replace(entry, with: value, .codable(), deadline(after: duration), durability)
    }

    // MARK: Asking

    /// When the value of `key` expires; `nil` where it has no value, or one that stays. Does not
    /// suspend; reads a cold value.
    ///
    /// - Throws: as `contains(_:)`.
    public func expiration(forKey key: String) throws -> Date? {
        try liveDeadline(key).map { Date(milliseconds: $0.milliseconds) }
    }

    /// How long the value of `key` is there yet; `nil` where it has no value, or one that stays.
    /// Does not suspend; reads a cold value.
    ///
    /// - Throws: as `contains(_:)`.
    public func remainingTime(forKey key: String) throws -> Duration? {
        guard let deadline = try liveDeadline(key) else { return nil }
        let now = workspace.engine.clock.milliseconds
        // It may expire between the two looks at the clock.
        guard deadline.milliseconds > now else { return nil }
        return .milliseconds(Int64(clamping: deadline.milliseconds - now))
    }

    /// How long the value that was read is there yet: nothing where it has expired since, `nil` where it has no value or
    /// one that stays. Does not suspend, and reads nothing.
    public func remainingTime<Value>(of entry: Entry<Value>) -> Duration? {
        entry.remainingTime(at: workspace.engine.clock.milliseconds)
    }

    /// When the value of `key` expires; as `expiration(forKey:)`.
    public func expiration<Value>(for key: Key<Value>) throws -> Date? {
        try expiration(forKey: key.name)
    }

    /// How long the value of `key` is there yet; as `remainingTime(forKey:)`.
    public func remainingTime<Value>(for key: Key<Value>) throws -> Duration? {
        try remainingTime(forKey: key.name)
    }
}

extension WriteBatch {
    /// Sets the value of `key` in `dictionary`, which is gone once `duration` has passed from
    /// now; as `set(_:forKey:expiresIn:durability:)`.
    public mutating func set<Value: BinaryCodable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) {
        add(key, dictionary) {
            try dictionary.encode(value, .binary())
        } until: {
            $0.deadline(after: duration)
        }
    }

    /// Sets the value of `key` in `dictionary`, which is gone once `duration` has passed from
    /// now.
    @_disfavoredOverload
    public mutating func set<Value: Codable & Sendable>(
        _ value: Value, forKey key: String, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) {
        add(key, dictionary) {
            try dictionary.encode(value, .codable())
        } until: {
            $0.deadline(after: duration)
        }
    }

    /// Sets the value of `key` in `dictionary`, which has its default again once `duration` has
    /// passed from now.
    public mutating func set<Value>(
        _ value: Value, for key: Key<Value>, in dictionary: WorkspaceDictionary,
        expiresIn duration: Duration
    ) {
        add(key.name, dictionary) {
            try dictionary.encode(value, key.form)
        } until: {
            $0.deadline(after: duration)
        }
    }

    private mutating func add(
        _ key: String, _ dictionary: WorkspaceDictionary, _ encode: () throws -> EncodedValue?,
        until deadline: (ExpiryClock) -> Deadline
    ) {
        check(dictionary)
        let clock = workspace.engine.clock
        attempt { encoded in
            let name = try dictionary.checkedName()
            if let value = try encode() {
                encoded.put(value.with(deadline: deadline(clock)), forKey: key, in: name)
            } else {
                encoded.remove(key, in: name)
            }
        }
    }
}

extension WorkspaceDictionary {
    private func deadline(after duration: Duration) -> Deadline {
        workspace.engine.clock.deadline(after: duration)
    }

    private nonisolated(nonsending) func set<Value>(
        _ value: Value, _ key: String, _ codec: @autoclosure () -> ValueCodec<Value>,
        _ deadline: Deadline, _ durability: Durability?
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, codec()).with(deadline: deadline)
        try await write(encoded, key, durability)
    }

    private nonisolated(nonsending) func set<Form: KeyForm>(
        _ value: Form.Value, _ key: String, _ form: Form.Type, _ deadline: Deadline,
        _ durability: Durability?
    ) async throws {
        try checkCancellation()
        let encoded = try encode(value, form)?.with(deadline: deadline)
        try await write(encoded, key, durability)
    }

    /// The deadline of a value that is there and has one.
    private func liveDeadline(_ key: String) throws -> Deadline? {
        guard let found = try workspace.engine.find(key, name: try checkedName()) else {
            return nil
        }
        let deadline = found.deadline
        return deadline == .never ? nil : deadline
    }
}

extension Deadline {
    fileprivate init(_ date: Date) {
        self.init(milliseconds: min(WallClock.milliseconds(of: date), Deadline.latest.milliseconds))
    }
}
