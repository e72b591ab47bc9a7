import Foundation

/// Reads and writes by the system's own calls: of many errors Foundation says only that "the operation could not be
/// completed", and these say of what, and why.
enum Descriptor {
    private static let chunkSizeBytes = 1 << 18

    /// Up to `count` bytes; none at the end.
    ///
    /// - Parameter name: For the message.
    static func read(
        upTo count: Int, from descriptor: Int32, named name: String
    ) throws(Failure) -> [UInt8] {
        var failed: Int32?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while true {
                let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
                if count < 0, errno == EINTR { continue }
                if count < 0 { failed = errno }
                filled = max(0, count)
                return
            }
        }
        if let failed {
            throw Failure(.failed, "cannot read \(name): \(String(cString: strerror(failed)))")
        }
        return bytes
    }

    /// All that is left.
    static func readToEnd(_ descriptor: Int32, named name: String) throws(Failure) -> Data {
        var data = Data()
        while true {
            let bytes = try read(upTo: chunkSizeBytes, from: descriptor, named: name)
            if bytes.isEmpty { return data }
            data.append(contentsOf: bytes)
        }
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32, named name: String) throws(Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Foundation.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw Failure(.failed, "cannot write \(name): \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(count)
        }
    }
}
