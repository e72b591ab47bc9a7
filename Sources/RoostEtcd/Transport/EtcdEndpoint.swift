import RoostIO
import RoostShared

/// One of the addresses at which etcd answers.
struct EtcdEndpoint: Sendable, Hashable {
    let host: String
    let port: Int
    let isEncrypted: Bool

    /// - Parameter text: as `https://host:2379`; 2379 where there is no port.
    init(_ text: String) throws {
        let wrong = RoostError(
            .io,
            "\"\(redactedAddress(text))\" is no endpoint of etcd: it is to be like https://host:2379, and users are given with the credentials"
        )
        guard let colon = text.firstRange(of: "://") else { throw wrong }
        switch text[..<colon.lowerBound] {
        case "http": isEncrypted = false
        case "https": isEncrypted = true
        default: throw wrong
        }
        var rest = text[colon.upperBound...]
        if rest.hasSuffix("/") { rest.removeLast() }
        guard !rest.isEmpty, !rest.contains("@"), !rest.contains("/") else { throw wrong }
        let hasPort = rest.last != "]" && rest.lastIndex(of: ":") != nil
        if hasPort, let last = rest.lastIndex(of: ":") {
            guard let port = Int(rest[rest.index(after: last)...]), (1...65535).contains(port)
            else { throw wrong }
            self.port = port
            rest = rest[..<last]
        } else {
            port = 2379
        }
        host = rest.hasPrefix("[") ? String(rest.dropFirst().dropLast()) : String(rest)
    }

    var description: String { "\(isEncrypted ? "https" : "http")://\(authority)" }

    /// As HTTP and addresses have it: the colons of an IPv6 address would be taken for the port's.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
