/// A JSON value as it was written: numbers keep their text and objects the order of their
/// members, so that nothing is lost between reading and writing.
enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The number's text, which follows JSON's grammar.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    struct Member: Equatable, Sendable {
        var name: String
        var value: JSONValue
    }

    static func integer(_ value: some BinaryInteger) -> JSONValue { .number(value.description) }

    /// An object whose members are in the order given.
    static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }
}
