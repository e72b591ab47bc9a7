/// Sets and dictionaries, whose own order is another in each run of a program. They are written
/// in the order of their elements' or keys' bytes, so that equal values have equal bytes.
///
/// - Complexity: elements of sets, and keys that are neither strings nor integers, are encoded
///   twice: alone, to find their order, and then in their place. What is inside them is in its order already then,
///   as `FoundOrders` remembers.
protocol HashedEncodable: Encodable {
    func encodeInOrder(to encoder: ValueEncoder) throws
}

extension Set: HashedEncodable where Element: Encodable {
    func encodeInOrder(to encoder: ValueEncoder) throws {
        var container = encoder.unkeyedContainer()
        for element in try encoder.sink.sorted(self, by: { $0 }) {
            try container.encode(element)
        }
    }
}

extension Dictionary: HashedEncodable where Key: Encodable, Value: Encodable {
    func encodeInOrder(to encoder: ValueEncoder) throws {
        if Key.self == String.self || Key.self == Int.self
            || Key.self is any CodingKeyRepresentable.Type
        {
            return try encodeMap(to: encoder)
        }
        var container = encoder.unkeyedContainer()
        for (key, value) in try encoder.sink.sorted(self, by: \.key) {
            try container.encode(key)
            try container.encode(value)
        }
    }

    private func encodeMap(to encoder: ValueEncoder) throws {
        let entries = try map { key, value in
            guard let key = MapKey(key) else {
                throw encoder.sink.fail("\(key) cannot be the key of a dictionary")
            }
            return (key: key, value: value)
        }
        let sink = encoder.sink
        _ = sink.begin(.map, at: encoder.level)
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            sink.state.pointee.frames[encoder.level].lastKey = sink.state.pointee.writer.count
            key.write(into: &sink.state.pointee.writer)
            try sink.encode(value, at: encoder.level)
        }
    }
}

/// The key of a dictionary: a string, or an integer.
enum MapKey: Comparable, CodingKey {
    case integer(Int)
    case string(String)

    init?<Key>(_ key: Key) {
        if let string = key as? String {
            self = .string(string)
        } else if let integer = key as? Int {
            self = .integer(integer)
        } else if let key = key as? any CodingKeyRepresentable {
            self.init(codingKey: key.codingKey)
        } else {
            return nil
        }
    }

    init(codingKey key: any CodingKey) {
        self = key.mapInteger.map(MapKey.integer) ?? .string(key.stringValue)
    }

    init?(stringValue: String) { self = .string(stringValue) }

    init?(intValue: Int) { self = .integer(intValue) }

    var stringValue: String {
        switch self {
        case .integer(let value): String(value)
        case .string(let value): value
        }
    }

    var intValue: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// Integers by value, then strings by their bytes: not by what Swift holds to be equal.
    static func < (one: MapKey, other: MapKey) -> Bool {
        switch (one, other) {
        case (.integer(let one), .integer(let other)): one < other
        case (.string(let one), .string(let other)):
            one.utf8.lexicographicallyPrecedes(other.utf8)
        case (.integer, .string): true
        case (.string, .integer): false
        }
    }

    func write(into writer: inout BinaryWriter) {
        switch self {
        case .integer(let value): writer.tagged(integer: value)
        case .string(let value): writer.tagged(value)
        }
    }
}

extension CodingKey {
    /// The number that a map has for this key; `nil` where it has the text.
    ///
    /// - The standard library reads a number out of every text that Swift takes for one, such as "007"
    ///   or "+7". The text is the key there, since the number alone does not give it back.
    var mapInteger: Int? {
        guard let integer = intValue else { return nil }
        let text = stringValue
        return Int(text) == integer && text != String(integer) ? nil : integer
    }
}
