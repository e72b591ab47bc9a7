import RoostIO
import RoostShared
import Testing

@testable import RoostEtcd

/// How connections to etcd are used.
@Suite(.timeLimit(.minutes(5))) struct EtcdConnectionTests {
    /// Calls are numbered, and a connection has no number left after some days of many.
    @Test func aConnectionThatHasHadAllItsCallsIsReplaced() async throws {
        let server = try StubServer.etcd(version: "3.5.9")
        defer { server.stop() }
        let endpoints = try EtcdEndpoints(
            ["http://127.0.0.1:\(server.port)"], .none, callLimit: 3)
        let caller = EtcdCaller(endpoints: endpoints)
        for _ in 0..<10 {
            let status: StatusResponse = try await caller.call(
                .status, StatusRequest(), before: .now + .seconds(60))
            #expect(status.version == "3.5.9")
        }
        #expect(server.connectionCount >= 4)
        await endpoints.close()
    }
}
