// The messages of etcd's service Watch, as in KeyValueMessages.

enum WatchRequest: RequestMessage {
    case create(key: [UInt8], rangeEnd: [UInt8], startRevision: Int64, watchID: Int64)
    case cancel(watchID: Int64)
    /// Asks for an answer that tells how far the server is.
    case progress

    func write(to writer: inout ProtobufWriter) {
        var request = ProtobufWriter()
        switch self {
        case .create(let key, let rangeEnd, let startRevision, let watchID):
            request.add(1, key)
            request.add(2, rangeEnd)
            request.add(3, startRevision)
            request.add(7, watchID)
            // Large answers come in parts.
            request.add(8, true)
            writer.addMessage(1, request.bytes)
        case .cancel(let watchID):
            request.add(1, watchID)
            writer.addMessage(2, request.bytes)
        case .progress: writer.addMessage(3, [])
        }
    }
}

struct WatchResponse: ResponseMessage {
    var header = ResponseHeader()
    var watchID: Int64 = 0
    var isCreated = false
    var isCanceled = false
    var compactRevision: Int64 = 0
    var cancelReason = ""
    /// Whether more of the same answer comes.
    var isFragment = false
    var events: [WatchEvent] = []

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 1: header = try ResponseHeader(try value.bytes)
        case 2: watchID = try value.signed
        case 3: isCreated = try value.number != 0
        case 4: isCanceled = try value.number != 0
        case 5: compactRevision = try value.signed
        case 6: cancelReason = try value.text
        case 7: isFragment = try value.number != 0
        case 11: events.append(try WatchEvent(try value.bytes))
        default: break
        }
    }
}

struct WatchEvent: ResponseMessage {
    var isDelete = false
    var keyValue = KeyValue()

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 1: isDelete = try value.number == 1
        case 2: keyValue = try KeyValue(try value.bytes)
        default: break
        }
    }
}
