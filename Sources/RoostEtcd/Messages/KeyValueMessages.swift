// The messages of etcd's service KV that are used, by the names and field numbers of its rpc.proto and kv.proto.

struct ResponseHeader: ResponseMessage {
    var revision: Int64 = 0

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        if field == 3 { revision = try value.signed }
    }
}

struct KeyValue: ResponseMessage {
    var key: [UInt8] = []
    var modRevision: Int64 = 0
    var value: [UInt8] = []
    var lease: Int64 = 0

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 1: key = Array(try value.bytes)
        case 3: modRevision = try value.signed
        case 5: self.value = Array(try value.bytes)
        case 6: lease = try value.signed
        default: break
        }
    }
}

struct RangeRequest: RequestMessage {
    var key: [UInt8]
    var rangeEnd: [UInt8]
    var limit: Int64
    var revision: Int64 = 0
    var isKeysOnly = false

    func write(to writer: inout ProtobufWriter) {
        writer.add(1, key)
        writer.add(2, rangeEnd)
        writer.add(3, limit)
        writer.add(4, revision)
        writer.add(8, isKeysOnly)
    }
}

struct RangeResponse: ResponseMessage {
    var header = ResponseHeader()
    var keyValues: [KeyValue] = []
    var hasMore = false

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 1: header = try ResponseHeader(try value.bytes)
        case 2: keyValues.append(try KeyValue(try value.bytes))
        case 3: hasMore = try value.number != 0
        default: break
        }
    }
}

struct Compare: RequestMessage {
    enum Result: Int64 {
        case equal = 0
        case less = 2
    }

    var result: Result
    var key: [UInt8]
    var rangeEnd: [UInt8] = []
    var modRevision: Int64

    func write(to writer: inout ProtobufWriter) {
        writer.add(1, result.rawValue)
        // The target MOD.
        writer.add(2, Int64(2))
        writer.add(3, key)
        writer.addChosen(6, modRevision)
        writer.add(64, rangeEnd)
    }
}

/// What a transaction does.
enum RequestOperation: RequestMessage {
    case put(key: [UInt8], value: [UInt8], lease: Int64)
    case deleteRange(key: [UInt8], rangeEnd: [UInt8])

    func write(to writer: inout ProtobufWriter) {
        var operation = ProtobufWriter()
        switch self {
        case .put(let key, let value, let lease):
            operation.add(1, key)
            operation.add(2, value)
            operation.add(3, lease)
            writer.addMessage(2, operation.bytes)
        case .deleteRange(let key, let rangeEnd):
            operation.add(1, key)
            operation.add(2, rangeEnd)
            writer.addMessage(3, operation.bytes)
        }
    }
}

struct TransactionRequest: RequestMessage {
    var compare: [Compare] = []
    var success: [RequestOperation] = []

    func write(to writer: inout ProtobufWriter) {
        for one in compare { writer.addMessage(1, one.bytes) }
        for one in success { writer.addMessage(2, one.bytes) }
    }
}

struct TransactionResponse: ResponseMessage {
    var header = ResponseHeader()
    var succeeded = false

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 1: header = try ResponseHeader(try value.bytes)
        case 2: succeeded = try value.number != 0
        default: break
        }
    }
}
