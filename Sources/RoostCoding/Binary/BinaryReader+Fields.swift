/// Fields, enum cases, and values one after another.
extension BinaryReader {
    /// Reads the field with this number.
    ///
    /// - Throws: `.decodingFailed` when there is no such field, or it does not hold a `Value`.
    /// - Complexity: O(1) when fields are read in the order in which they were written.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(
        _ number: Int, as type: Value.Type = Value.self
    ) throws -> Value {
        guard try find(number, Value.binaryShape) else { throw missingField(number, type) }
        return try read(type)
    }

    /// Reads the field with this number, or gives `defaultValue` when there is none.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value`.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(
        _ number: Int, as type: Value.Type = Value.self,
        default defaultValue: @autoclosure () -> Value
    ) throws -> Value {
        guard try find(number, Value.binaryShape) else { return defaultValue() }
        return try read(type)
    }

    /// Reads the field with this number, or gives `nil` when there is none.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value`.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(
        _ number: Int, as type: Value?.Type = Value?.self
    ) throws -> Value? {
        guard try find(number, Value.binaryShape) else { return nil }
        return try read(Value.self)
    }

    /// Reads an optional field, or gives `defaultValue` when there is none.
    ///
    /// An optional field that is `nil` is not written, and so reads as `defaultValue` too.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value`.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(
        _ number: Int, as type: Value?.Type = Value?.self,
        default defaultValue: @autoclosure () -> Value?
    ) throws -> Value? {
        guard try find(number, Value.binaryShape) else { return defaultValue() }
        return try read(Value.self)
    }

    /// Reads a field written by ``BinaryWriter/wholeField(_:_:)``, which may be `nil` though its
    /// default is not.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value` or `nil`.
    @inlinable @inline(__always)
    public mutating func wholeField<Value: BinaryCodable>(
        _ number: Int, as type: Value?.Type = Value?.self,
        default defaultValue: @autoclosure () -> Value?
    ) throws -> Value? {
        guard try find(number, .bytes) else { return defaultValue() }
        return try Value?(from: &self)
    }

    /// Reads a field written by ``BinaryWriter/defaultedField(_:_:)``, as ``field(_:as:default:)`` does.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value`.
    @inlinable @inline(__always)
    public mutating func defaultedField<Value: BinaryCodable>(
        _ number: Int, as type: Value.Type = Value.self,
        default defaultValue: @autoclosure () -> Value
    ) throws -> Value {
        try field(number, as: type, default: defaultValue())
    }

    /// Reads an optional field written by ``BinaryWriter/defaultedField(_:_:)``, which may be `nil` though
    /// its default is not.
    ///
    /// - Throws: `.decodingFailed` when the field does not hold a `Value` or `nil`.
    @inlinable
    public mutating func defaultedField<Value: BinaryCodable>(
        _ number: Int, as type: Value?.Type = Value?.self,
        default defaultValue: @autoclosure () -> Value?
    ) throws -> Value? {
        guard let isNil = try searchDefaulted(number, Value.binaryShape) else {
            return defaultValue()
        }
        return isNil ? nil : try read(Value.self)
    }

    /// Reads the number of an enum's case. The fields of the case follow.
    ///
    /// - Throws: `.decodingFailed` when there is none.
    @inlinable
    public mutating func caseNumber() throws -> Int {
        let number = try readVarint()
        firstField = cursor
        guard let result = Int(exactly: number) else { throw doesNotFit() }
        return result
    }

    /// Reads a value written by ``BinaryWriter/write(_:)``.
    ///
    /// - Throws: `.decodingFailed` when the bytes are not such a value.
    @inlinable @inline(__always)
    public mutating func read<Value: BinaryCodable>(
        _ type: Value.Type = Value.self
    ) throws -> Value {
        guard Value.binaryShape == .message else { return try Value(from: &self) }
        let length = try takeLength()
        var message = try nested(to: cursor + length, owner: Value.self)
        let value = try Value(from: &message)
        try message.finish()
        cursor += length
        return value
    }

    /// Moves to the content of a field, and says whether there is such a field.
    @inlinable @inline(__always)
    mutating func find(_ number: Int, _ shape: BinaryShape) throws -> Bool {
        precondition(number > 0 && number <= BinaryLimits.fieldNumber, "field number out of range")
        if firstField == nil { firstField = cursor }
        let tag = UInt64(truncatingIfNeeded: number) << 3 | shape.wireType
        if tag < 0x80 {
            if cursor < end, cursor.load(as: UInt8.self) == UInt8(truncatingIfNeeded: tag) {
                cursor += 1
                lastNumber = number
                return true
            }
        } else if tag < 0x4000 {
            let bytes = UInt16(truncatingIfNeeded: (tag & 0x7f) | 0x80 | (tag >> 7) << 8)
            if end - cursor >= 2,
                UInt16(littleEndian: cursor.loadUnaligned(as: UInt16.self)) == bytes
            {
                cursor += 2
                lastNumber = number
                return true
            }
        }
        return try search(number, wireType: shape.wireType)
    }
}
