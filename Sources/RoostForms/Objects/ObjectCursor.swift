/// Where a page of objects ended. It stays right while others write: what comes next is what is after it in
/// the order then.
package enum ObjectCursor: Equatable {
    /// After a key, in the order of the keys' bytes.
    case key(String)
    /// After an index's entry, in the order of the index.
    case entry(index: String, key: [UInt8])
    /// After these values of the members that order the objects, and a key among equal ones.
    case values([JSONValue], key: String)

    var isOfValues: Bool { if case .values = self { true } else { false } }

    /// For an address, which has no room for more.
    private static let textLimitBytes = 8 << 10

    /// `nil` where it is too long for an address.
    package var text: String? {
        let json: JSONValue =
            switch self {
            case .key(let key): .array([.string("key"), .string(key)])
            case .entry(let index, let key):
                .array([.string("entry"), .string(index), .array(key.map { .integer($0) })])
            case .values(let values, let key):
                .array([.string("values"), .array(values), .string(key)])
            }
        let text = json.text
        return text.utf8.count <= Self.textLimitBytes ? text : nil
    }

    /// `nil` where the text is no cursor's.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.textLimitBytes, let json = try? JSONParser.parse(text),
            case .array(let parts) = json, case .string(let kind)? = parts.first
        else { return nil }
        switch (kind, parts.count) {
        case ("key", 2):
            guard case .string(let key) = parts[1] else { return nil }
            self = .key(key)
        case ("entry", 3):
            guard case .string(let index) = parts[1], case .array(let numbers) = parts[2] else {
                return nil
            }
            let bytes = numbers.compactMap { number in
                if case .number(let text) = number { UInt8(text) } else { nil }
            }
            guard bytes.count == numbers.count else { return nil }
            self = .entry(index: index, key: bytes)
        case ("values", 3):
            guard case .array(let values) = parts[1], case .string(let key) = parts[2] else {
                return nil
            }
            self = .values(values, key: key)
        default: return nil
        }
    }
}
