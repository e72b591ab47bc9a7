import RoostIO
import RoostShared
import Testing

@testable import RoostEtcd
@testable import RoostPostgres

/// Errors about addresses have nothing of a user or a password in them.
@Suite struct AddressTests {
    @Test(arguments: [
        "https://user:secret@host:2379", "ftp://user:secret@host",
        "https://us@er:se/cret@host:2379",
        "user:secret@host:2379", "https://user:secret@host:port",
    ])
    func noEndpointsUserIsInAnError(text: String) {
        let error = #expect(throws: RoostError.self) { try EtcdEndpoint(text) }
        #expect(error.map { "\($0)" }?.contains("host") == true)
        for word in ["secret", "se/cret", "us@er", "user:"] {
            #expect(error.map { "\($0)" }?.contains(word) == false, "\(word) of \(text)")
        }
    }

    @Test(arguments: [
        ("https://db:2379", "db:2379"), ("http://10.0.0.7/", "10.0.0.7:2379"),
        ("https://[::1]:2380", "[::1]:2380"), ("http://[fd00::7]", "[fd00::7]:2379"),
    ])
    func anEndpointIsNamedAsHTTPHasIt(text: String, authority: String) throws {
        let endpoint = try EtcdEndpoint(text)
        #expect(!endpoint.host.contains("["))
        #expect(endpoint.authority == authority)
        #expect(endpoint.description.hasSuffix("://\(authority)"))
    }

    /// Also where a program dumps what it has.
    @Test func noDumpHasCredentials() async throws {
        let credentials = EtcdCredentials.none.user("user", password: "secret")
        let workspace = try await SharedWorkspace.connect(
            to: .engine(SecretiveEngine(secret: "secret", credentials: credentials)),
            namespace: "test")
        var text = "\(credentials) \(workspace)"
        dump(credentials, to: &text)
        dump(credentials.user, to: &text)
        dump(workspace, to: &text)
        dump(workspace.dictionary("values"), to: &text)
        #expect(text.contains("namespace"))
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        "postgres://user:se/cret@host/name", "postgres://user:se@cret@host/name",
        "postgres://user:12/se@cret@host:5432/name", "postgres://user:secret@host:secret/name",
        "mysql://user:secret@host/name",
    ])
    func aMalformedAddressIsRefusedWithoutItsParts(address: String) {
        let error = #expect(throws: RoostError.self) { try PostgresAddress.check(address) }
        #expect(error?.code == .io)
        for word in ["secret", "cret", "12/se"] {
            #expect(error.map { "\($0)" }?.contains(word) == false, "\(word) of \(address)")
        }
    }

    @Test(arguments: [
        "postgres://user:p%40ss%2Fword@a,b:5433/name?target_session_attrs=read-write",
        "postgresql://[::1]:5432/name", "postgres:///name?host=/run/postgresql&user=me@home",
        "postgres://host", "host=a,b user=me password='://@/' dbname=name", "dbname=name",
    ])
    func soundAddressesAreTaken(address: String) {
        #expect(throws: Never.self) { try PostgresAddress.check(address) }
    }
}

/// An engine in memory, with what engines over networks have.
private struct SecretiveEngine: SharedEngine {
    let engine = MemoryEngine()
    let secret: String
    let credentials: EtcdCredentials

    var limits: SharedLimits { engine.limits }

    func read(
        _ read: SharedRead, before deadline: ContinuousClock.Instant
    ) async throws -> SharedPage {
        try await engine.read(read, before: deadline)
    }

    func commit(
        _ commit: SharedCommit, before deadline: ContinuousClock.Instant
    ) async throws -> SharedOutcome {
        try await engine.commit(commit, before: deadline)
    }

    func watch(_ range: SharedKeyRange, after revision: UInt64) -> SharedEvents {
        engine.watch(range, after: revision)
    }

    func clockMilliseconds(before deadline: ContinuousClock.Instant) async throws -> UInt64? {
        try await engine.clockMilliseconds(before: deadline)
    }

    func close() async { await engine.close() }
}
