import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One HTTP/1.1 exchange as bytes, so that a test says every header itself, Host included.
///
/// Blocks, and so belongs on a thread of its own: `onThread`.
final class Connection {
    private let socketDescriptor: Int32
    private var received: [UInt8] = []

    struct Failure: Error { let call: String }

    init(port: Int) throws {
        #if canImport(Glibc)
            socketDescriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            socketDescriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard socketDescriptor >= 0 else { throw Failure(call: "socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socketDescriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure(call: "connect") }
    }

    deinit { close(socketDescriptor) }

    func send(_ text: String) throws {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                #if canImport(Glibc)
                    Glibc.send(socketDescriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                #else
                    Darwin.send(socketDescriptor, $0.baseAddress, $0.count, 0)
                #endif
            }
            guard count > 0 else { throw Failure(call: "send") }
            rest = rest.dropFirst(count)
        }
    }

    /// What has come once it has `text` in it; all of it where the server closes before.
    func receive(until text: String? = nil) throws -> String {
        try receive { all in text.map { all.contains($0) } ?? false }
    }

    /// What has come once `isEnough` says so of it; all of it where the server closes before.
    func receive(until isEnough: (String) -> Bool) throws -> String {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let all = String(decoding: received, as: UTF8.self)
            if isEnough(all) { return all }
            let count = recv(socketDescriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failure(call: "recv") }
            if count == 0 { return all }
            received += buffer[..<count]
        }
    }
}

/// Runs what blocks beside the cooperative pool.
func onThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread { continuation.resume(with: Swift.Result { try body() }) }.start()
    }
}

/// What a server answered.
struct Answer: Sendable {
    let status: Int
    let head: String
    let body: String

    init(_ text: String) throws {
        let parts = text.components(separatedBy: "\r\n\r\n")
        head = parts[0]
        body = parts.dropFirst().joined(separator: "\r\n\r\n")
        let words = head.split(separator: " ")
        guard words.count > 1, let status = Int(words[1]) else {
            throw Connection.Failure(call: "no status line: \(head)")
        }
        self.status = status
    }

    func header(_ name: String) -> String? {
        for line in head.components(separatedBy: "\r\n") {
            guard let colon = line.firstIndex(of: ":") else { continue }
            if line[..<colon].lowercased() == name.lowercased() {
                return line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    var json: [String: Any] {
        get throws {
            try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any] ?? [:]
        }
    }

    /// The code of an error.
    var code: String? { (try? json["error"] as? [String: Any])?["code"] as? String }
}
