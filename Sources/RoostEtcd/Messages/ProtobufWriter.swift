/// Writes one protobuf message: the few kinds of fields that etcd's requests have. Fields at their default are
/// left out, as proto3 has it.
struct ProtobufWriter {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ field: Int, _ value: [UInt8]) {
        guard !value.isEmpty else { return }
        addMessage(field, value)
    }

    /// A message is written also where it is empty: that it is there says something.
    mutating func addMessage(_ field: Int, _ message: [UInt8]) {
        varint(UInt64(field << 3 | 2))
        varint(UInt64(message.count))
        bytes.append(contentsOf: message)
    }

    mutating func add(_ field: Int, _ value: String) { add(field, Array(value.utf8)) }

    mutating func add(_ field: Int, _ value: Int64) {
        guard value != 0 else { return }
        varint(UInt64(field << 3))
        varint(UInt64(bitPattern: value))
    }

    /// For the members of a `oneof`, whose default counts too.
    mutating func addChosen(_ field: Int, _ value: Int64) {
        varint(UInt64(field << 3))
        varint(UInt64(bitPattern: value))
    }

    mutating func add(_ field: Int, _ value: Bool) { add(field, value ? Int64(1) : 0) }

    private mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// A message that is sent.
protocol RequestMessage {
    func write(to writer: inout ProtobufWriter)
}

extension RequestMessage {
    var bytes: [UInt8] {
        var writer = ProtobufWriter()
        write(to: &writer)
        return writer.bytes
    }
}
