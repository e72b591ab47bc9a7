/// Reads the fields of one protobuf message one after another. Every length is checked before it is believed.
struct ProtobufReader {
    /// One field's value.
    enum Value {
        case number(UInt64)
        case bytes(ArraySlice<UInt8>)
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

    /// The next field; `nil` at the end.
    ///
    /// - Throws: `MalformedMessage`.
    mutating func next() throws -> (field: Int, value: Value)? {
        guard !rest.isEmpty else { return nil }
        let tag = try varint()
        guard let field = Int(exactly: tag >> 3), field > 0 else { throw MalformedMessage() }
        switch tag & 7 {
        case 0: return (field, .number(try varint()))
        case 1: return (field, .number(try fixed(8)))
        case 2:
            guard let count = Int(exactly: try varint()), count <= rest.count else {
                throw MalformedMessage()
            }
            defer { rest = rest.dropFirst(count) }
            return (field, .bytes(rest.prefix(count)))
        case 5: return (field, .number(try fixed(4)))
        default: throw MalformedMessage()
        }
    }

    private mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            guard let byte = rest.popFirst() else { throw MalformedMessage() }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        throw MalformedMessage()
    }

    private mutating func fixed(_ count: Int) throws -> UInt64 {
        guard rest.count >= count else { throw MalformedMessage() }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// What came is no message of the kind that was expected.
struct MalformedMessage: Error {}

extension ProtobufReader.Value {
    var number: UInt64 {
        get throws {
            guard case .number(let number) = self else { throw MalformedMessage() }
            return number
        }
    }

    var signed: Int64 { get throws { Int64(bitPattern: try number) } }

    var bytes: ArraySlice<UInt8> {
        get throws {
            guard case .bytes(let bytes) = self else { throw MalformedMessage() }
            return bytes
        }
    }

    var text: String { get throws { String(decoding: try bytes, as: UTF8.self) } }
}

/// A message that is received. Fields that are not known are passed over.
protocol ResponseMessage {
    init()
    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws
}

extension ResponseMessage {
    init(_ bytes: ArraySlice<UInt8>) throws {
        self.init()
        var reader = ProtobufReader(bytes)
        while let (field, value) = try reader.next() { try take(field, value) }
    }
}
