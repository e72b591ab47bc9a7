import Foundation
import Roost
import RoostTestSupport
import Testing

/// `roost watch` beside the process that writes.
@Suite struct WatchTests {
    private struct Note: Codable { var text: String }

    /// Runs the command until it ends, and meanwhile `body`.
    private func watch(
        _ arguments: [String], while body: () async throws -> Void
    ) async throws -> Tool.Outcome {
        async let outcome = Tool.run(arguments)
        try await body()
        return try await outcome
    }

    @Test func changesAreLinesOfJSONInCommitOrder() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let notes = workspace.dictionary("notes")
            try await notes.set(1, forKey: "before")
            let outcome = try await watch(
                ["watch", "\(path)/w", "notes", "--since", "0", "--limit", "6"]
            ) {
                try await notes.set(Note(text: "two\nlines"), forKey: "a")
                try await notes.set("b", forKey: "b")
                try await workspace.dictionary("other").set(1, forKey: "c")
                try await notes.removeValue(forKey: "b")
                try await workspace.write { batch in
                    batch.removeAll(in: notes)
                    batch.set(2.5, forKey: "d", in: notes)
                }
            }
            #expect(outcome.status == 0, "\(outcome.errors)")
            let lines = outcome.lines.map { $0.replacing(/,"version":\d+}$/, with: "}") }
            #expect(
                lines == [
                    #"{"change":"set","key":"before","value":1}"#,
                    #"{"change":"set","key":"a","value":{"text":"two\nlines"}}"#,
                    #"{"change":"set","key":"b","value":"b"}"#,
                    #"{"change":"removed","key":"b"}"#, #"{"change":"removedAll"}"#,
                    #"{"change":"set","key":"d","value":2.5}"#,
                ])
            let versions = outcome.lines.compactMap {
                $0.firstMatch(of: /"version":(\d+)}$/).flatMap { Int($0.1) }
            }
            #expect(versions.count == 6 && versions == versions.sorted())
            #expect(versions[4] == versions[5], "one batch has one version")
            try await workspace.close()
        }
    }

    @Test func onlyThePrefixIsToldAndSinceTakesUp() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let notes = workspace.dictionary("notes")
            for number in 1...9 { try await notes.set(number, forKey: "k\(number % 3)/\(number)") }
            let first = try await Tool.run(
                "watch", "\(path)/w", "notes", "--prefix", "k1/", "--since", "0", "--limit", "2")
            #expect(first.status == 0, "\(first.errors)")
            #expect(first.lines.count == 2)
            #expect(first.lines.allSatisfy { $0.contains("\"key\":\"k1/") })
            let version = try #require(
                first.lines.last?.firstMatch(of: /"version":(\d+)}$/).map { String($0.1) })
            let rest = try await Tool.run(
                "watch", "\(path)/w", "notes", "--prefix", "k1/", "--since", version, "--limit",
                "1")
            #expect(rest.lines.count == 1)
            #expect(rest.lines[0].contains("\"key\":\"k1/7\""))
            #expect(try await Tool.run("watch", "\(path)/w", "notes", "--limit", "0").status == 2)
            try await workspace.close()
        }
    }

    @Test func aTerminalShowsChangesWhileTheyAreMade() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let notes = workspace.dictionary("notes")
            try await notes.set("first", forKey: "a")
            let terminal = try Terminal(home: path)
            let process = try Tool.process("watch", "\(path)/w", "notes", "--since", "0")
            try terminal.run(process)
            try terminal.expect(#"{"change":"set","key":"a","value":"first","#)
            try await notes.set("second", forKey: "b")
            try terminal.expect(#"{"change":"set","key":"b","value":"second","#)
            process.interrupt()
            try await terminal.end(process)
            #expect(process.terminationReason == .uncaughtSignal)
            try await workspace.close()
        }
    }

    /// Where there can be no more changes, that is said, and the exit status is the error's.
    @Test func whatEndsTheFollowingEndsTheCommandWithItsReason() async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(at: "\(path)/w")
            let notes = workspace.dictionary("notes")
            try await notes.set(1, forKey: "a")
            let terminal = try Terminal(home: path)
            let process = try Tool.process("watch", "\(path)/w", "notes", "--since", "0")
            try terminal.run(process)
            try terminal.expect(#""key":"a","value":1"#)
            // What is committed while it stands still is damaged before it reads that.
            kill(process.processIdentifier, SIGSTOP)
            // The signal only asks for it, and what was read before is shown as it was.
            var stopped = siginfo_t()
            let waited = waitid(
                P_PID, id_t(process.processIdentifier), &stopped, WSTOPPED | WNOWAIT)
            #expect(waited == 0)
            try await notes.set("the second value", forKey: "b")
            let log = URL(fileURLWithPath: "\(path)/w/log-000000000001")
            let place = try #require(try Data(contentsOf: log).range(of: Data("second".utf8)))
            let file = try FileHandle(forWritingTo: log)
            try file.seek(toOffset: UInt64(place.lowerBound))
            try file.write(contentsOf: Data("SECOND".utf8))
            try file.close()
            kill(process.processIdentifier, SIGCONT)
            try terminal.expect("roost: corrupt: ")
            try await terminal.end(process)
            #expect(process.terminationReason == .exit && process.terminationStatus == 3)
            // The writer has it in memory, and reports nothing.
            try await workspace.close()
        }
    }
}
