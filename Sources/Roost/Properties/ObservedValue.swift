import Observation
import RoostIO

/// The value of a typed key for user interfaces and view models: `value` is what is stored, whoever
/// wrote it, and observers are told of each change.
///
/// ```swift
/// @MainActor let theme = ObservedValue(.theme, in: settings)
/// theme.value = .dark
/// ```
///
/// - The first value is read when this is first asked for it; later ones are decoded off the main actor. So it costs nothing
///   where a view's struct is made anew at each drawing, and with it what its `@State` begins with. Of changes in quick
///   succession the last is shown. A value equal to the one shown tells nobody.
/// - Setting shows the value at once, makes it visible to all readers, and writes it in the background, as
///   `enqueue(_:for:)`. A value equal to the stored one costs no write.
/// - Where what is stored cannot be read, the last value that could be stays, or the key's default,
///   ``failure`` says why, and setting changes nothing: see ``replace(with:)``.
/// - It ends following when it goes or the workspace is closed; and where a writer can be followed no more, which ``failure``
///   says.
@MainActor
@Observable
public final class ObservedValue<Value: Sendable> {
    /// What is stored, or the key's default.
    public var value: Value {
        get {
            begin()
            return current
        }
        set { set(newValue) }
    }
    /// Why a value could not be set, until one is set or the key reset; else why the stored value could not
    /// be read, until it can be.
    public var failure: RoostError? {
        begin()
        return settingFailure ?? readingFailure
    }
    /// The key whose value this is.
    public nonisolated let key: Key<Value>
    /// The dictionary that it is in.
    public nonisolated let dictionary: WorkspaceDictionary

    private var current: Value
    private var readingFailure: RoostError?
    /// Kept apart, as what is stored reads well after a setting that failed, and is read at each change.
    private var settingFailure: RoostError?
    @ObservationIgnored private let stored: StoredProperty<Value>
    @ObservationIgnored private let isEqual: @Sendable (Value, Value) -> Bool
    @ObservationIgnored private var hasBegun = false
    @ObservationIgnored private var following: Task<Void, Never>?
    @ObservationIgnored private var listening: Task<Void, Never>?

    /// The value of `key` in `dictionary`, which is read when it is first asked for.
    public convenience init(_ key: Key<Value>, in dictionary: WorkspaceDictionary)
    where Value: Equatable {
        self.init(Stored(key, in: dictionary).projectedValue) { $0 == $1 }
    }

    /// The value of `key` in `dictionary`, which is read when it is first asked for. As its values cannot be compared, each
    /// setting is a write, and each write of the key a change.
    @_disfavoredOverload
    public convenience init(_ key: Key<Value>, in dictionary: WorkspaceDictionary) {
        self.init(Stored(key, in: dictionary).projectedValue) { _, _ in false }
    }

    private init(
        _ stored: StoredProperty<Value>, isEqual: @escaping @Sendable (Value, Value) -> Bool
    ) {
        self.stored = stored
        self.isEqual = isEqual
        key = stored.key
        dictionary = stored.dictionary
        current = stored.key.defaultValue
    }

    deinit {
        following?.cancel()
        listening?.cancel()
    }

    /// Sets the value whatever stands there, even what cannot be read; visible at once, written
    /// in the background.
    ///
    /// - Returns: what was wrong at once; it is in ``failure`` too.
    @discardableResult
    public func replace(with value: Value) -> Result<Void, RoostError> {
        begin()
        let result = stored.replace(with: value)
        note(result)
        if case .success = result { show(value) }
        return result
    }

    /// Removes the value, so that the key has its default; whatever stands there.
    @discardableResult
    public func reset() -> Result<Void, RoostError> {
        begin()
        let result = stored.reset()
        note(result)
        if case .success = result { show(key.defaultValue) }
        return result
    }

    /// Before anybody can observe what is read here, so that nobody is told of it.
    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        reload()
        follow()
    }

    private func set(_ value: Value) {
        begin()
        reload()
        guard readingFailure == nil else { return }
        replace(with: value)
    }

    private func show(_ value: Value) {
        if !isEqual(current, value) { current = value }
    }

    private func note(_ result: Result<Void, RoostError>) {
        if case .failure(let error) = result {
            settingFailure = error
            return
        }
        if settingFailure != nil { settingFailure = nil }
        // Whatever stood there does not any more.
        if readingFailure != nil { readingFailure = nil }
    }

    /// Shows what is stored at this moment.
    private func reload() {
        do {
            show(try stored.value)
            if readingFailure != nil { readingFailure = nil }
        } catch {
            let failure =
                error as? RoostError
                ?? RoostError(.decodingFailed, "\"\(key.name)\" could not be read", cause: error)
            // Observers are told of another one alone.
            if readingFailure?.code != failure.code || readingFailure?.message != failure.message {
                readingFailure = failure
            }
        }
    }

    /// Reads the newest value at each change, rather than showing what the change brought: a change
    /// may be told after a newer value was set here.
    private func follow() {
        let changes = dictionary.changeSignals(of: key.name)
        let lostWrites = dictionary.workspace.engine.failures.listenToLostWrites()
        following = Task.detached { [weak self, stored] in
            for await _ in changes {
                // Decoded here it is only looked up on the main actor, which says what fails.
                _ = try? stored.value
                await self?.reload()
            }
            if stored.dictionary.workspace.engine.readingFailure != nil { await self?.reload() }
        }
        listening = Task { [weak self] in
            // The value that was set here may be among what was lost.
            for await _ in lostWrites { self?.reload() }
        }
    }
}

extension WorkspaceDictionary {
    /// An element now and then at each change of `key`, whatever its value is.
    fileprivate func changeSignals(of key: String) -> ValueUpdates<Bool> {
        updates(key, StoredDecoding { _, _, _ in true })
    }
}
