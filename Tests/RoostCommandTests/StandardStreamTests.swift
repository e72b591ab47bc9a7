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

    @Test func helpThatCannotBeWrittenIsAFailure() async throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        for arguments in [["help"], ["help", "get"], ["--version"]] {
            let process = try Tool.process(arguments)
            process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 5, "\(arguments)")
        }
    }

    /// Foundation says of these that "the operation could not be completed", and not of what.
    @Test(arguments: [["set", "w", "d", "k", "-"], ["import", "w"]], ["<&-", "</"])
    func inputThatCannotBeReadIsNamed(_ arguments: [String], _ redirection: String) async throws {
        try await withTemporaryDirectory { path in
            let errors = Pipe()
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.currentDirectoryURL = URL(fileURLWithPath: path)
            let tool = try #require(try Tool.process().executableURL)
            process.arguments = ["-c", "exec \"$0\" \"$@\" \(redirection)", tool.path] + arguments
            process.standardError = errors
            try process.run()
            let message = String(
                decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 5)
            #expect(message.contains("cannot read standard input: "), "\(message)")
            let reason = redirection == "</" ? EISDIR : EBADF
            #expect(message.contains(String(cString: strerror(reason))), "\(message)")
        }
    }

    /// It was the end of the input, with exit status 0.
    @Test(arguments: ["<&-", "</"])
    func aShellWhoseInputCannotBeReadFails(_ redirection: String) async throws {
        try await withTemporaryDirectory { path in
            let w = "\(path)/w"
            let imported = try await Tool.run("import", w, input: lines(0..<3))
            #expect(imported.status == 0)
            let unreadable = try await status(redirection, "shell", w)
            #expect(unreadable == 5)
            let empty = try await status("</dev/null", "shell", w)
            #expect(empty == 0)
        }
    }

    /// A line that goes on in the next one is taken back in part, and each update would leave one.
    @Test func progressStaysOnOneLineOfTheTerminal() {
        let line = ProgressBar(verb: "exporting").line(count: 1_000_000, fraction: 0.5, seconds: 40)
        #expect(ProgressBar.cut(line, toColumns: 0) == line)
        #expect(ProgressBar.cut(line, toColumns: 1000) == line)
        #expect(ProgressBar.cut(line, toColumns: 10) == "\r\u{1b}[Kexporting")
        #expect(ProgressBar.cut(line, toColumns: 1) == "\r\u{1b}[K")
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
