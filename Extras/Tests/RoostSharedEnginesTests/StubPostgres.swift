// A server that says as little as a client needs to find out which version it is.

extension StubServer {
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
