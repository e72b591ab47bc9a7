import Foundation

/// Values with the tag that says what they are.
extension BinaryWriter {
    mutating func tagged(_ value: Bool) { writeFixed(value ? CoderTag.yes : CoderTag.no) }

    @inline(__always)
    mutating func tagged<Value: FixedWidthInteger>(integer value: Value) {
        reserve(20)
        if value >= 0 {
            if value < 0x80 {
                storeTag(CoderTag.smallPositive + UInt8(truncatingIfNeeded: value))
            } else {
                storeTag(CoderTag.positive)
                storeMagnitude(value)
            }
        } else if value >= -Int(CoderTag.smallNegativeLimit) {
            storeTag(CoderTag.smallNegative + UInt8(truncatingIfNeeded: ~value))
        } else {
            storeTag(CoderTag.negative)
            storeMagnitude(~value)
        }
    }

    mutating func tagged(_ value: Float) {
        if tagWhole(Double(value)) { return }
        reserve(5)
        storeTag(CoderTag.float32)
        writeFixed(value.bitPattern)
    }

    mutating func tagged(_ value: Double) {
        if tagWhole(value) { return }
        reserve(11)
        let scaled = (value * 100).rounded()
        if value != 0, scaled.magnitude < 0x1p40, scaled / 100 == value {
            storeTag(CoderTag.hundredths)
            storeFolded(Int64(scaled))
        } else if Double(Float(value)) == value {
            storeTag(CoderTag.float32)
            writeFixed(Float(value).bitPattern)
        } else {
            storeTag(CoderTag.float64)
            writeFixed(value.bitPattern)
        }
    }

    @inline(__always)
    mutating func tagged(_ value: String) {
        let wasWritten: Void? = value.utf8.withContiguousStorageIfAvailable {
            tagged(text: UnsafeRawBufferPointer($0))
        }
        guard wasWritten == nil else { return }
        var copy = value
        copy.withUTF8 { tagged(text: UnsafeRawBufferPointer($0)) }
    }

    mutating func tagged(text: UnsafeRawBufferPointer) {
        reserve(11 + text.count)
        if TextCodec.countLimits.contains(text.count), tagShortened(text) { return }
        if text.count < CoderTag.shortStringLimit {
            storeTag(CoderTag.shortString + UInt8(truncatingIfNeeded: text.count))
            guard let source = text.baseAddress else { return }
            cursor.copyMemory(from: source, byteCount: text.count)
            cursor += text.count
        } else {
            storeTag(CoderTag.string)
            writeBytes(text)
        }
    }

    /// Writes text in codes, where they are fewer than its bytes. There is room.
    private mutating func tagShortened(_ text: UnsafeRawBufferPointer) -> Bool {
        // Most often one byte is all that stands before the codes.
        guard let count = TextCodec.shared.encode(text, to: cursor + 1) else { return false }
        if count < CoderTag.shortStringLimit {
            storeTag(CoderTag.shortText + UInt8(truncatingIfNeeded: count))
        } else {
            let headerCount = count < 0x80 ? 2 : 3
            (cursor + headerCount).copyMemory(from: cursor + 1, byteCount: count)
            storeTag(CoderTag.text)
            storeVarint(UInt64(count))
        }
        cursor += count
        return true
    }

    mutating func tagged(bytes: UnsafeRawBufferPointer) {
        writeFixed(CoderTag.bytes)
        writeBytes(bytes)
    }

    mutating func tagged(_ value: Date) {
        let seconds = value.timeIntervalSinceReferenceDate
        if tagWhole(seconds, as: CoderTag.wholeDate) { return }
        reserve(9)
        storeTag(CoderTag.date)
        writeFixed(seconds.bitPattern)
    }

    mutating func tagged(_ value: UUID) {
        reserve(17)
        storeTag(CoderTag.uuid)
        value.encode(into: &self)
    }

    mutating func tagged(_ value: URL) {
        writeFixed(CoderTag.url)
        value.encode(into: &self)
    }

    @inline(__always)
    private mutating func storeTag(_ tag: UInt8) {
        cursor.storeBytes(of: tag, as: UInt8.self)
        cursor += 1
    }

    @inline(__always)
    private mutating func storeMagnitude<Value: FixedWidthInteger>(_ value: Value) {
        if Value.bitWidth <= 64 {
            storeVarint(UInt64(truncatingIfNeeded: value))
        } else {
            writeVarint(wide: UInt128(truncatingIfNeeded: value))
        }
    }

    private mutating func storeFolded(_ value: Int64) {
        storeVarint(UInt64(bitPattern: value << 1 ^ value >> 63))
    }

    /// Writes a number without a fraction, except negative zero, as an integer.
    private mutating func tagWhole(_ value: Double, as tag: UInt8 = CoderTag.whole) -> Bool {
        guard value.magnitude < 0x1p53, value.rounded(.towardZero) == value,
            value != 0 || value.sign == .plus
        else { return false }
        reserve(11)
        storeTag(tag)
        storeFolded(Int64(value))
        return true
    }
}
