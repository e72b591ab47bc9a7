import RoostIO

/// A property of a class or an actor whose value is that of a typed key.
///
/// ```swift
/// extension Key where Value == Theme {
///     static var theme: Self { .init("ui.theme", default: .light) }
/// }
///
/// final class Appearance {
///     @Stored(.theme, in: Storage.settings) var theme: Theme
/// }
/// ```
///
/// Where the dictionary comes with an instance, its initializer makes the property:
/// `_theme = Stored(.theme, in: settings)`.
///
/// - Reading gives what is stored at that moment, whoever wrote it, or the key's default; it costs
///   what `settings[.theme]` costs.
/// - Setting is `enqueue(_:for:)`: visible to all readers at once, and written
///   in the background. A value equal to the stored one costs no write.
/// - `theme += 1` is a reading and a setting. Another writer may come between: for a change that must
///   not be lost, `await` `update(_:keepsExpiry:durability:_:)`.
/// - Nobody is told of a change. For views and view models see ``ObservedValue``.
///
/// A property cannot throw. Where what is stored cannot be read, it shows the key's default and
/// tells ``Workspace/failures``; and setting it then changes nothing and is told there too, so that
/// a default that stands for an unreadable value never takes its place unasked.
/// ``StoredProperty/replace(with:)`` of the projected value, `$theme`, does it on demand.
@propertyWrapper
public struct Stored<Value: Sendable>: Sendable {
    /// The key, its dictionary, and the calls that may fail.
    public let projectedValue: StoredProperty<Value>

    /// The property of `key` in `dictionary`. Reads nothing yet.
    public init(_ key: Key<Value>, in dictionary: WorkspaceDictionary) where Value: Equatable {
        projectedValue = StoredProperty(key, dictionary) { dictionary.enqueue($0, for: key) }
    }

    /// The property of `key` in `dictionary`. Reads nothing yet. As its values cannot be compared,
    /// each setting is a write.
    @_disfavoredOverload
    public init(_ key: Key<Value>, in dictionary: WorkspaceDictionary) {
        projectedValue = StoredProperty(key, dictionary) { dictionary.enqueue($0, for: key) }
    }

    /// What is stored at this moment, or the key's default; setting it is written in the background.
    public var wrappedValue: Value {
        get { projectedValue.shown }
        nonmutating set { projectedValue.set(newValue) }
    }
}

/// What stands behind a property that is ``Stored``: its key, its dictionary, and the calls that
/// say what failed.
public struct StoredProperty<Value: Sendable>: Sendable {
    /// The key whose value the property is.
    public let key: Key<Value>
    /// The dictionary that it is in.
    public let dictionary: WorkspaceDictionary
    private let enqueue: @Sendable (Value) -> Result<Void, RoostError>

    init(
        _ key: Key<Value>, _ dictionary: WorkspaceDictionary,
        _ enqueue: @escaping @Sendable (Value) -> Result<Void, RoostError>
    ) {
        self.key = key
        self.dictionary = dictionary
        self.enqueue = enqueue
    }

    /// What is stored, or the key's default where nothing is. Does not suspend.
    ///
    /// - Throws: as `dictionary[key]`.
    public var value: Value { get throws { try dictionary[key] } }

    /// Sets the value whatever stands there, even what cannot be read; visible at once, written
    /// in the background.
    ///
    /// - Returns: what was wrong at once, as `enqueue`.
    @discardableResult
    public func replace(with value: Value) -> Result<Void, RoostError> { enqueue(value) }

    /// Removes the value, so that the property has its default; whatever stands there.
    @discardableResult
    public func reset() -> Result<Void, RoostError> { dictionary.enqueueRemoval(for: key) }

    /// The value, and then each newer one.
    public var updates: KeyUpdates<Value> { dictionary.updates(of: key) }

    var shown: Value {
        do { return try value } catch {
            dictionary.workspace.engine.failures.note(readable(error))
            return key.defaultValue
        }
    }

    func set(_ value: Value) {
        do { _ = try self.value } catch {
            let cause = readable(error)
            let failure = RoostError(
                cause.code,
                "\"\(key.name)\" was not set, as what is stored cannot be read: \(cause.message)",
                file: cause.file, offset: cause.offset, cause: cause)
            return dictionary.workspace.engine.failures.noteLostWrite(failure)
        }
        replace(with: value)
    }

    private func readable(_ error: any Error) -> RoostError {
        error as? RoostError
            ?? RoostError(.decodingFailed, "\"\(key.name)\" could not be read", cause: error)
    }
}
