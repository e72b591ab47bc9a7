import Foundation
import RoostIO
import RoostShared
import Testing

@testable import RoostPostgres

/// The tables of a database that has none yet, in a real PostgreSQL: `scripts/shared-servers postgres -- swift test`.
@Suite(
    .timeLimit(.minutes(5)), .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ROOST_SERVERS"]?.hasPrefix("postgres") == true)
) struct PostgresCreationTests {
    private let address = ProcessInfo.processInfo.environment["ROOST_SERVERS"] ?? ""

    private func run(_ texts: [String], _ address: String) async throws {
        let session = PostgresSession(address, name: "test", isSerializable: false)
        for (number, text) in texts.enumerated() {
            _ = try await CancellationFlag.with { flag in
                try await session.run(
                    PostgresStatement("test \(number)", text), [], before: .now + .seconds(60),
                    mayRepeat: true, flag)
            }
        }
        await session.close()
    }

    /// A client that begins at the same time is between two statements, or was killed there.
    @Test(arguments: 0..<PostgresSchema.creation.count)
    func aClientThatComesWhileTheyAreMadeConnects(madeCount: Int) async throws {
        let schema = "creation_\(UInt32.random(in: 0 ... .max))"
        try await run(["CREATE SCHEMA \(schema)"], address)
        let separator = address.contains("?") ? "&" : "?"
        let place = "\(address)\(separator)options=-csearch_path%3D\(schema)"
        try await run(Array(PostgresSchema.creation.prefix(madeCount)), place)
        let workspace = try await SharedWorkspace.connect(
            to: .postgres(place), namespace: "creation",
            configuration: .init(callDeadline: .seconds(60)))
        let values = workspace.dictionary("values")
        try await values.set(1, forKey: "a")
        #expect(try await values.load("a", as: Int.self) == 1)
        await workspace.close()
        try await run(["DROP SCHEMA \(schema) CASCADE"], address)
    }
}
