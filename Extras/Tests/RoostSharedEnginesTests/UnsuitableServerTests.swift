import RoostEtcd
import RoostPostgres
import RoostShared
import Testing

/// Servers that are too old, or never answer: an error that says so, within the time that was given.
@Suite(.timeLimit(.minutes(5))) struct UnsuitableServerTests {
    /// What connecting fails with.
    private func failure(
        _ target: SharedTarget, within deadline: Duration,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async -> RoostError? {
        let begin = ContinuousClock.now
        let error = await #expect(throws: RoostError.self, sourceLocation: sourceLocation) {
            _ = try await SharedWorkspace.connect(
                to: target, namespace: "test", configuration: .init(callDeadline: deadline))
        }
        // A machine that stands still for a while has more.
        #expect(.now - begin < deadline + .seconds(60), sourceLocation: sourceLocation)
        return error
    }

    private func etcd(_ servers: StubServer..., scheme: String = "http") -> SharedTarget {
        .etcd(endpoints: servers.map { "\(scheme)://127.0.0.1:\($0.port)" })
    }

    private func postgres(_ servers: StubServer..., options: String = "") -> SharedTarget {
        let hosts = servers.map { "127.0.0.1:\($0.port)" }.joined(separator: ",")
        return .postgres(
            "postgres://app:secret@\(hosts)/app?sslmode=disable&gssencmode=disable\(options)")
    }

    // MARK: Versions

    @Test(arguments: ["3.3.27", "3.2.0-rc.1", "2.3.8", "", "none", "3"])
    func aVersionOfEtcdThatIsTooOldIsNamed(version: String) async throws {
        let server = try StubServer.etcd(version: version)
        defer { server.stop() }
        let error = await failure(etcd(server), within: .seconds(30))
        #expect(error?.code == .unsupportedVersion)
        #expect(error?.message.contains("\"\(version)\"") == true)
        #expect(error?.message.contains("3.4 is needed") == true)
    }

    @Test(arguments: ["11.22", "9.6.24", "9.0.1"])
    func aVersionOfPostgreSQLThatIsTooOldIsNamed(version: String) async throws {
        let server = try StubServer.postgres(version: version)
        defer { server.stop() }
        for options in ["", "&target_session_attrs=any"] {
            let error = await failure(postgres(server, options: options), within: .seconds(30))
            #expect(error?.code == .unsupportedVersion)
            #expect(error?.message.contains("\"\(version)\"") == true)
            #expect(error?.message.contains("PostgreSQL 12 is needed") == true)
        }
    }

    // MARK: Silence

    @Test(arguments: ["http", "https"])
    func anEndpointOfEtcdThatNeverAnswersIsNamed(scheme: String) async throws {
        let server = try StubServer.silent()
        defer { server.stop() }
        let target = etcd(server, scheme: scheme)
        let withUser = SharedTarget.etcd(
            endpoints: ["\(scheme)://127.0.0.1:\(server.port)"],
            credentials: .none.user("app", password: "secret"))
        for target in [target, withUser] {
            let error = await failure(target, within: .seconds(4))
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("127.0.0.1:\(server.port)") == true)
            let message = error?.message ?? ""
            // On a busy machine the last try may have had no time for more than its connection.
            let isSilence = message.contains("no answer in time")
            #expect(isSilence || message.contains("no connection in time"), "\(message)")
            #expect(error.map { "\($0)" }?.contains("secret") == false)
        }
    }

    @Test(arguments: ["", "&target_session_attrs=any"])
    func aPostgreSQLThatNeverAnswersIsNamed(options: String) async throws {
        let server = try StubServer.silent()
        defer { server.stop() }
        var error = await failure(postgres(server, options: options), within: .seconds(4))
        // A machine that stands still may leave no time for a first attempt.
        for _ in 0..<4 where error?.message.contains("calls before it took all the time") == true {
            error = await failure(postgres(server, options: options), within: .seconds(4))
        }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("no answer in time") == true)
        #expect(error?.message.contains("\(server.port)") == true)
        #expect(error.map { "\($0)" }?.contains("secret") == false)
    }

    /// One that is not trusted, as its certificate has expired or as it speaks no TLS, is no reason not to ask the others.
    @Test func theMemberBehindOneThatIsNotTrustedIsAsked() async throws {
        let untrusted = try StubServer { connection in
            connection.write(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
            while connection.read(1) != nil {}
        }
        let old = try StubServer.etcd(version: "3.3.27")
        defer { for server in [untrusted, old] { server.stop() } }
        let endpoints = ["https://127.0.0.1:\(untrusted.port)", "http://127.0.0.1:\(old.port)"]
        // Which of them is asked first is left to chance.
        for _ in 0..<10 {
            let error = await failure(.etcd(endpoints: endpoints), within: .seconds(120))
            #expect(error?.code == .unsupportedVersion)
        }
        let alone = await failure(.etcd(endpoints: [endpoints[0]]), within: .seconds(120))
        #expect(alone?.code == .notPermitted)
    }

    /// Each of several is asked, though one before it never answers.
    @Test func theServerBehindASilentOneIsAsked() async throws {
        let silent = try StubServer.silent()
        let old = try StubServer.postgres(version: "11.22")
        let oldMember = try StubServer.etcd(version: "3.3.27")
        defer { for server in [silent, old, oldMember] { server.stop() } }
        for target in [
            postgres(silent, old), postgres(old, silent), etcd(silent, oldMember),
            etcd(oldMember, silent),
        ] {
            let error = await failure(target, within: .seconds(120))
            #expect(error?.code == .unsupportedVersion)
        }
    }
}
