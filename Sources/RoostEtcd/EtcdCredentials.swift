/// With what etcd is connected to. Nothing of it is in any description or error.
public struct EtcdCredentials: Sendable, CustomStringConvertible, CustomReflectable {
    /// Files, in PEM form.
    struct Encryption: Sendable {
        var authorityFile: String?
        var certificateFile: String?
        var keyFile: String?
    }

    struct User: Sendable, CustomStringConvertible, CustomReflectable {
        var name: String
        var password: String

        var description: String { "(user)" }

        var customMirror: Mirror { Mirror(self, children: []) }
    }

    var encryption = Encryption()
    var user: User?

    /// No client certificate and no user; servers of `https` endpoints are checked against the system's
    /// authorities.
    public static let none = EtcdCredentials()

    /// Which authorities a server's certificate must be of, and the client's own certificate.
    ///
    /// - Parameters:
    ///   - authorityFile: certificates of authorities, in PEM form; the system's where it is `nil`.
    ///   - certificateFile: the client's certificate with those between it and its authority.
    ///   - keyFile: the key of the client's certificate.
    public static func tls(
        authorityFile: String? = nil, certificateFile: String? = nil, keyFile: String? = nil
    ) -> EtcdCredentials {
        EtcdCredentials(
            encryption: Encryption(
                authorityFile: authorityFile, certificateFile: certificateFile, keyFile: keyFile))
    }

    /// The same credentials with a user of etcd's.
    public func user(_ name: String, password: String) -> EtcdCredentials {
        var credentials = self
        credentials.user = User(name: name, password: password)
        return credentials
    }

    public var description: String { "(credentials)" }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
