import Roost
import RoostEtcd
import RoostShared
import Synchronization
import Testing

/// What a client does where a member of etcd says less than it should, later, or in another order.
@Suite(.timeLimit(.minutes(5))) struct EtcdFaultTests {
    /// The answers of a member that has nothing but the namespace; none to what each test answers itself.
    private static func usual(_ request: EtcdRequest, revision: Int64 = 1) -> [EtcdAnswer] {
        switch request.kind {
        case .status: [.message(EtcdMessage.status("3.5.9"))]
        case .range:
            [
                .message(
                    EtcdMessage.range(
                        request.isOfFormat ? [("test/%format", "roost 1")] : [], revision: revision)
                )
            ]
        case .grantLease: [.message(EtcdMessage.lease(7))]
        case .authenticate: [.message(EtcdMessage.token("token-\(request.connection)"))]
        default: []
        }
    }

    private func connect(
        _ servers: StubServer..., credentials: EtcdCredentials = .none,
        callDeadline: Duration = .seconds(10)
    ) async throws -> SharedWorkspace {
        try await .connect(
            to: .etcd(
                endpoints: servers.map { "http://127.0.0.1:\($0.port)" }, credentials: credentials),
            namespace: "test", configuration: .init(callDeadline: callDeadline))
    }

    // MARK: Calls

    /// The outcome of a write that is not answered in its short time is unknown; the next one asks another member.
    @Test func aWriteThatIsNotAnsweredIsTheLastOfItsConnection() async throws {
        let counts = Mutex([0, 0])
        func server(_ number: Int) throws -> StubServer {
            try .etcd { request in
                if request.kind == .transaction { counts.withLock { $0[number] += 1 } }
                return Self.usual(request)
            }
        }
        let (one, two) = (try server(0), try server(1))
        defer { for server in [one, two] { server.stop() } }
        let workspace = try await connect(one, two)
        let values = workspace.withCallDeadline(.seconds(1)).dictionary("values")
        for _ in 0..<3 {
            let error = await #expect(throws: RoostError.self) {
                try await values.set(1, forKey: "n")
            }
            #expect(error?.code == .unknownOutcome)
        }
        #expect(counts.withLock { $0.allSatisfy { $0 > 0 } })
        await workspace.close()
    }

    /// Who begins to ask for a lease waits no longer than those who come after it.
    @Test func aWriteThatWaitsForItsLeaseIsCancelled() async throws {
        let asked = Mutex(false)
        let server = try StubServer.etcd { request in
            guard request.kind == .grantLease else { return Self.usual(request) }
            asked.withLock { $0 = true }
            return []
        }
        defer { server.stop() }
        let workspace = try await connect(server, callDeadline: .seconds(20))
        let write = Task {
            try await workspace.dictionary("values").set(
                1, forKey: "n", expiresIn: .seconds(977))
        }
        while !asked.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(5)) }
        let begin = ContinuousClock.now
        write.cancel()
        let error = await #expect(throws: RoostError.self) { try await write.value }
        #expect(error?.code == .cancelled)
        #expect(.now - begin < .seconds(2))
        await workspace.close()
    }

    // MARK: Watching

    /// The versions of so many changes of `values` after version 50.
    private func versions(_ workspace: SharedWorkspace, count: Int) async -> [UInt64] {
        var versions: [UInt64] = []
        for await change in workspace.dictionary("values").changes(as: Int.self, since: 50) {
            versions.append(change.version ?? 0)
            if versions.count == count { break }
        }
        return versions
    }

    /// A token that has run out is that of the stream too, over which there may have been watches for long.
    @Test func aWatchBeginsWithATokenThatHasNotRunOut() async throws {
        let hasRunOut = Mutex(false)
        let server = try StubServer.etcd { request in
            let isRefused = request.connection == 1 && hasRunOut.withLock { $0 }
            switch request.kind {
            case .createWatch where isRefused:
                return [
                    .message(EtcdMessage.refused(request.watch, "etcdserver: permission denied"))
                ]
            case .createWatch:
                return [
                    EtcdMessage.created(request.watch, revision: 60),
                    EtcdMessage.removals(request.watch, of: "test/values/n", at: 51...60),
                ].map { .message($0) }
            default:
                if request.isCall, isRefused {
                    return [.refusal(status: 16, "etcdserver: invalid auth token")]
                }
                return Self.usual(request, revision: 60)
            }
        }
        defer { server.stop() }
        let workspace = try await connect(
            server, credentials: .none.user("test-user", password: "secret"))
        let first = Task { await versions(workspace, count: 20) }
        #expect(await versions(workspace, count: 10) == Array(51...60))
        hasRunOut.withLock { $0 = true }
        #expect(await versions(workspace, count: 10) == Array(51...60))
        first.cancel()
        _ = await first.value
        await workspace.close()
    }
}
