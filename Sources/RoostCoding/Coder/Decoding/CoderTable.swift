import Foundation

/// The shapes of a message: the names of each one's properties, one run after another.
///
/// - `names` may be replaced by equal strings whose bits are those that programs ask with.
/// - A table takes memory in proportion to the bytes that it was read from.
final class CoderTable {
    struct Shape: BitwiseCopyable {
        var names: UnsafeMutablePointer<String>
        var count: Int
    }

    /// All that is known of a message's table: the same bytes always mean the same.
    private let bytes: [UInt8]
    private let names: UnsafeMutableBufferPointer<String>
    private let shapes: [Shape]

    init(_ reader: inout BinaryReader) throws {
        let start = reader.cursor
        var keys: ContiguousArray<String> = []
        var names: ContiguousArray<String> = []
        var counts: [Int] = []
        for _ in 0..<(try reader.takeLength()) {
            let count = try reader.takeLength()
            counts.append(count)
            for _ in 0..<count { names.append(try Self.readName(&reader, &keys)) }
        }
        bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: reader.cursor - start))
        let memory = UnsafeMutableBufferPointer<String>.allocate(capacity: max(names.count, 1))
        memory.initialize(repeating: "")
        for (index, name) in names.enumerated() { memory[index] = name }
        self.names = memory
        var first = 0
        shapes = counts.map { count in
            defer { first += count }
            return Shape(names: memory.baseAddress.unsafelyUnwrapped + first, count: count)
        }
    }

    deinit {
        names.deinitialize()
        names.deallocate()
    }

    private static func readName(
        _ reader: inout BinaryReader, _ keys: inout ContiguousArray<String>
    ) throws -> String {
        let head = try reader.readVarint()
        if head & 1 == 1 {
            guard head >> 1 < UInt64(keys.count) else {
                throw reader.invalidValue("there is no name number \(head >> 1)")
            }
            return keys[Int(head >> 1)]
        }
        guard head >> 1 <= UInt64(reader.remainingCount) else { throw reader.cutShort() }
        guard let name = NameCodec.shared.decode(try reader.takeRaw(Int(head >> 1))) else {
            throw reader.invalidValue("a property's name is not valid")
        }
        keys.append(name)
        return name
    }

    /// The number of bytes, which is worth remembering if they come again.
    var sizeBytes: Int { bytes.count }

    /// Whether `message` begins with this table.
    func begins(_ message: UnsafeRawBufferPointer) -> Bool {
        guard message.count >= bytes.count else { return false }
        return bytes.withUnsafeBytes {
            // Neither is empty: a table has its count of shapes.
            memcmp(
                $0.baseAddress.unsafelyUnwrapped, message.baseAddress.unsafelyUnwrapped, $0.count)
                == 0
        }
    }

    var lastShape: Shape? { shapes.last }

    func shape(_ number: UInt64) -> Shape? {
        number < UInt64(shapes.count) ? shapes[Int(number)] : nil
    }
}
