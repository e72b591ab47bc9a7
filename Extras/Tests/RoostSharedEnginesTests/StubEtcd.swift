import Synchronization

/// What a client of etcd sends: a call, or one message of a stream on which both sides send.
struct EtcdRequest: Sendable {
    /// Which of the server's connections it came over, from 1 on.
    var connection: Int
    var message: [UInt8]
    var isCall: Bool

    /// Calls are told apart by how their messages begin; keys and users by the namespace `test`.
    enum Kind {
        case status, range, grantLease, authenticate, transaction
        case createWatch, progress, other
    }

    var kind: Kind {
        guard isCall else {
            switch message.first {
            case 0x0a: return .createWatch
            case 0x1a: return .progress
            default: return .other
            }
        }
        switch message.first {
        case nil: return .status
        case 0x08: return .grantLease
        case 0x0a where message.dropFirst(2).starts(with: "test/".utf8): return .range
        case 0x0a where message.dropFirst(2).starts(with: "test-user".utf8): return .authenticate
        default: return .transaction
        }
    }

    /// Of the creation of a watch, whose message ends with it and that answers may come in parts; below 128.
    var watch: Int64 { Int64(message[message.count - 3]) }

    /// Of a range: whether it begins at the record that says in which form the namespace is.
    var isOfFormat: Bool { message.dropFirst(2).starts(with: "test/%format".utf8) }
}

/// What a server says: a message, which is all of a call's answer, or why there is none.
enum EtcdAnswer: Sendable {
    case message([UInt8])
    case refusal(status: Int, String)
}

extension StubServer {
    /// Answers as `answer` says; a call without an answer waits for ever. `onEnd` is called for each client that goes.
    static func etcd(
        onEnd: @escaping @Sendable () -> Void = {},
        _ answer: @escaping @Sendable (EtcdRequest) -> [EtcdAnswer]
    ) throws -> StubServer {
        let connections = Mutex(0)
        return try StubServer { connection in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            defer { onEnd() }
            // The preface of HTTP/2.
            guard connection.read(24) != nil else { return }
            connection.write(HTTP2.frame(.settings, stream: 0, []))
            var begun: Set<UInt32> = []
            while let head = connection.read(9) {
                let count = Int(networkBytes: head[..<3])
                guard let payload = connection.read(count) else { return }
                let stream = UInt32(networkBytes: head[5...])
                switch HTTP2.Kind(rawValue: head[3]) {
                case .settings where head[4] & 1 == 0:
                    connection.write(HTTP2.frame(.settings, flags: 1, stream: 0, []))
                case .ping where head[4] & 1 == 0:
                    connection.write(HTTP2.frame(.ping, flags: 1, stream: 0, payload))
                case .data where payload.count >= 5:
                    let request = EtcdRequest(
                        connection: number, message: Array(payload[5...]), isCall: head[4] & 1 == 1)
                    for one in answer(request) {
                        if begun.insert(stream).inserted { connection.write(HTTP2.head(stream)) }
                        connection.write(HTTP2.bytes(of: one, request.isCall, stream))
                    }
                default: break
                }
            }
        }
    }

    /// Answers every call of gRPC with a status of etcd's that has this version.
    static func etcd(version: String) throws -> StubServer {
        try etcd { _ in [.message(EtcdMessage.status(version))] }
    }
}

/// The messages of etcd's that stubs send, by the field numbers of its rpc.proto and kv.proto.
enum EtcdMessage {
    static func status(_ version: String) -> [UInt8] { field(2, Array(version.utf8)) }

    static func range(_ records: [(key: String, value: String)], revision: Int64) -> [UInt8] {
        records.reduce(header(revision)) {
            $0
                + field(
                    2, field(1, Array($1.key.utf8)) + number(3, 1) + field(5, Array($1.value.utf8)))
        }
    }

    static func lease(_ id: Int64) -> [UInt8] { number(2, id) }

    static func token(_ token: String) -> [UInt8] { field(2, Array(token.utf8)) }

    static func created(_ watch: Int64, revision: Int64) -> [UInt8] {
        header(revision) + number(2, watch) + number(3, 1)
    }

    static func refused(_ watch: Int64, _ reason: String) -> [UInt8] {
        header(1) + number(2, watch) + number(3, 1) + number(4, 1) + field(6, Array(reason.utf8))
    }

    static func progress(revision: Int64) -> [UInt8] { header(revision) + number(2, -1) }

    /// Each revision removed the key.
    static func removals(_ watch: Int64, of key: String, at revisions: ClosedRange<Int64>)
        -> [UInt8]
    {
        revisions.reduce(header(revisions.upperBound) + number(2, watch)) {
            $0 + field(11, number(1, 1) + field(2, field(1, Array(key.utf8)) + number(3, $1)))
        }
    }

    /// An answer that more of the same comes behind.
    static func part(_ message: [UInt8]) -> [UInt8] { message + number(7, 1) }

    private static func header(_ revision: Int64) -> [UInt8] { field(1, number(3, revision)) }

    private static func field(_ number: Int, _ bytes: [UInt8]) -> [UInt8] {
        varint(UInt64(number << 3 | 2)) + varint(UInt64(bytes.count)) + bytes
    }

    private static func number(_ field: Int, _ value: Int64) -> [UInt8] {
        varint(UInt64(field << 3)) + varint(UInt64(bitPattern: value))
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        value < 0x80
            ? [UInt8(value)] : [UInt8(truncatingIfNeeded: value) | 0x80] + varint(value >> 7)
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

    /// How an answer begins: `:status` 200 is the static table's eighth, and the names of the others are written out.
    static func head(_ stream: UInt32) -> [UInt8] {
        frame(
            .headers, flags: 4, stream: stream, [0x88] + field("content-type", "application/grpc"))
    }

    /// An answer as gRPC frames it; a call's is the whole.
    static func bytes(of answer: EtcdAnswer, _ isCall: Bool, _ stream: UInt32) -> [UInt8] {
        switch answer {
        case .message(let message):
            let framed = [0] + UInt32(message.count).networkBytes + message
            let data = frame(.data, stream: stream, framed)
            return isCall ? data + end(stream, status: 0, "") : data
        case .refusal(let status, let message): return end(stream, status: status, message)
        }
    }

    private static func end(_ stream: UInt32, status: Int, _ message: String) -> [UInt8] {
        frame(
            .headers, flags: 5, stream: stream,
            field("grpc-status", "\(status)") + field("grpc-message", message))
    }

    private static func field(_ name: String, _ value: String) -> [UInt8] {
        [0, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)]
            + Array(value.utf8)
    }
}
