/// Finds the values of an object or a map by their keys.
///
/// The value behind the one that was found last is looked at first: properties that are asked
/// for in the order in which they were written are found in one pass. The place of that value
/// is kept in the message, under this finder's serial number, since containers are values.
struct FieldFinder {
    private let message: DecodingMessage
    private let start: UnsafeRawPointer
    private let limit: UnsafeRawPointer
    /// The names of an object's values; `nil` for a map, whose keys stand before its values.
    private let shape: DecodingMessage.Shape?
    private let serial: Int
    private let depth: Int

    init(_ decoder: ValueDecoder) throws {
        let value = decoder.value
        message = decoder.message
        depth = decoder.path?.depth ?? 0
        if let content = try value.bytes(CoderTag.object), let first = content.baseAddress {
            var reader = BinaryReader(
                from: first, to: first + content.count, depth: 0, owner: RoostCoder.self)
            let number = try reader.readVarint()
            let shapes = message.state.pointee.shapes.count
            guard number < UInt64(shapes) else {
                throw reader.invalidValue("there is no shape number \(number)")
            }
            shape = message.state.pointee.shapes[Int(number)]
            (start, limit) = (reader.cursor, reader.end)
        } else if let content = try value.bytes(CoderTag.map), let first = content.baseAddress {
            shape = nil
            (start, limit) = (first, first + content.count)
        } else {
            throw value.tag == CoderTag.null
                ? decoder.isNull([String: Any].self, at: nil)
                : decoder.mismatch([String: Any].self, at: nil)
        }
        serial = message.nextSerial(at: depth, position: start)
    }

    /// The value of a key, with its end found; `nil` when there is none.
    @inline(__always)
    func find(_ key: some CodingKey) throws -> CoderValue? {
        precondition(message.isOpen, "a decoder was used after the end of its call")
        guard let shape else { return try findEntry(key) }
        let name = key.stringValue
        var (index, position) = place()
        if index >= shape.count || !message.key(shape, index, isNamed: name) {
            guard let found = search(shape, name) else { return nil }
            if found < index { (index, position) = (0, start) }
            while index < found {
                position = try CoderValue(start: position, limit: limit).end()
                index += 1
            }
        }
        let value = CoderValue(start: position, limit: limit)
        keep(index + 1, try value.end())
        return value.tag == CoderTag.absent ? nil : value
    }

    private func search(_ shape: DecodingMessage.Shape, _ name: String) -> Int? {
        (0..<shape.count).first { message.key(shape, $0, isNamed: name) }
    }

    /// Looks an entry of a map up: from the one that was found last on, and then from the first.
    private func findEntry(_ key: some CodingKey) throws -> CoderValue? {
        let first = place().position
        if let value = try scanEntries(from: first, to: limit, for: key) { return value }
        return try scanEntries(from: start, to: first, for: key)
    }

    private func scanEntries(
        from first: UnsafeRawPointer, to last: UnsafeRawPointer, for key: some CodingKey
    ) throws -> CoderValue? {
        var position = first
        while position < last {
            let name = CoderValue(start: position, limit: limit)
            let value = CoderValue(start: try name.end(), limit: limit)
            position = try value.end()
            if try name.isMapKey(key) {
                keep(0, position)
                return value
            }
        }
        return nil
    }

    /// Calls `body` with the name of each value, in the order in which they were written.
    func forEach(_ body: (FieldName) throws -> Void) throws {
        var position = start
        var index = 0
        while position < limit {
            var value = CoderValue(start: position, limit: limit)
            if let shape {
                guard index < shape.count else { return }
                if try value.end() > position, value.tag != CoderTag.absent {
                    try body(.text(message.keyName(shape, index)))
                }
                index += 1
            } else {
                try body(.value(value))
                value = CoderValue(start: try value.end(), limit: limit)
            }
            position = try value.end()
        }
    }

    @inline(__always)
    private func place() -> (index: Int, position: UnsafeRawPointer) {
        let hint = message.state.pointee.hints[depth]
        return hint.serial == serial ? (hint.index, hint.position) : (0, start)
    }

    @inline(__always)
    private func keep(_ index: Int, _ position: UnsafeRawPointer) {
        message.state.pointee.hints[depth] = .init(
            serial: serial, index: index, position: position)
    }
}

/// The name of a property, or the key of an entry.
enum FieldName {
    case text(String)
    case value(CoderValue)

    func codingKey<Key: CodingKey>(_ type: Key.Type) -> Key? {
        switch self {
        case .text(let name): return Key(stringValue: name)
        case .value(let value):
            if let integer = try? value.integer(Int.self) { return Key(intValue: integer) }
            return (try? value.string()).flatMap { Key(stringValue: $0) }
        }
    }
}

extension CoderValue {
    /// Whether this, the key of an entry, is `key`.
    func isMapKey(_ key: some CodingKey) throws -> Bool {
        if let integer = try integer(Int.self) {
            return key.intValue == integer || key.stringValue == "\(integer)"
        }
        return try string()?.utf8.elementsEqual(key.stringValue.utf8) ?? false
    }
}

extension DecodingMessage {
    @inline(__always)
    var isOpen: Bool { state.pointee.isOpen }

    func nextSerial(at depth: Int, position: UnsafeRawPointer) -> Int {
        state.pointee.lastSerial += 1
        while state.pointee.hints.count <= depth {
            state.pointee.hints.append(Hint(position: position))
        }
        return state.pointee.lastSerial
    }

    @inline(__always)
    func key(_ shape: Shape, _ index: Int, isNamed name: String) -> Bool {
        let key = state.pointee.keys[Int(state.pointee.shapeKeys[shape.first + index])]
        guard key.count == name.utf8.count else { return false }
        let isEqual = name.utf8.withContiguousStorageIfAvailable { name in
            UnsafeRawBufferPointer(name).elementsEqual(
                UnsafeRawBufferPointer(start: key.start, count: key.count))
        }
        return isEqual ?? name.utf8.elementsEqual(
            UnsafeRawBufferPointer(start: key.start, count: key.count))
    }

    func keyName(_ shape: Shape, _ index: Int) -> String {
        let key = state.pointee.keys[Int(state.pointee.shapeKeys[shape.first + index])]
        let bytes = UnsafeRawBufferPointer(start: key.start, count: key.count)
        return String(decoding: bytes, as: UTF8.self)
    }
}
