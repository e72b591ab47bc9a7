import Roost
import RoostShared
import Testing

@testable import RoostEtcd

/// Members of other versions, and of another kind.
@Suite(.timeLimit(.minutes(5))) struct EtcdMemberTests {
    /// 3.6, and 3.5 from 3.5.28 on, tell it to nobody else: neither who connects nor who watches is to need it.
    @Test func whoMayNotAskForTheStatusIsLetIn() async throws {
        let server = try StubServer.etcd { request in
            switch request.kind {
            case .status:
                return [.refusal(status: 7, "etcdserver: permission denied")]
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
}
