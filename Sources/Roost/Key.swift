/// A key of a dictionary that says the type of its value, and what reading gives where it has
/// none.
///
/// Keys are declared once, in extensions, and used by their names:
///
/// ```swift
/// extension Key where Value == Theme {
///     static var theme: Self { .init("ui.theme", default: .light) }
/// }
/// extension Key where Value == String? {
///     static func nickname(of user: String) -> Self { .init("nickname.\(user)") }
/// }
///
/// let theme = try settings[.theme]
/// try await settings.set(.dark, for: .theme)
/// let nickname = try settings[.nickname(of: "ada")]
/// ```
///
/// A key may be made again at every use: making one costs a look-up of a type, and no memory.
/// Where everything is on the main actor by default, an extension that other tasks use too is
/// declared `nonisolated`.
public struct Key<Value: Sendable>: Sendable {
    /// The key in the dictionary, as the calls that take a string use it.
    public let name: String
    /// What reading gives where the key has no value; `nil` for an optional key, as `init(_:)` makes it.
    public let defaultValue: Value
    let form: any KeyForm<Value>.Type

    private init(_ name: String, _ defaultValue: Value, _ form: any KeyForm<Value>.Type) {
        self.name = name
        self.defaultValue = defaultValue
        self.form = form
    }
}

extension Key {
    /// The key `name`, whose value is `defaultValue` where none is stored.
    ///
    /// Where `Value` is an optional, its `nil` is a value as any other: it is stored, told from none, and read by such a
    /// key alone, as what is not `nil` is too. A value that may be missing has a key without a default: `init(_:)`.
    public init(_ name: String, default defaultValue: Value) where Value: BinaryCodable {
        self.init(name, defaultValue, BinaryKeyForm<Value>.self)
    }

    /// The key `name`, whose value is `defaultValue` where none is stored; as the other `init(_:default:)`.
    @_disfavoredOverload
    public init(_ name: String, default defaultValue: Value) where Value: Codable {
        self.init(name, defaultValue, CodableKeyForm<Value>.self)
    }

    /// The key `name` of a value that may be missing. Setting `nil` removes it; what is stored is
    /// what `value(forKey:as:)` reads as the type that is wrapped.
    public init<Wrapped: BinaryCodable & Sendable>(_ name: String) where Value == Wrapped? {
        self.init(name, nil, OptionalKeyForm<BinaryKeyForm<Wrapped>>.self)
    }

    /// The key `name` of a value that may be missing; as the other `init(_:)`.
    @_disfavoredOverload
    public init<Wrapped: Codable & Sendable>(_ name: String) where Value == Wrapped? {
        self.init(name, nil, OptionalKeyForm<CodableKeyForm<Wrapped>>.self)
    }
}

/// How a key's values are stored. A key keeps it as a type, which costs no allocation.
protocol KeyForm<Value>: Sendable {
    associatedtype Value: Sendable
    /// What stands in the dictionary.
    associatedtype Stored: Sendable

    static var codec: ValueCodec<Stored> { get }
    /// `nil` where the key's default counts.
    static func value(of stored: Stored?) -> Value?
    /// `nil` where the key is to have no value.
    static func stored(of value: Value) -> Stored?
}

enum BinaryKeyForm<Value: BinaryCodable & Sendable>: KeyForm {
    static var codec: ValueCodec<Value> { .binary() }
    static func value(of stored: Value?) -> Value? { stored }
    static func stored(of value: Value) -> Value? { value }
}

enum CodableKeyForm<Value: Codable & Sendable>: KeyForm {
    static var codec: ValueCodec<Value> { .codable() }
    static func value(of stored: Value?) -> Value? { stored }
    static func stored(of value: Value) -> Value? { value }
}

enum OptionalKeyForm<Wrapped: KeyForm>: KeyForm {
    typealias Value = Wrapped.Value?

    static var codec: ValueCodec<Wrapped.Stored> { Wrapped.codec }
    static func value(of stored: Wrapped.Stored?) -> Value? { .some(Wrapped.value(of: stored)) }
    static func stored(of value: Value) -> Wrapped.Stored? { value.flatMap(Wrapped.stored(of:)) }
}
