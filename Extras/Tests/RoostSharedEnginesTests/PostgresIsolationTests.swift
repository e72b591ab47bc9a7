import Foundation
import RoostIO
import RoostShared
import Testing

@testable import RoostPostgres

/// Commits of a real PostgreSQL: `scripts/shared-servers postgres -- swift test`.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ROOST_SERVERS"]?.hasPrefix("postgres") == true)
) struct PostgresIsolationTests {
    private let address = ProcessInfo.processInfo.environment["ROOST_SERVERS"] ?? ""

    /// As over a pooler that gives each transaction another connection, which knows nothing of what the session has set.
    @Test func aCommitThatWouldNotBeSerializableIsRefused() async throws {
        let namespace = "isolation-\(UInt32.random(in: 0 ... .max))"
        let workspace = try await SharedWorkspace.connect(
            to: .postgres(address), namespace: namespace,
            configuration: .init(callDeadline: .seconds(60)))
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "a")
        let key = Array("\(namespace)/values/b".utf8)
        let commit = SharedCommit(
            guards: [.key(key, revision: 0)],
            operations: [.put(key: key, value: [1], expiresIn: nil)])
        let session = PostgresSession(address, name: "test", isSerializable: false)
        let error = await #expect(throws: RoostError.self) {
            try await CancellationFlag.with { flag in
                _ = try await session.run(
                    PostgresSchema.commit, commit.parameters, before: .now + .seconds(60),
                    mayRepeat: false, flag)
            }
        }
        #expect(error?.code == .unsupportedVersion)
        #expect(error?.message.contains("read committed is not serializable") == true)
        #expect(try await values.keys().collected() == ["a"])
        await session.close()
        await workspace.close()
    }
}

extension AsyncSequence {
    fileprivate func collected() async throws -> [Element] {
        var all: [Element] = []
        for try await element in self { all.append(element) }
        return all
    }
}
