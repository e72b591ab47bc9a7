// Servers that say as little as a client needs to find out which version they are.

extension StubServer {
    /// Answers every call of gRPC with a status of etcd's that has this version.
    static func etcd(version: String) throws -> StubServer {
        try StubServer { connection in
            // The preface of HTTP/2.
            guard connection.read(24) != nil else { return }
            connection.write(HTTP2.frame(.settings, stream: 0, []))
            while let head = connection.read(9) {
                let count = Int(networkBytes: head[..<3])
                guard let payload = connection.read(count) else { return }
                let stream = UInt32(networkBytes: head[5...])
                switch HTTP2.Kind(rawValue: head[3]) {
                case .settings where head[4] & 1 == 0:
                    connection.write(HTTP2.frame(.settings, flags: 1, stream: 0, []))
                case .ping where head[4] & 1 == 0:
                    connection.write(HTTP2.frame(.ping, flags: 1, stream: 0, payload))
                case .data where head[4] & 1 == 1:
                    connection.write(HTTP2.answer(HTTP2.status(version), stream: stream))
                default: break
                }
            }
        }
    }

    /// Lets everybody in, says its version, and answers each simple statement with one row of one `f`.
    static func postgres(version: String) throws -> StubServer {
        try StubServer { connection in
            guard connection.read(8) != nil else { return }
            func message(_ kind: Character, _ payload: [UInt8]) -> [UInt8] {
                [kind.asciiValue!] + Int32(payload.count + 4).networkBytes + payload
            }
            func text(_ string: String) -> [UInt8] { Array(string.utf8) + [0] }
            // The client's parameters end with two zeros.
            var last: UInt8 = 1
            while let byte = connection.read(1)?[0], byte != 0 || last != 0 { last = byte }
            let ready = message("Z", [UInt8(ascii: "I")])
            connection.write(message("R", Int32(0).networkBytes))
            connection.write(message("S", text("server_version") + text(version)))
            connection.write(message("K", Int32(1).networkBytes + Int32(1).networkBytes) + ready)
            while let head = connection.read(5) {
                let count = Int(Int32(networkBytes: head[1...])) - 4
                guard connection.read(count) != nil, head[0] == UInt8(ascii: "Q") else { return }
                let column =
                    text("value") + Int32(0).networkBytes + Int16(0).networkBytes
                    + Int32(25).networkBytes + Int16(-1).networkBytes + Int32(-1).networkBytes
                    + Int16(0).networkBytes
                connection.write(message("T", Int16(1).networkBytes + column))
                let value = Int32(1).networkBytes + [UInt8(ascii: "f")]
                connection.write(message("D", Int16(1).networkBytes + value))
                connection.write(message("C", text("SELECT 1")) + ready)
            }
        }
    }
}

private enum HTTP2 {
    enum Kind: UInt8 {
        case data = 0
        case headers = 1
        case settings = 4
        case ping = 6
    }

    static func frame(_ kind: Kind, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8]) -> [UInt8]
    {
        UInt32(payload.count).networkBytes.dropFirst() + [kind.rawValue, flags]
            + stream.networkBytes + payload
    }

    /// A message of gRPC that is the whole answer.
    static func answer(_ message: [UInt8], stream: UInt32) -> [UInt8] {
        // `:status` 200 is the static table's eighth; the names of the others are written out.
        let head = [0x88] + field("content-type", "application/grpc")
        let framed = [0] + UInt32(message.count).networkBytes + message
        return frame(.headers, flags: 4, stream: stream, head)
            + frame(.data, stream: stream, framed)
            + frame(.headers, flags: 5, stream: stream, field("grpc-status", "0"))
    }

    private static func field(_ name: String, _ value: String) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)]
            + Array(value.utf8)
    }

    /// A `StatusResponse`, of which the second field is the version.
    static func status(_ version: String) -> [UInt8] {
        [0x12, UInt8(version.utf8.count)] + Array(version.utf8)
    }
}
