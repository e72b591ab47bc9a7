/// Reads a value that is a single other value.
extension ValueDecoder: SingleValueDecodingContainer {
    @inline(__always)
    private func some<Value>(_ read: Value?, _ value: CoderValue) throws -> Value {
        guard let read else { throw place.wrongValue(value, Value.self) }
        return read
    }

    func decodeNil() -> Bool { place.value.tag == CoderTag.null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try place.message.decode(type, place.value, .none, in: place)
    }
}

/// The standard types.
extension ValueDecoder {
    func decode(_ type: Bool.Type) throws -> Bool {
        let value = place.value
        return try some(value.bool(), value)
    }

    func decode(_ type: String.Type) throws -> String {
        let value = place.value
        return try some(try value.string(), value)
    }

    func decode(_ type: Double.Type) throws -> Double {
        let value = place.value
        return try some(try value.double(), value)
    }

    func decode(_ type: Float.Type) throws -> Float {
        let value = place.value
        return try some(try value.float(), value)
    }

    func decode(_ type: Int.Type) throws -> Int {
        let value = place.value
        return try some(try value.integer(Int.self), value)
    }

    func decode(_ type: Int8.Type) throws -> Int8 {
        let value = place.value
        return try some(try value.integer(Int8.self), value)
    }

    func decode(_ type: Int16.Type) throws -> Int16 {
        let value = place.value
        return try some(try value.integer(Int16.self), value)
    }

    func decode(_ type: Int32.Type) throws -> Int32 {
        let value = place.value
        return try some(try value.integer(Int32.self), value)
    }

    func decode(_ type: Int64.Type) throws -> Int64 {
        let value = place.value
        return try some(try value.integer(Int64.self), value)
    }

    func decode(_ type: Int128.Type) throws -> Int128 {
        let value = place.value
        return try some(try value.integer(Int128.self), value)
    }

    func decode(_ type: UInt.Type) throws -> UInt {
        let value = place.value
        return try some(try value.integer(UInt.self), value)
    }

    func decode(_ type: UInt8.Type) throws -> UInt8 {
        let value = place.value
        return try some(try value.integer(UInt8.self), value)
    }

    func decode(_ type: UInt16.Type) throws -> UInt16 {
        let value = place.value
        return try some(try value.integer(UInt16.self), value)
    }

    func decode(_ type: UInt32.Type) throws -> UInt32 {
        let value = place.value
        return try some(try value.integer(UInt32.self), value)
    }

    func decode(_ type: UInt64.Type) throws -> UInt64 {
        let value = place.value
        return try some(try value.integer(UInt64.self), value)
    }

    func decode(_ type: UInt128.Type) throws -> UInt128 {
        let value = place.value
        return try some(try value.integer(UInt128.self), value)
    }
}
