import Foundation
import Roost
import RoostFormat
import RoostIO

/// A dictionary of a ``SharedWorkspace``, kept beside the process in a local workspace, so that reads are synchronous.
///
/// ```swift
/// let settings = try await shared.follow("settings", in: local)
/// let volume = try settings["volume", default: 0.5]
/// ```
///
/// - What is read is of one revision of the engine's, ``revision``, which never goes back, and at most ``lag`` old.
/// - While the engine cannot be reached, reads go on and the lag grows.
/// - The local workspace keeps the values and the revision that they stand at, in one batch each; another opening
///   asks only for what came since. Where the engine no longer has that, everything is loaded anew, at once.
/// - It follows until ``close()`` or ``stop()``, or until its last reference goes.
public final class FollowedDictionary: Sendable {
    /// What the dictionary is called in the shared workspace.
    public let name: String
    private let values: WorkspaceDictionary
    /// `nil` where the whole dictionary is loaded.
    private let keyFollower: KeyFollower?
    private let state: FollowState
    /// Looks whether the engine has anything newer, and says how far it is where it has not.
    private let pass: @Sendable (_ deadline: ContinuousClock.Instant) async throws -> Void
    private let task: Task<Void, Never>

    init(_ follower: Follower, _ turn: FollowTurn) {
        name = follower.shared.name
        values = follower.values
        keyFollower = nil
        state = follower.state
        pass = { try await follower.pass(before: $0) }
        task = Task {
            await follower.run()
            turn.pass()
        }
    }

    init(_ follower: KeyFollower, _ turn: FollowTurn) {
        name = follower.shared.name
        values = follower.values
        keyFollower = follower
        state = follower.state
        pass = { try await follower.pass(before: $0) }
        task = Task {
            await follower.run()
            turn.pass()
        }
    }

    /// Throws where nobody knows here what `key` is.
    @inline(__always)
    private func requireLoaded(_ key: String) throws {
        if let keyFollower, !keyFollower.isLoaded(key) { throw Self.notLoaded(key) }
    }

    private static func notLoaded(_ key: String) -> RoostError {
        RoostError(
            .notLoaded, "\"\(key)\" is not loaded, so nobody knows here what it is: `load` it first"
        )
    }

    deinit { task.cancel() }

    /// The engine's revision that all reads are of.
    public var revision: UInt64 { state.revision }

    /// How long ago the engine last said how far it was: what is read may be so old. Engines that say it only
    /// when something changes, as etcd before 3.4.25, let this grow while nothing does. What waits here to be
    /// stored counts from when it came. Where the local workspace had the dictionary, it is more than thirty years
    /// until the engine has said anything.
    public var lag: Duration { state.lag }

    /// What a change takes to come here from an engine that tells how far it is.
    private static let firstPause = Duration.milliseconds(250)

    /// Returns once reads are of this revision or a later one: of a write that was just made, for example. Where that takes
    /// longer than a moment, the engine is asked for the keys that are followed: it may have nothing newer, and not say so.
    ///
    /// - Parameter duration: how long to wait at most.
    /// - Throws: `.unavailable` where it is not reached in time, `.cancelled`.
    public func reached(_ revision: UInt64, within duration: Duration = .seconds(10)) async throws {
        let deadline = SharedWorkspace.end(of: duration)
        var backoff = Backoff(first: .milliseconds(1), limit: .milliseconds(50))
        var pause = Self.firstPause
        var asking = ContinuousClock.now + pause
        while self.revision < revision {
            guard ContinuousClock.now < deadline else {
                throw RoostError(
                    .unavailable,
                    "revision \(revision) was not reached in time; reads are of \(self.revision)",
                    cause: state.lookFailure)
            }
            if ContinuousClock.now >= asking, !task.isCancelled {
                state.lookBeside { [pass] in try await pass(deadline) }
                pause *= 2
                asking = .now + pause
            }
            try await backoff.wait(before: deadline)
        }
    }

    /// What the last attempt to bring changes here failed with, such as a local disk that is full; `nil` once one
    /// has succeeded since.
    public var failure: (any Error)? { state.failure }

    /// Follows no longer. Reads go on, of what was there; a key that is not loaded by then is not loaded any more.
    public func stop() { task.cancel() }

    /// Follows no longer, and returns once the local workspace has the revision that was reached: to be called
    /// before that is closed, or before the dictionary is followed anew. Reads go on, of what was there; a key that is not
    /// loaded by then is not loaded any more.
    public func close() async {
        task.cancel()
        await task.value
    }

    // MARK: Loading

    /// The value of `key`, or `nil`: loaded first where keys are loaded as they are asked for and this one is not yet.
    /// From then on it is followed, and read without suspending.
    ///
    /// - Throws: `.unavailable` where it has to be loaded and the engine cannot be reached, `.closed` where it has to be and the
    ///   dictionary is not followed any more; as `value(forKey:as:)`.
    public func load<Value: BinaryCodable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await keyFollower?.load(key)
        return try value(forKey: key, as: type)
    }

    /// The value of `key`, or `nil`; as the other `load(_:as:)`.
    @_disfavoredOverload
    public func load<Value: Codable & Sendable>(
        _ key: String, as type: Value.Type = Value.self
    ) async throws -> Value? {
        try await keyFollower?.load(key)
        return try value(forKey: key, as: type)
    }

    /// The value of `key`, or its default; as `load(_:as:)`.
    public func load<Value>(_ key: Key<Value>) async throws -> Value {
        try await keyFollower?.load(key.name)
        return try self[key]
    }

    /// Whether `key` can be read without suspending: always where the whole dictionary is loaded.
    public func isLoaded(_ key: String) -> Bool { keyFollower?.isLoaded(key) ?? true }

    // MARK: Reading

    /// The value of `key`, or `nil`; synchronous, as of a `WorkspaceDictionary`.
    ///
    /// - Throws: `.notLoaded` where keys are loaded as they are asked for and this one is not yet; as `value(forKey:as:)` of a
    ///   `WorkspaceDictionary`.
    #if compiler(>=6.3)
        // As of a `WorkspaceDictionary`.
        @specialized(where Value == Int)
        @specialized(where Value == String)
        @specialized(where Value == [UInt8])
        @specialized(where Value == Data)
        @specialized(where Value == Double)
        @specialized(where Value == Bool)
    #endif
    public func value<Value: BinaryCodable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Value? {
        try requireLoaded(key)
        return try values.value(forKey: key, as: type)
    }

    /// The value of `key`, or `nil`; as the other `value(forKey:as:)`.
    @_disfavoredOverload
    public func value<Value: Codable & Sendable>(
        forKey key: String, as type: Value.Type = Value.self
    ) throws -> Value? {
        try requireLoaded(key)
        return try values.value(forKey: key, as: type)
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    public subscript<Value: BinaryCodable & Sendable>(
        key: String, default value: @autoclosure () -> Value
    ) -> Value {
        get throws {
            try requireLoaded(key)
            return try values.value(forKey: key, as: Value.self) ?? value()
        }
    }

    /// The value of `key`, or `value` where it has none; as `value(forKey:as:)`.
    @_disfavoredOverload
    public subscript<Value: Codable & Sendable>(
        key: String, default value: @autoclosure () -> Value
    ) -> Value {
        get throws {
            try requireLoaded(key)
            return try values.value(forKey: key, as: Value.self) ?? value()
        }
    }

    /// The value of `key`, or its default; as `value(forKey:as:)`.
    public subscript<Value>(key: Key<Value>) -> Value {
        get throws {
            try requireLoaded(key.name)
            return try values[key]
        }
    }

    /// Whether `key` has a value.
    ///
    /// - Throws: `.notLoaded`; as `contains(_:)` of a `WorkspaceDictionary`.
    public func contains(_ key: String) throws -> Bool {
        try requireLoaded(key)
        return try values.contains(key)
    }

    /// How many keys there are; of those that are loaded.
    ///
    /// - Throws: as `count` of a `WorkspaceDictionary`.
    public var count: Int { get throws { try values.count } }

    /// How many keys there are that begin with the bytes of `prefix`; of those that are loaded.
    ///
    /// - Throws: as `count(prefix:)` of a `WorkspaceDictionary`.
    public func count(prefix: String) throws -> Int { try values.count(prefix: prefix) }

    /// All keys, of those that are loaded, in the order of their UTF-8 bytes.
    ///
    /// - Throws: as `keys` of a `WorkspaceDictionary`.
    public var keys: [String] { get throws { try values.keys } }

    /// Every change as it comes to be read here, from the next on.
    public func changes<Value: BinaryCodable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self
    ) -> DictionaryChanges<Value> {
        values.changes(prefix: prefix, as: type)
    }

    /// Every change as it comes to be read here; as the other `changes(prefix:as:)`.
    @_disfavoredOverload
    public func changes<Value: Codable & Sendable>(
        prefix: String = "", as type: Value.Type = Value.self
    ) -> DictionaryChanges<Value> {
        values.changes(prefix: prefix, as: type)
    }

    /// The value of `key`, and then each newer one as it comes to be read here; as of a `WorkspaceDictionary`. A key that is
    /// loaded as it is asked for has no value before it is loaded.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        values.updates(of: key, as: type)
    }

    /// The value of `key`, and then each newer one; as the other `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, as type: Value.Type = Value.self
    ) -> ValueUpdates<Value> {
        values.updates(of: key, as: type)
    }

    /// The value of `key`, and then each newer one; as `updates(of:as:)`, in the words of `subscribe(_:of:_:)`.
    public func updates<Value: BinaryCodable & Sendable>(
        of key: String, of type: Value.Type
    ) -> ValueUpdates<Value> {
        updates(of: key, as: type)
    }

    /// The value of `key`, and then each newer one; as `updates(of:as:)`.
    @_disfavoredOverload
    public func updates<Value: Codable & Sendable>(
        of key: String, of type: Value.Type
    ) -> ValueUpdates<Value> {
        updates(of: key, as: type)
    }

    /// The value of `key`, or its default, and then each newer one; as `updates(of:as:)`.
    public func updates<Value>(of key: Key<Value>) -> KeyUpdates<Value> { values.updates(of: key) }
}

extension SharedWorkspace {
    /// Keeps the dictionary called `name` beside the process, in `local`, and follows its changes.
    ///
    /// Returns once it has been loaded whole, or at once where `local` has it from an earlier time: after a second at
    /// most while the engine cannot be reached.
    ///
    /// - Parameters:
    ///   - name: what the dictionary is called.
    ///   - local: where it is kept: in files or in memory. Nobody else may write the dictionary called
    ///     `followed/NAMESPACE/NAME` there; in the two, `/` and `%` are written `%2F` and `%25`.
    ///   - loading: all of it at once; or each key as it is first asked for by `load`, of a dictionary that is larger
    ///     than what this process reads of it.
    /// - Throws: `.unavailable` where it has to be loaded and the engine cannot be reached; `.compacted` where that takes
    ///   longer than the engine keeps a revision, after a minute; `.locked` where the dictionary is followed in `local`
    ///   already, and that is not about to end; what writing to `local` throws.
    public func follow(
        _ name: String, in local: Workspace, loading: FollowLoading = .whole
    ) async throws -> FollowedDictionary {
        let dictionary = dictionary(name)
        let byKey = loading == .byKey ? KeyFollower(dictionary, local) : nil
        let follower = Follower(dictionary, local)
        let turn = try await FollowTurn(
            name, (byKey?.values ?? follower.values).name, in: local, within: callDeadline)
        do {
            guard let byKey else {
                try await follower.begin()
                return FollowedDictionary(follower, turn)
            }
            try await byKey.begin()
            return FollowedDictionary(byKey, turn)
        } catch {
            turn.pass()
            throw error
        }
    }
}

/// What of a followed dictionary is kept beside the process.
public enum FollowLoading: Sendable {
    /// All of it, loaded when it begins.
    case whole
    /// Each key from when it is first asked for, by `load`; also that it has no value. Reading one that is not loaded
    /// throws `.notLoaded`.
    case byKey
}
