import Foundation
import RoostIO
import RoostShared
import Testing

@testable import RoostPostgres

/// What is removed from a real PostgreSQL, beside clients that write: `scripts/shared-servers postgres -- swift test`.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ROOST_SERVERS"]?.hasPrefix("postgres") == true)
) struct PostgresSweeperTests {
    private let address = ProcessInfo.processInfo.environment["ROOST_SERVERS"] ?? ""

    private func connect() async throws -> SharedWorkspace {
        try await SharedWorkspace.connect(
            to: .postgres(address), namespace: "sweeper-\(UInt32.random(in: 0 ... .max))")
    }

    private func number(_ text: String) async throws -> UInt64? {
        let session = PostgresSession(address, name: "test", isSerializable: false)
        let rows = try await CancellationFlag.with { flag in
            try await session.run(
                PostgresStatement("test", text), [], before: .now + .seconds(60), mayRepeat: true,
                flag)
        }
        await session.close()
        return rows.number(0, 0)
    }

    /// Old changes are forgotten while eight clients write, none of which waits for it.
    @Test func oldChangesAreForgottenUnderLoad() async throws {
        let workspace = try await connect()
        let values = workspace.dictionary("values")
        for first in stride(from: 0, to: 20_000, by: 500) {
            try await values.setAll((first..<first + 500).map { ("k\($0)", $0) })
        }
        try await values.removeAll()
        try await values.removeValue(forKey: "never there")
        let before = try await workspace.revision
        let writers = Task {
            try await withThrowingTaskGroup(of: Duration.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        var longest = Duration.zero
                        var number = 0
                        while !Task.isCancelled {
                            let begin = ContinuousClock.now
                            do {
                                try await values.set(number, forKey: "w\(writer)")
                            } catch let error as RoostError where error.code == .cancelled { break }
                            longest = max(longest, .now - begin)
                            number += 1
                        }
                        return longest
                    }
                }
                return try await group.reduce(.zero) { max($0, $1) }
            }
        }
        try await Task.sleep(for: .milliseconds(300))
        let sweeper = PostgresSweeper(address)
        let begin = ContinuousClock.now
        try await sweeper.trim(keeping: 100)
        let duration = ContinuousClock.now - begin
        writers.cancel()
        let longest = try await writers.value
        print("forgotten in \(duration), the longest write took \(longest)")
        #expect(longest < .seconds(30))
        #expect(
            try await number("SELECT count(*) FROM roost_changes WHERE revision <= \(before)") == 0)
        #expect(try await number("SELECT trimmed FROM roost_revision WHERE id = 1") ?? 0 >= before)
        let keys = "key >= '\(workspace.namespace)/' AND key < '\(workspace.namespace)0'"
        #expect(
            try await number("SELECT count(*) FROM roost_keys WHERE value IS NULL AND \(keys)") == 0
        )
        #expect(try await values.count == 8)
        await sweeper.close()
        await workspace.close()
    }

    /// More than one round removes has expired at once.
    @Test func whatExpiresAtOnceIsRemovedAtOnce() async throws {
        let workspace = try await connect()
        let values = workspace.dictionary("values")
        for number in 0..<1500 {
            try await values.set(number, forKey: "k\(number)", expiresIn: .seconds(1))
        }
        let keys =
            "key >= '\(workspace.namespace)/values/' AND key < '\(workspace.namespace)/values0'"
        let statement = "SELECT count(*) FROM roost_keys WHERE value IS NOT NULL AND \(keys)"
        let end = ContinuousClock.now + .seconds(60)
        var left = try await number(statement)
        while left != 0, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(100))
            left = try await number(statement)
        }
        #expect(left == 0)
        await workspace.close()
    }
}
