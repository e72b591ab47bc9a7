import ArgumentParser
import Foundation
import Roost
import RoostShared

#if Etcd
    import RoostEtcd
#endif
#if Postgres
    import RoostPostgres
#endif

/// Where a cluster is: `etcd://host:port,host:port`, `etcds://…` with TLS, or `postgres://…` as libpq takes it.
struct ClusterAddress {
    let text: String

    private static let schemes = ["etcd://", "etcds://", "postgres://", "postgresql://"]

    /// `nil` where `argument` is a path.
    init?(_ argument: String) {
        guard Self.schemes.contains(where: argument.hasPrefix) else { return nil }
        text = argument
    }

    /// Whether it is one of etcd, whose credentials are options of the command.
    var isEtcd: Bool { text.hasPrefix("etcd") }

    /// - Throws: `Failure` where this program was built without the engine. No error has the address, which
    ///   may hold a password.
    func target(_ credentials: ClusterCredentials) throws -> SharedTarget {
        isEtcd ? try etcd(credentials) : try postgres(credentials)
    }

    #if Etcd
        private func etcd(_ credentials: ClusterCredentials) throws -> SharedTarget {
            let isEncrypted = text.hasPrefix("etcds://") || credentials.hasFiles
            let hosts = text[text.range(of: "://")!.upperBound...].split(separator: ",")
            guard !hosts.isEmpty, !hosts.contains(where: { $0.contains("/") || $0.contains("@") })
            else {
                throw ValidationError(
                    "an address of etcd is etcd://host:port,host:port; a user is --user")
            }
            var known = EtcdCredentials.none
            if isEncrypted {
                known = .tls(
                    authorityFile: credentials.ca, certificateFile: credentials.certificate,
                    keyFile: credentials.certificateKey)
            }
            if let user = credentials.user {
                known = known.user(user, password: try credentials.password())
            }
            let scheme = isEncrypted ? "https" : "http"
            return .etcd(endpoints: hosts.map { "\(scheme)://\($0)" }, credentials: known)
        }
    #else
        private func etcd(_ credentials: ClusterCredentials) throws -> SharedTarget {
            throw Self.notBuilt("etcd", trait: "Etcd")
        }
    #endif

    #if Postgres
        private func postgres(_ credentials: ClusterCredentials) throws -> SharedTarget {
            guard !credentials.isGiven else {
                throw ValidationError(
                    "certificates and the user of PostgreSQL stand in its address, as libpq takes them"
                )
            }
            return .postgres(text)
        }
    #else
        private func postgres(_ credentials: ClusterCredentials) throws -> SharedTarget {
            throw Self.notBuilt("PostgreSQL", trait: "Postgres")
        }
    #endif

    private static func notBuilt(_ engine: String, trait: String) -> Failure {
        Failure(
            .usage,
            "this roost was built without \(engine). Build it with it: "
                + "swift build -c release --product roost --traits \(trait)")
    }
}

/// With what etcd is connected to.
struct ClusterCredentials: ParsableArguments {
    @Option(help: "Authorities that the servers' certificates are of (PEM).", completion: .file())
    var ca: String?
    @Option(help: "The client's certificate (PEM).", completion: .file())
    var certificate: String?
    @Option(help: "The key of the client's certificate (PEM).", completion: .file())
    var certificateKey: String?
    @Option(help: "A user of etcd; the password is read from --password-file, or ROOST_PASSWORD.")
    var user: String?
    @Option(help: "A file with the user's password in its first line.", completion: .file())
    var passwordFile: String?
    @Option(help: "How many seconds each call may take; 10 unless said.") var deadline: Double?

    private static let usualDeadlineSeconds = 10.0

    func validate() throws {
        if let deadline {
            guard deadline > 0, deadline <= 86_400 else {
                throw ValidationError("--deadline is more than 0 and at most 86400 seconds")
            }
        }
        if passwordFile != nil, user == nil {
            throw ValidationError("--password-file has the password of a user of etcd: say --user")
        }
    }

    var hasFiles: Bool { ca != nil || certificate != nil || certificateKey != nil }
    var isGiven: Bool { hasFiles || user != nil }
    /// Whether any of the options is there.
    var areSaid: Bool { isGiven || passwordFile != nil || deadline != nil }

    /// What is used of these at `address`, where `isShared` says that etcd is at another address of the same command:
    /// they are etcd's then, and PostgreSQL has its own in its address.
    func used(at address: ClusterAddress, isShared: Bool) -> ClusterCredentials {
        guard isShared, !address.isEtcd else { return self }
        var others = self
        (others.ca, others.certificate, others.certificateKey, others.user) = (nil, nil, nil, nil)
        return others
    }

    func password() throws -> String {
        if let passwordFile { return try InputFile.secret(in: passwordFile) }
        guard let password = ProcessInfo.processInfo.environment["ROOST_PASSWORD"] else {
            throw Failure(.usage, "which password? say --password-file, or set ROOST_PASSWORD")
        }
        return password
    }

    /// Runs `body` on the shared workspace and gives its connections back.
    ///
    /// - Parameter makesNamespace: `false` for what only reads: a name that is mistyped is to be an error.
    func withWorkspace<Result: Sendable>(
        at address: ClusterAddress, namespace: String, makesNamespace: Bool,
        _ body: (SharedWorkspace) async throws -> Result
    ) async throws -> Result {
        var configuration = SharedWorkspace.Configuration(
            callDeadline: .seconds(deadline ?? Self.usualDeadlineSeconds))
        configuration.makesNamespace = makesNamespace
        let workspace = try await SharedWorkspace.connect(
            to: try address.target(self), namespace: namespace, configuration: configuration)
        let result: Result
        do { result = try await body(workspace) } catch {
            await workspace.close()
            throw error
        }
        await workspace.close()
        return result
    }
}
