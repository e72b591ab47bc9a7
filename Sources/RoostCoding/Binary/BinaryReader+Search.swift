/// Finding fields that are not the next ones.
///
/// The order of the fields is looked at when a field that is asked for is not the next one: of
/// those that follow, and of all once one is asked for whose number is not above the last. Ascending
/// fields need no further search: the first higher number proves that a field is missing. Others are
/// searched from the first field on each time.
extension BinaryReader {
    @usableFromInline @inline(never)
    mutating func search(_ number: Int, wireType: UInt64) throws -> Bool {
        guard let found = try search(number) else { return false }
        guard found == wireType else {
            throw wrongWireType(number, found: found, wanted: wireType)
        }
        return true
    }

    /// Moves to the content of a field that is its value or stands for `nil`, and says whether it stands for
    /// `nil`; gives `nil` where there is no such field.
    @usableFromInline @inline(never)
    mutating func searchDefaulted(_ number: Int, _ shape: BinaryShape) throws -> Bool? {
        if firstField == nil { firstField = cursor }
        guard let found = try search(number) else { return nil }
        if found == shape.wireType { return false }
        guard found == shape.wireTypeOfNil else {
            throw wrongWireType(number, found: found, wanted: shape.wireType)
        }
        guard try readVarint() == 0 else {
            throw invalidValue("field \(number) is neither a value nor nil")
        }
        return true
    }

    /// Moves to the content of the field with this number, and gives its wire type; `nil` where there is none.
    private mutating func search(_ number: Int) throws -> UInt64? {
        let isBehind = number <= lastNumber
        searchCount += 1
        // Those that were read ascended only where their reader asked in that order.
        if order == .unknown || order == .rest && isBehind {
            try determineOrder(fromFirstField: isBehind)
        }
        if isBehind || order == .mixed { cursor = firstField.unsafelyUnwrapped }
        lastNumber = number
        while cursor < end {
            let fieldStart = cursor
            let tag = try readTag()
            if tag.number == number { return tag.wireType }
            if order != .mixed, tag.number > number {
                cursor = fieldStart
                return nil
            }
            try skipContent(tag.wireType)
        }
        return nil
    }

    /// From here on every field is searched for from the first on, be it the next one.
    mutating func searchFromEnd() {
        order = .mixed
        firstField = cursor
        cursor = end
    }

    /// Moves past the first field with this number, and gives where its tag begins; `nil` where there is
    /// none.
    mutating func begin(ofField number: Int) throws -> UnsafeRawPointer? {
        while cursor < end {
            let begin = cursor
            let tag = try readTag()
            try skipContent(tag.wireType)
            if tag.number == number { return begin }
        }
        return nil
    }

    /// Finds out whether each field, of all or of those from the position on, has a higher number than the
    /// one before it, and leaves the position as it was.
    private mutating func determineOrder(fromFirstField: Bool) throws {
        let position = cursor
        var previous = lastNumber
        if fromFirstField {
            cursor = firstField.unsafelyUnwrapped
            previous = 0
        }
        order = cursor == firstField ? .ascending : .rest
        while cursor < end {
            let tag = try readTag()
            if tag.number <= previous { order = .mixed }
            previous = tag.number
            try skipContent(tag.wireType)
        }
        cursor = position
    }

    mutating func skipField() throws {
        try skipContent(readTag().wireType)
    }

    private mutating func readTag() throws -> (number: Int, wireType: UInt64) {
        let tag = try readVarint()
        guard tag >= 8, tag >> 3 <= UInt64(BinaryLimits.fieldNumber) else {
            throw failure("\(tag) is not the tag of a field")
        }
        return (Int(tag >> 3), tag & 7)
    }

    private mutating func skipContent(_ wireType: UInt64) throws {
        switch wireType {
        case BinaryShape.varint.wireType:
            if cursor < end, cursor.load(as: UInt8.self) < 0x80 {
                cursor += 1
            } else {
                _ = try readWideVarint()
            }
        case BinaryShape.fixed32.wireType: _ = try takeRaw(4)
        case BinaryShape.fixed64.wireType: _ = try takeRaw(8)
        case BinaryShape.fixed128.wireType: _ = try takeRaw(16)
        case BinaryShape.bytes.wireType: _ = try takeBytes()
        default: throw failure("\(wireType) is not a wire type")
        }
    }
}
