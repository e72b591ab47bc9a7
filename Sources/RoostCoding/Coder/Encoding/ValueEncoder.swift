/// What a value's `encode(to:)` gets: a place in a sink. Small enough to travel without memory
/// of its own.
struct ValueEncoder: Encoder {
    let sink: EncodingSink
    let level: Int

    var codingPath: [any CodingKey] { sink.path(to: level) }

    var userInfo: [CodingUserInfoKey: Any] { sink.session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let content: EncodingSink.Content = Key.self == dictionaryKeyType ? .map : .object
        let serial = sink.begin(content, at: level)
        return KeyedEncodingContainer(
            KeyedEncoder<Key>(sink: sink, level: level, serial: serial, isMap: sink.isMap(level)))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        UnkeyedEncoder(sink: sink, level: level, serial: sink.begin(.array, at: level))
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

/// The type of the keys with which the standard library writes dictionaries of strings and
/// integers. It is not public, and so is asked for by encoding one.
let dictionaryKeyType: Any.Type = {
    let probe = DictionaryKeyProbe()
    try? [String: Int]().encode(to: probe)
    return probe.found.type
}()

private struct DictionaryKeyProbe: Encoder {
    final class Found {
        var type: Any.Type = Never.self
    }

    let found = Found()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        found.type = type
        // Not by asking for a container, which would ask for the type that is being found out.
        let serial = unused.sink.begin(.map, at: 0)
        return KeyedEncodingContainer(
            KeyedEncoder<Key>(sink: unused.sink, level: 0, serial: serial, isMap: true))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { unused.unkeyedContainer() }

    func singleValueContainer() -> any SingleValueEncodingContainer { unused }

    /// Somewhere for the probe's bytes to go.
    private let unused: ValueEncoder = {
        let sink = EncodingSink(
            session: EncodingSession(), pathPrefix: [], depth: 0, capacity: 64)
        return ValueEncoder(sink: sink, level: 0)
    }()
}
