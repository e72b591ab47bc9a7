import Foundation

/// Bytes written and read by hand, as fast as is done without unsafe code: the fields one after
/// another in a fixed order, which can never change.
struct ByHand {
    var bytes: [UInt8] = []
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func write(_ value: UInt64) {
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    mutating func write(_ value: Double) { write(value.bitPattern) }

    mutating func write(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func write(_ value: String) {
        write(UInt64(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    mutating func readWord() throws -> UInt64 {
        guard bytes.count - position >= 8 else { throw CocoaError(.coderReadCorrupt) }
        defer { position += 8 }
        return bytes.withUnsafeBytes {
            UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: position, as: UInt64.self))
        }
    }

    mutating func readDouble() throws -> Double { Double(bitPattern: try readWord()) }

    mutating func readBool() throws -> Bool {
        guard position < bytes.count else { throw CocoaError(.coderReadCorrupt) }
        defer { position += 1 }
        return bytes[position] != 0
    }

    mutating func readString() throws -> String {
        let count = Int(truncatingIfNeeded: try readWord())
        guard count >= 0, count <= bytes.count - position else {
            throw CocoaError(.coderReadCorrupt)
        }
        defer { position += count }
        guard let text = String(validating: bytes[position..<(position + count)], as: UTF8.self)
        else { throw CocoaError(.coderReadCorrupt) }
        return text
    }
}

extension ByHand {
    mutating func write(_ note: Note) {
        withUnsafeBytes(of: note.id.uuid) { bytes.append(contentsOf: $0) }
        write(note.title)
        write(note.createdAt.timeIntervalSinceReferenceDate)
        write(note.rating)
        write(note.isPinned)
        write(UInt64(note.tags.count))
        for tag in note.tags { write(tag) }
    }

    mutating func readNote() throws -> Note {
        let words = (try readWord(), try readWord())
        let id = UUID(uuid: withUnsafeBytes(of: words) { $0.loadUnaligned(as: uuid_t.self) })
        let title = try readString()
        let createdAt = Date(timeIntervalSinceReferenceDate: try readDouble())
        let rating = try readDouble()
        let isPinned = try readBool()
        let count = Int(truncatingIfNeeded: try readWord())
        // Each tag takes eight bytes at least.
        guard count >= 0, count <= bytes.count / 8 else { throw CocoaError(.coderReadCorrupt) }
        var tags: [String] = []
        tags.reserveCapacity(count)
        for _ in 0..<count { tags.append(try readString()) }
        return Note(
            id: id, title: title, createdAt: createdAt, rating: rating, isPinned: isPinned,
            tags: tags)
    }
}
