import RoostFormat

extension EncodedValue {
    /// The same value with a deadline, or a version other than 1, in its header. Not for a value
    /// that has a deadline; one with a version may get one. Copies the payload.
    package func with(deadline: Deadline = .never, version: UInt32 = 1) -> EncodedValue {
        let header = ValueHeader(kind: kind, deadline: deadline, version: version).bytes
        guard header.count > 1 else { return self }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(header.count - 1 + count - 1)
        bytes.append(contentsOf: header.dropFirst())
        switch payload {
        case .inline(let word, let count):
            withUnsafeBytes(of: word.littleEndian) {
                bytes.append(contentsOf: $0.prefix(Int(count)))
            }
        case .bytes(let payload): bytes.append(contentsOf: payload)
        case .string(let text): bytes.append(contentsOf: text.utf8)
        }
        return EncodedValue(kind: header[0], payload: .bytes(bytes))
    }
}
