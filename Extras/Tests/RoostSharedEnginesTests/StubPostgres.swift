/// What a stub answers the statement for changes with, of so many revisions after one: the columns of each row. It is
/// silent where that is `nil`.
typealias StubChanges = @Sendable (_ from: UInt64, _ count: UInt64) -> [[[UInt8]?]]?

extension StubServer {
    /// Lets everybody in, says its version, and answers each simple statement with one row of one word: that it is no
    /// standby, and has none. Of prepared statements it knows the one for changes, where `changes` is given.
    ///
    /// - Parameters:
    ///   - standby: what it says of the standby that acknowledges commits.
    ///   - refused: nobody may send a statement with it.
    static func postgres(
        version: String, standby: String = "none", refused: String? = nil,
        changes: StubChanges? = nil
    ) throws -> StubServer {
        try StubServer { connection in
            guard connection.read(8) != nil else { return }
            // The client's parameters end with two zeros.
            var last: UInt8 = 1
            while let byte = connection.read(1)?[0], byte != 0 || last != 0 { last = byte }
            connection.write(Postgres.message("R", Int32(0).networkBytes))
            connection.write(
                Postgres.message("S", Postgres.text("server_version") + Postgres.text(version)))
            connection.write(
                Postgres.message("K", Int32(1).networkBytes + Int32(1).networkBytes)
                    + Postgres.ready)
            var answer: [UInt8]?
            while let head = connection.read(5) {
                let count = Int(Int32(networkBytes: head[1...])) - 4
                guard let payload = connection.read(count) else { return }
                switch Character(UnicodeScalar(head[0])) {
                case "Q":
                    let statement = String(decoding: payload, as: UTF8.self)
                    if let refused, statement.contains(refused) {
                        connection.write(
                            Postgres.error("ERROR", "42501", "permission denied") + Postgres.ready)
                        continue
                    }
                    let word = statement.contains("synchronous_standby_names") ? standby : "f"
                    connection.write(Postgres.rows([[Array(word.utf8)]]) + Postgres.ready)
                case "P" where changes != nil: answer = Postgres.message("1", [])
                case "B":
                    let numbers = Postgres.lastTwoNumbers(ofBind: payload)
                    answer = changes?(numbers.0, numbers.1).map {
                        Postgres.message("2", []) + Postgres.rows($0)
                    }
                case "D", "E": break
                case "S":
                    if let answer { connection.write(answer + Postgres.ready) }
                    answer = nil
                default: return
                }
            }
        }
    }
}

extension StubServer {
    /// Refuses everybody, in a language of its own.
    static func postgres(refusing code: String, _ message: String) throws -> StubServer {
        try StubServer { connection in
            guard connection.read(8) != nil else { return }
            var last: UInt8 = 1
            while let byte = connection.read(1)?[0], byte != 0 || last != 0 { last = byte }
            connection.write(Postgres.error("FATAL", code, message))
        }
    }
}

private enum Postgres {
    static let ready = message("Z", [UInt8(ascii: "I")])

    static func message(_ kind: Character, _ payload: [UInt8]) -> [UInt8] {
        [kind.asciiValue!] + Int32(payload.count + 4).networkBytes + payload
    }

    static func text(_ string: String) -> [UInt8] { Array(string.utf8) + [0] }

    static func error(_ severity: String, _ code: String, _ message: String) -> [UInt8] {
        let fields = [("S", severity), ("V", severity), ("C", code), ("M", message)]
        return self.message(
            "E", fields.flatMap { Array($0.0.utf8) + text($0.1) } + [0])
    }

    /// A whole answer, whose columns are what the client takes them for.
    static func rows(_ rows: [[[UInt8]?]]) -> [UInt8] {
        let column =
            text("value") + Int32(0).networkBytes + Int16(0).networkBytes
            + Int32(25).networkBytes + Int16(-1).networkBytes + Int32(-1).networkBytes
            + Int16(0).networkBytes
        let count = rows.first?.count ?? 0
        var answer = message(
            "T", Int16(count).networkBytes + (0..<count).flatMap { _ in column })
        for row in rows {
            let values = row.flatMap { value -> [UInt8] in
                guard let value else { return Int32(-1).networkBytes }
                return Int32(value.count).networkBytes + value
            }
            answer += message("D", Int16(count).networkBytes + values)
        }
        return answer + message("C", text("SELECT \(rows.count)"))
    }

    /// The message ends with two parameters of eight bytes, each after its size, and what form the answer is to have.
    static func lastTwoNumbers(ofBind payload: [UInt8]) -> (UInt64, UInt64) {
        let end = payload.count - 4
        return (
            UInt64(networkBytes: payload[(end - 20)..<(end - 12)]),
            UInt64(networkBytes: payload[(end - 8)..<end])
        )
    }
}
