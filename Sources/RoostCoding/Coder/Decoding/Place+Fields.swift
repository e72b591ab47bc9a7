/// Finding the values of an object or a map by their keys.
///
/// The value after the one that was found last is looked at first: properties that are asked
/// for in the order in which they were written are found in one pass.
extension Place {
    /// Gets ready to find properties or entries.
    func openFields() throws {
        let value = value
        guard cursor.pointee.content == .unknown else { return }
        if try openObject(value) {
            cursor.pointee.content = .object
        } else if let content = try value.bytes(CoderTag.map) {
            cursor.pointee.content = .map
            cursor.pointee.start = content.baseAddress ?? value.start
            cursor.pointee.limit = cursor.pointee.start + content.count
        } else {
            throw wrongValue(value, [String: Any].self)
        }
        cursor.pointee.position = cursor.pointee.start
        cursor.pointee.index = 0
    }

    private func openObject(_ value: CoderValue) throws -> Bool {
        let table = message.state.pointee.table
        var reader = value.reader()
        reader.cursor += 1
        let tag = value.tag
        let shape: CoderTable.Shape?
        if tag & ~0x07 == CoderTag.shortObject {
            let length = try reader.takeLength()
            shape = table?.shape(UInt64(tag - CoderTag.shortObject))
            cursor.pointee.limit = reader.cursor + length
        } else if tag == CoderTag.object {
            let length = try reader.takeLength()
            cursor.pointee.limit = reader.cursor + length
            shape = table?.shape(try reader.readVarint())
            guard reader.cursor <= cursor.pointee.limit else { throw reader.cutShort() }
        } else if tag == CoderTag.rootObject {
            reader.cursor = message.state.pointee.content
            cursor.pointee.limit = reader.end
            shape = table?.lastShape
        } else {
            return false
        }
        guard let shape else { throw reader.invalidValue("there is no such shape") }
        cursor.pointee.start = reader.cursor
        cursor.pointee.names = shape.names
        cursor.pointee.count = shape.count
        return true
    }

    /// The value of a key, with its end found; `nil` when there is none.
    @inline(__always)
    func find(_ key: some CodingKey) throws -> CoderValue? {
        precondition(message.isOpen, "a decoder was used after the end of its call")
        let cursor = cursor
        guard cursor.pointee.content == .object else { return try findEntry(key) }
        let index = cursor.pointee.index
        guard index < cursor.pointee.count,
            StringBits(at: cursor.pointee.names.unsafelyUnwrapped + index)
                == StringBits(key.stringValue)
        else { return try search(key.stringValue) }
        return try take(index)
    }

    /// The value at the cursor, which moves after it; `nil` when it was left out.
    @inline(__always)
    private func take(_ index: Int) throws -> CoderValue? {
        let value = CoderValue(start: cursor.pointee.position, limit: cursor.pointee.limit)
        cursor.pointee.position = try value.end()
        cursor.pointee.index = index + 1
        return value.tag == CoderTag.absent ? nil : value
    }

    /// Looks a property up by the bytes of its name: from the cursor on, and then from the first.
    @inline(never)
    private func search(_ name: String) throws -> CoderValue? {
        let (first, count) = (cursor.pointee.index, cursor.pointee.count)
        guard let names = cursor.pointee.names else { return nil }
        // Most were asked for with these bits before: then no text is compared.
        let bits = StringBits(name)
        let hasBits: (Int) -> Bool = { StringBits(at: names + $0) == bits }
        let isNamed: (Int) -> Bool = { names[$0].utf8.elementsEqual(name.utf8) }
        guard
            let found = (first..<count).first(where: hasBits)
                ?? (first..<count).first(where: isNamed) ?? (0..<first).first(where: isNamed)
        else { return nil }
        // The same text with the bits that will be asked for again.
        names[found] = name
        if found < first {
            (cursor.pointee.index, cursor.pointee.position) = (0, cursor.pointee.start)
        }
        while cursor.pointee.index < found {
            let value = CoderValue(start: cursor.pointee.position, limit: cursor.pointee.limit)
            cursor.pointee.position = try value.end()
            cursor.pointee.index += 1
        }
        return try take(found)
    }

    /// How the value that was found last is reached.
    @inline(__always)
    var stepToFound: Step {
        if cursor.pointee.content == .object, let names = cursor.pointee.names {
            return .property(names + (cursor.pointee.index - 1))
        }
        return .entry(cursor.pointee.foundKey)
    }

    /// Looks an entry of a map up: from the one that was found last on, and then from the first.
    private func findEntry(_ key: some CodingKey) throws -> CoderValue? {
        let first = cursor.pointee.position
        if let value = try scanEntries(from: first, to: cursor.pointee.limit, for: key) {
            return value
        }
        return try scanEntries(from: cursor.pointee.start, to: first, for: key)
    }

    private func scanEntries(
        from first: UnsafeRawPointer, to last: UnsafeRawPointer, for key: some CodingKey
    ) throws -> CoderValue? {
        let limit = cursor.pointee.limit
        var position = first
        while position < last {
            let name = CoderValue(start: position, limit: limit)
            let value = CoderValue(start: try name.end(), limit: limit)
            position = try value.end()
            if try name.isMapKey(key) {
                cursor.pointee.position = position
                cursor.pointee.foundKey = name
                return value
            }
        }
        return nil
    }

    /// Calls `body` with the name of each value, in the order in which they were written.
    func forEachField(_ body: (FieldName) throws -> Void) throws {
        precondition(message.isOpen, "a decoder was used after the end of its call")
        let limit = cursor.pointee.limit
        var position = cursor.pointee.start
        var index = 0
        while position < limit {
            var value = CoderValue(start: position, limit: limit)
            if cursor.pointee.content == .object {
                guard index < cursor.pointee.count, let names = cursor.pointee.names else { return }
                if try value.end() > position, value.tag != CoderTag.absent {
                    try body(.text(names[index]))
                }
                index += 1
            } else {
                // Nothing of the key is read before it is known to end within the map.
                let name = value
                value = CoderValue(start: try name.end(), limit: limit)
                try body(.value(name))
            }
            position = try value.end()
        }
    }

    /// Checks that an object's properties fill its bytes.
    func checkEnd() throws {
        while cursor.pointee.index < cursor.pointee.count {
            let value = CoderValue(start: cursor.pointee.position, limit: cursor.pointee.limit)
            cursor.pointee.position = try value.end()
            cursor.pointee.index += 1
        }
        guard cursor.pointee.position == cursor.pointee.limit else {
            throw value.reader().invalidValue("bytes follow the value")
        }
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
            if let integer = try? value.integer(Int.self) {
                // Keys that are texts alone have its text, as `isMapKey` takes it.
                return Key(intValue: integer) ?? Key(stringValue: "\(integer)")
            }
            return (try? value.string()).flatMap { Key(stringValue: $0) }
        }
    }
}

extension CoderValue {
    /// Whether this, the key of an entry, is `key`.
    func isMapKey(_ key: some CodingKey) throws -> Bool {
        if let integer = try integer(Int.self) {
            return key.mapInteger == integer || key.stringValue == "\(integer)"
        }
        return try string()?.utf8.elementsEqual(key.stringValue.utf8) ?? false
    }
}
