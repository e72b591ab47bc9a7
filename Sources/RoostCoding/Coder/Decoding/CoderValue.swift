/// The bytes of one value inside a message: it begins at `start`, and ends somewhere before
/// `limit`.
///
/// Reading gives `nil` where the value is of another kind than the one asked for, and throws
/// where the bytes are no value at all.
struct CoderValue: BitwiseCopyable {
    let start: UnsafeRawPointer
    let limit: UnsafeRawPointer

    @inline(__always)
    func reader() -> BinaryReader {
        BinaryReader(from: start, to: limit, depth: 0, owner: RoostCoder.self)
    }

    /// The tag; only after `end()` has been found.
    @inline(__always)
    var tag: UInt8 { start.load(as: UInt8.self) }

    /// Where the next value begins.
    @inline(__always)
    func end() throws -> UnsafeRawPointer {
        guard start < limit else { throw reader().cutShort() }
        let tag = tag
        if tag >= CoderTag.smallNegative { return start + 1 }
        if tag >= CoderTag.shortString {
            // Short strings and short texts alike.
            let count = Int(tag & 0x1f)
            guard limit - start > count else { throw reader().cutShort() }
            return start + (1 + count)
        }
        return try endOfLongValue()
    }

    private func endOfLongValue() throws -> UnsafeRawPointer {
        var reader = reader()
        reader.cursor += 1
        switch tag {
        case CoderTag.null, CoderTag.absent, CoderTag.no, CoderTag.yes: break
        case CoderTag.positive, CoderTag.negative: try reader.skipWideVarint()
        case CoderTag.whole, CoderTag.hundredths, CoderTag.wholeDate: _ = try reader.readVarint()
        case CoderTag.float32: _ = try reader.takeRaw(4)
        case CoderTag.float64, CoderTag.date: _ = try reader.takeRaw(8)
        case CoderTag.uuid: _ = try reader.takeRaw(16)
        case CoderTag.decimal: _ = try CoderDecimal(from: &reader)
        case CoderTag.string, CoderTag.text, CoderTag.bytes, CoderTag.url, CoderTag.array,
            CoderTag.map, CoderTag.object,
            CoderTag.shortObject..<(CoderTag.shortObject + UInt8(CoderTag.shortObjectLimit)):
            _ = try reader.takeBytes()
        default: throw unknownTag()
        }
        return reader.cursor
    }

    private func unknownTag() -> any Error {
        reader().invalidValue("\(tag) is not the tag of a value")
    }

    /// `nil` also for a number that the type does not hold: who asked knows where that is.
    @inline(__always)
    func integer<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value? {
        let tag = tag
        if tag >= CoderTag.smallPositive { return Value(tag - CoderTag.smallPositive) }
        if tag >= CoderTag.smallNegative {
            return Value(exactly: ~Int(tag - CoderTag.smallNegative))
        }
        return try longInteger(type)
    }

    private func longInteger<Value: FixedWidthInteger>(_ type: Value.Type) throws -> Value? {
        guard tag == CoderTag.positive || tag == CoderTag.negative else { return nil }
        var reader = reader()
        reader.cursor += 1
        let magnitude: Value?
        if Value.bitWidth <= 64 {
            magnitude = Value(exactly: try reader.readVarint())
        } else {
            magnitude = Value(exactly: try reader.readWideVarint())
        }
        guard let magnitude, tag == CoderTag.positive || Value.isSigned else { return nil }
        return tag == CoderTag.positive ? magnitude : ~magnitude
    }

    var isInteger: Bool {
        tag >= CoderTag.smallNegative || tag == CoderTag.positive || tag == CoderTag.negative
    }

    func bool() -> Bool? {
        tag == CoderTag.yes ? true : tag == CoderTag.no ? false : nil
    }

    func double() throws -> Double? {
        var reader = reader()
        reader.cursor += 1
        switch tag {
        case CoderTag.whole: return Double(try Int64(from: &reader))
        case CoderTag.hundredths: return Double(try Int64(from: &reader)) / 100
        case CoderTag.float32: return Double(try Float(from: &reader))
        case CoderTag.float64: return try Double(from: &reader)
        case CoderTag.positive: return Double(try reader.readVarint())
        default:
            if let integer = try integer(Int64.self) { return Double(integer) }
            // As `Date(from:)` asks for it.
            return try date()?.timeIntervalSinceReferenceDate
        }
    }

    func float() throws -> Float? {
        // Directly, since a conversion would change the bits of a NaN.
        guard tag != CoderTag.float32 else {
            return Float(bitPattern: (start + 1).loadUnaligned(as: UInt32.self).littleEndian)
        }
        return try double().map(Float.init)
    }

    @inline(__always)
    func string() throws -> String? {
        let tag = tag
        let text: UnsafeRawBufferPointer
        if tag >= CoderTag.shortText, tag < CoderTag.smallNegative {
            return try shortened(UnsafeRawBufferPointer(start: start + 1, count: Int(tag & 0x1f)))
        } else if tag >= CoderTag.shortString, tag < CoderTag.shortText {
            text = UnsafeRawBufferPointer(start: start + 1, count: Int(tag & 0x1f))
        } else if let bytes = try bytes(CoderTag.string) {
            text = bytes
        } else if let bytes = try bytes(CoderTag.text) {
            return try shortened(bytes)
        } else {
            return try uuid()?.uuidString
        }
        guard let string = String(validUTF8: text) else {
            throw reader().invalidValue("a string is not valid UTF-8")
        }
        return string
    }

    private func shortened(_ codes: UnsafeRawBufferPointer) throws -> String {
        guard let string = TextCodec.shared.decode(codes) else {
            throw reader().invalidValue("a string's codes are not valid")
        }
        return string
    }

    /// What follows a tag and a length.
    @inline(__always)
    func bytes(_ wanted: UInt8) throws -> UnsafeRawBufferPointer? {
        guard tag == wanted else { return nil }
        var reader = reader()
        reader.cursor += 1
        return try reader.takeBytes()
    }
}

extension BinaryReader {
    /// Moves after a number, which is looked at when it is read.
    fileprivate mutating func skipWideVarint() throws {
        while cursor < end {
            let byte = cursor.load(as: UInt8.self)
            cursor += 1
            if byte < 0x80 { return }
        }
        throw cutShort()
    }
}
