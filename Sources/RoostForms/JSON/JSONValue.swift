/// A JSON value as it was written: numbers keep their text and objects the order of their
/// members, so that nothing is lost between reading and writing.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    /// The number's text, which follows JSON's grammar.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Equatable, Sendable {
        package var name: String
        package var value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// Whether no more than so many arrays and objects are inside one another.
    package func isNested(atMost limit: Int) -> Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array(let elements):
            limit > 0 && elements.allSatisfy { $0.isNested(atMost: limit - 1) }
        case .object(let members):
            limit > 0 && members.allSatisfy { $0.value.isNested(atMost: limit - 1) }
        }
    }

    package static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(value.description)
    }

    /// An object whose members are in the order given.
    package static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        .object(members.map { Member(name: $0.key, value: $0.value) })
    }
}
