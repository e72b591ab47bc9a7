import Foundation
import RoostIO
import RoostShared
import Testing

@testable import RoostPostgres

/// What a call leaves behind in a real PostgreSQL: `scripts/shared-servers postgres -- swift test`.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ROOST_SERVERS"]?.hasPrefix("postgres") == true)
) struct PostgresAbandonedTests {
    private let address = ProcessInfo.processInfo.environment["ROOST_SERVERS"] ?? ""

    private func session() -> PostgresSession {
        PostgresSession(address, name: "test", isSerializable: false)
    }

    @discardableResult
    private func run(
        _ text: String, over session: PostgresSession, within duration: Duration = .seconds(60)
    ) async throws -> PostgresRows {
        try await CancellationFlag.with { flag in
            try await session.run(
                PostgresStatement(text, text), [], before: .now + duration, mayRepeat: true, flag)
        }
    }

    /// An operator has locked a table: each attempt of a call would leave a process that waits for it.
    @Test func aCallThatWasGivenUpLeavesNoProcess() async throws {
        let (locking, waiting, looking) = (session(), session(), session())
        // Before PostgreSQL 14 a server does not look for that.
        let known =
            "SELECT count(*) FROM pg_settings WHERE name = 'client_connection_check_interval'"
        guard try await run(known, over: looking).number(0, 0) == 1 else { return }
        let table = "abandoned_\(UInt32.random(in: 0 ... .max))"
        try await run("CREATE TABLE \(table) (a int)", over: locking)
        try await run("BEGIN", over: locking)
        try await run("LOCK TABLE \(table)", over: locking)
        let error = await #expect(throws: RoostError.self) {
            try await run("SELECT a FROM \(table)", over: waiting, within: .seconds(2))
        }
        #expect(error?.code == .unavailable)
        let left = """
            SELECT count(*) FROM pg_stat_activity
            WHERE query = 'SELECT a FROM \(table)' AND wait_event_type = 'Lock'
            """
        let end = ContinuousClock.now + .seconds(30)
        while try await run(left, over: looking).number(0, 0) != 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(100))
        }
        #expect(try await run(left, over: looking).number(0, 0) == 0)
        try await run("ROLLBACK", over: locking)
        try await run("DROP TABLE \(table)", over: locking)
        for session in [locking, waiting, looking] { await session.close() }
    }
}
