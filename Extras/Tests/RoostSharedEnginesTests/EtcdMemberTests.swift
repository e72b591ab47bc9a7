import Roost
import RoostShared
import Synchronization
import Testing

@testable import RoostEtcd

/// Members of other versions, and of another kind.
@Suite(.timeLimit(.minutes(5))) struct EtcdMemberTests {
    /// 3.6, and 3.5 from 3.5.28 on, tell it to administrators alone: neither who connects nor who watches is to need it.
    @Test(arguments: [(7, "etcdserver: permission denied"), (2, "auth: permission denied")])
    func whoMayNotAskForTheStatusIsLetIn(status: Int, message: String) async throws {
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .status:
                return [.refusal(status: status, message)]
            case .createWatch:
                return [
                    EtcdMessage.created(request.watch, revision: 60),
                    EtcdMessage.removals(request.watch, of: "test/values/n", at: 51...60),
                ].map { .message($0) }
            default: return EtcdFaultTests.usual(request, revision: 60)
            }
        }
        defer { server.stop() }
        let workspace = try await SharedWorkspace.connect(
            to: .etcd(
                endpoints: ["http://127.0.0.1:\(server.port)"],
                credentials: .none.user("test-user", password: "secret")),
            namespace: "test", configuration: .init(callDeadline: .seconds(120)))
        var versions: [UInt64] = []
        for await change in workspace.dictionary("values").changes(as: Int.self, since: 50) {
            versions.append(change.version ?? 0)
            if versions.count == 10 { break }
        }
        #expect(versions == Array(51...60))
        // Each of the versions that do so says rightly how far it is.
        #expect(EtcdVersion.withheld.tellsProgress)
        await workspace.close()
    }

    /// The first releases of 3.1 withheld it too; a call of later ones tells them apart.
    @Test func anOldMemberThatWithholdsItsStatusIsRefused() async throws {
        let askedCount = Mutex(0)
        let server = try StubServer.etcd { _ in
            let isFirst = askedCount.withLock { count in
                count += 1
                return count == 1
            }
            return [
                isFirst
                    ? .refusal(status: 2, "auth: permission denied")
                    : .refusal(status: 12, "unknown method HashKV")
            ]
        }
        defer { server.stop() }
        let endpoints = try EtcdEndpoints(["http://127.0.0.1:\(server.port)"], .none)
        let error = await #expect(throws: RoostError.self) {
            try await EtcdCaller(endpoints: endpoints).checkVersion(before: .now + .seconds(60))
        }
        #expect(error?.code == .unsupportedVersion)
        await endpoints.close()
    }

    /// One that is new in its cluster refuses before it has begun: no outcome is unknown. The code is another in 3.6.
    @Test(arguments: [14, 9]) func aWriteThatALearnerRefusesIsMadeByAnother(status: Int)
        async throws
    {
        let askedCount = Mutex(0)
        let learner = try StubServer.etcd { _ in
            askedCount.withLock { $0 += 1 }
            return [.refusal(status: status, "etcdserver: rpc not supported for learner")]
        }
        // That the transaction has succeeded.
        let voter = try StubServer.etcd { _ in [.message([0x10, 1])] }
        defer { for server in [learner, voter] { server.stop() } }
        var request = TransactionRequest()
        request.success = [.put(key: Array("n".utf8), value: [1], lease: 0)]
        // Which of them is asked first is left to chance.
        for _ in 0..<100 where askedCount.withLock({ $0 == 0 }) {
            let endpoints = try EtcdEndpoints(
                [learner, voter].map { "http://127.0.0.1:\($0.port)" }, .none)
            let response: TransactionResponse = try await EtcdCaller(endpoints: endpoints).call(
                .transaction, request, before: .now + .seconds(60), mayRepeat: false)
            #expect(response.succeeded)
            await endpoints.close()
        }
        #expect(askedCount.withLock { $0 } > 0)
    }
}
