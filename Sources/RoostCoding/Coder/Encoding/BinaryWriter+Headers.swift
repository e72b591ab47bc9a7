/// What values with headers need beyond appending.
extension BinaryWriter {
    mutating func store(_ byte: UInt8, at offset: Int) {
        (base + offset).storeBytes(of: byte, as: UInt8.self)
    }

    /// Stores the number of a shape in the byte kept for it, and moves what follows up where
    /// the number needs more.
    mutating func storeShape(_ number: Int, at offset: Int) {
        guard number >= 0x80 else { return store(UInt8(number), at: offset) }
        let content = removeBytes(from: offset + 1)
        cursor = base + offset
        writeVarint(UInt64(number))
        content.withUnsafeBytes { writeRaw($0) }
    }

    /// Takes the bytes from `offset` on away.
    mutating func removeBytes(from offset: Int) -> [UInt8] {
        defer { cursor = base + offset }
        return [UInt8](UnsafeRawBufferPointer(start: base + offset, count: count - offset))
    }
}
