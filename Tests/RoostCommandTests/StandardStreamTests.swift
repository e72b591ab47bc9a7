import Foundation
import RoostTestSupport
import Testing

@testable import RoostCommand

/// Standard streams that nothing can be written to.
@Suite struct StandardStreamTests {
    /// Runs the tool with redirections of the shell's.
    private func status(_ redirections: String, _ arguments: String...) async throws -> Int32 {
        let tool = try #require(try Tool.process().executableURL)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec \"$0\" \"$@\" \(redirections)", tool.path] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test(arguments: ["2>/dev/full", "2>&-", "0<&- 2>&-"])
    func anErrorThatCannotBeToldKeepsTheExitStatus(_ redirections: String) async throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let imported = try await Tool.run("import", w, input: lines(0..<3))
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(try await status(redirections, "get", w, "d", "nosuch") == 1)
            #expect(try await status(redirections, "get", w) == 2)
            #expect(try await status(redirections, "get", w, "d", "k0") == 0)
            #expect(try await Tool.run("verify", w).status == 0)
        }
    }

    @Test func outputThatCannotBeWrittenIsAFailure() async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let imported = try await Tool.run("import", w, input: lines(0..<3))
            #expect(imported.status == 0, "\(imported.errors)")
            #expect(try await status(">&-", "get", w, "d", "k0") == 5)
            #expect(try await status("0<&- >&- 2>&-", "scan", w, "d") == 5)
            #expect(try await Tool.run("verify", w).status == 0)
        }
    }

    @Test(arguments: [Double.nan, .infinity])
    func aFractionThatIsNoNumberIsNotShown(_ fraction: Double) {
        let bar = ProgressBar(verb: "comparing")
        #expect(
            bar.line(count: 4, fraction: fraction, seconds: 2)
                == "\r\u{1b}[Kcomparing 4 records, 2 a second")
        #expect(bar.line(count: 4, fraction: 1, seconds: 2).contains("[########################] "))
    }
}
