/// Where a value stands in a message, and how far it has been read.
///
/// - The bytes and the names that a cursor points to live as long as the message is open.
/// - A place serves one value after another at its depth, but never one while something of the
///   one before it is left: `DecodingMessage.places` must be all that refers to it.
/// - `index` and `position` go together: the property with that index begins there. They are
///   where a search begins, and nothing depends on them.
final class Place {
    /// How a value is reached from the one around it.
    enum Step: BitwiseCopyable {
        case none
        case element(Int)
        /// Where the name of the property is.
        case property(UnsafeMutablePointer<String>)
        /// The key of an entry of a map.
        case entry(CoderValue)
        case superclass
    }

    enum Content: UInt8 {
        case unknown, object, map
    }

    struct Cursor {
        var value: CoderValue
        var step = Step.none
        var content = Content.unknown
        var index = 0
        /// The number of properties, and, where there are any, their names.
        var count = 0
        var names: UnsafeMutablePointer<String>?
        /// The key of the entry that was found last, in a map.
        var foundKey: CoderValue
        /// Where the properties or entries begin and end.
        var start: UnsafeRawPointer
        var limit: UnsafeRawPointer
        var position: UnsafeRawPointer
    }

    /// Through a pointer, so that no access is checked twice: one task alone uses a message.
    let cursor: UnsafeMutablePointer<Cursor>
    let message: DecodingMessage
    let depth: Int
    /// The place around this one, where `message.places` has another by now.
    var parent: Place?

    init(_ value: CoderValue, message: DecodingMessage, depth: Int) {
        self.message = message
        self.depth = depth
        cursor = .allocate(capacity: 1)
        cursor.initialize(
            to: Cursor(
                value: value, foundKey: value, start: value.start, limit: value.limit,
                position: value.start))
    }

    deinit { cursor.deallocate() }

    /// The value, whose end was found before the place was made.
    @inline(__always)
    var value: CoderValue {
        precondition(message.isOpen, "a decoder was used after the end of its call")
        return cursor.pointee.value
    }

    /// The keys on the way here; none after the end of the call, as the names and keys are gone.
    var codingPath: [any CodingKey] {
        guard depth > 0, message.isOpen else { return [] }
        let path = (parent ?? message.state.pointee.places[depth - 1]).codingPath
        switch cursor.pointee.step {
        case .none: return path
        case .element(let index): return path + [CoderKey(index)]
        case .property(let name): return path + [CoderKey(name.pointee)]
        case .entry(let key):
            return path + [FieldName.value(key).codingKey(CoderKey.self) ?? CoderKey("?")]
        case .superclass: return path + [CoderKey("super")]
        }
    }
}

/// Errors that tell where.
extension Place {
    /// The error for a value of another kind than the one asked for.
    func mismatch(_ type: Any.Type, at key: (any CodingKey)? = nil) -> any Error {
        let path = codingPath + (key.map { [$0] } ?? [])
        return DecodingError.typeMismatch(
            type, .init(codingPath: path, debugDescription: "The stored value is of another kind."))
    }

    func isNull(_ type: Any.Type, at key: (any CodingKey)? = nil) -> any Error {
        let path = codingPath + (key.map { [$0] } ?? [])
        return DecodingError.valueNotFound(
            type, .init(codingPath: path, debugDescription: "The stored value is null."))
    }

    /// The error for a value that was asked for as a type, and is none.
    func wrongValue(
        _ value: CoderValue, _ type: Any.Type, at key: (any CodingKey)? = nil
    ) -> any Error {
        if value.tag == CoderTag.null { return isNull(type, at: key) }
        let isTooWide = value.isInteger && type is any FixedWidthInteger.Type
        return isTooWide ? doesNotFit(type, at: key) : mismatch(type, at: key)
    }

    private func doesNotFit(_ type: Any.Type, at key: (any CodingKey)?) -> any Error {
        let path = codingPath + (key.map { [$0] } ?? [])
        return DecodingError.dataCorrupted(
            .init(codingPath: path, debugDescription: "The stored number does not fit \(type)."))
    }

    func missing(_ key: any CodingKey) -> any Error {
        DecodingError.keyNotFound(
            key, .init(codingPath: codingPath, debugDescription: "There is no such property."))
    }
}
