/// What values with headers need beyond appending.
extension BinaryWriter {
    var capacity: Int { end - base }

    /// Takes all bytes away, and keeps the memory.
    mutating func reset() {
        cursor = base
        isTooDeep = false
        isRefused = false
        depth = 0
    }

    @inline(__always)
    mutating func store(_ byte: UInt8, at offset: Int) {
        (base + offset).storeBytes(of: byte, as: UInt8.self)
    }

    /// Puts a number before what begins at `offset`.
    mutating func insertVarint(_ number: UInt64, at offset: Int) {
        let content = removeBytes(from: offset)
        writeVarint(number)
        content.withUnsafeBytes { writeRaw($0) }
    }

    /// Takes the bytes from `offset` on away.
    mutating func removeBytes(from offset: Int) -> [UInt8] {
        defer { cursor = base + offset }
        return [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count - offset))
    }
}
