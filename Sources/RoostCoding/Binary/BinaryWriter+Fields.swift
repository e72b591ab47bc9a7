/// Fields, enum cases, and values one after another.
extension BinaryWriter {
    /// Appends a numbered field.
    ///
    /// Write fields in ascending order of their numbers: they are read back fastest so.
    ///
    /// - Precondition: `number` is from 1 to 536,870,911, and unused in this value.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(_ number: Int, _ value: Value) {
        writeTag(number, Value.binaryShape)
        write(value)
    }

    /// Appends a numbered field, or nothing when `value` is `nil`.
    ///
    /// - Precondition: `number` is from 1 to 536,870,911, and unused in this value.
    @inlinable @inline(__always)
    public mutating func field<Value: BinaryCodable>(_ number: Int, _ value: Value?) {
        if let value { field(number, value) }
    }

    /// Appends a numbered field that is there even when `value` is `nil`, for optional fields
    /// whose default is not `nil`. Read it by ``BinaryReader/wholeField(_:as:default:)``.
    ///
    /// - Precondition: `number` is from 1 to 536,870,911, and unused in this value.
    @inlinable @inline(__always)
    public mutating func wholeField<Value: BinaryCodable>(_ number: Int, _ value: Value?) {
        writeTag(number, .bytes)
        value.encode(into: &self)
    }

    /// Appends a numbered field, as ``field(_:_:)`` does.
    ///
    /// - Precondition: `number` is from 1 to 536,870,911, and unused in this value.
    @inlinable @inline(__always)
    public mutating func defaultedField<Value: BinaryCodable>(_ number: Int, _ value: Value) {
        field(number, value)
    }

    /// Appends a numbered field whose default is not `nil`, where the code does not say whether its type is
    /// optional: a value as ``field(_:_:)`` does, and `nil` so that it is told from a field that is missing. Read
    /// it by ``BinaryReader/defaultedField(_:as:default:)``.
    ///
    /// - Precondition: `number` is from 1 to 536,870,911, and unused in this value.
    @inlinable
    public mutating func defaultedField<Value: BinaryCodable>(_ number: Int, _ value: Value?) {
        if let value { return field(number, value) }
        writeTag(number, wireType: Value.binaryShape.wireTypeOfNil)
        writeVarint(0)
    }

    /// Appends the number of an enum's case, to be followed by the fields of that case.
    ///
    /// Write it before any field, and at most once in a value.
    ///
    /// - Precondition: `number` is not negative.
    @inlinable
    public mutating func caseNumber(_ number: Int) {
        writeVarint(UInt64(number))
    }

    /// Appends a value so that ``BinaryReader/read(_:)`` finds its end, with no number.
    @inlinable @inline(__always)
    public mutating func write<Value: BinaryCodable>(_ value: Value) {
        if Value.binaryShape == .message {
            frame { value.encode(into: &$0) }
        } else {
            value.encode(into: &self)
        }
    }

    @inlinable @inline(__always)
    mutating func writeTag(_ number: Int, _ shape: BinaryShape) {
        writeTag(number, wireType: shape.wireType)
    }

    @inlinable @inline(__always)
    mutating func writeTag(_ number: Int, wireType: UInt64) {
        precondition(number > 0 && number <= BinaryLimits.fieldNumber, "field number out of range")
        writeVarint(UInt64(truncatingIfNeeded: number) << 3 | wireType)
    }
}
