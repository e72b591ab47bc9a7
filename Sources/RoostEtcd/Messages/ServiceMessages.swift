// The messages of etcd's services Lease, Auth and Maintenance, as in KeyValueMessages.

struct LeaseGrantRequest: RequestMessage {
    var seconds: Int64

    func write(to writer: inout ProtobufWriter) { writer.add(1, seconds) }
}

struct LeaseGrantResponse: ResponseMessage {
    var id: Int64 = 0
    var error = ""

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        switch field {
        case 2: id = try value.signed
        case 4: error = try value.text
        default: break
        }
    }
}

struct AuthenticateRequest: RequestMessage {
    var name: String
    var password: String

    func write(to writer: inout ProtobufWriter) {
        writer.add(1, name)
        writer.add(2, password)
    }
}

struct AuthenticateResponse: ResponseMessage {
    var token = ""

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        if field == 2 { token = try value.text }
    }
}

struct StatusRequest: RequestMessage {
    func write(to writer: inout ProtobufWriter) {}
}

/// Of which nothing is used.
struct HashResponse: ResponseMessage {
    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {}
}

struct StatusResponse: ResponseMessage {
    var version = ""

    mutating func take(_ field: Int, _ value: ProtobufReader.Value) throws {
        if field == 2 { version = try value.text }
    }
}
