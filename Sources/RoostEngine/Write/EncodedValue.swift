import RoostFormat

/// A value as it will stand in a record: one byte of kind, then the payload. Carries what the
/// caller has without copying it; the bytes are written straight into the log.
package struct EncodedValue: Sendable {
    package enum Payload: Sendable {
        /// Up to eight bytes, little-endian, the lowest first.
        case inline(UInt64, count: UInt8)
        case bytes([UInt8])
        case string(String)
    }

    package let kind: UInt8
    package let payload: Payload
    /// Kind and payload.
    package let count: Int

    /// What a put of the value is in the log.
    @inline(__always)
    var operationKind: Operation.Kind {
        kind & ValueHeader.expiresFlag == 0 ? .put : .expiringPut
    }

    package init(kind: UInt8, payload: Payload) {
        self.kind = kind
        self.payload = payload
        switch payload {
        case .inline(_, let count): self.count = 1 + Int(count)
        case .bytes(let bytes): self.count = 1 + bytes.count
        case .string(let string): self.count = 1 + string.utf8.count
        }
    }

    /// Writes `count` bytes at `target`.
    @inline(__always)
    package func write(to target: UnsafeMutableRawPointer) {
        target.storeBytes(of: kind, as: UInt8.self)
        switch payload {
        case .inline(let word, let count):
            withUnsafeBytes(of: word.littleEndian) { bytes in
                (target + 1).copyMemory(from: bytes.baseAddress!, byteCount: Int(count))
            }
        case .bytes(let bytes):
            bytes.withUnsafeBytes { bytes in
                guard let base = bytes.baseAddress else { return }
                (target + 1).copyMemory(from: base, byteCount: bytes.count)
            }
        case .string(var string):
            string.withUTF8 { bytes in
                guard let base = bytes.baseAddress else { return }
                (target + 1).copyMemory(from: base, byteCount: bytes.count)
            }
        }
    }
}
