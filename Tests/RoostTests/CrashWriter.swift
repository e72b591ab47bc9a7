import Foundation

/// A running child process that writes to a workspace; see Tests/CrashWriter.
final class CrashWriter {
    private let process = Process()
    private let output = Pipe()
    private var rest = Data()
    private(set) var lines: [String] = []

    /// Built beside the tests.
    static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("roost-crash-writer")

    init(_ path: String, first: Int = 1, mode: String) throws {
        process.executableURL = Self.executable
        process.arguments = [path, "\(first)", mode]
        process.standardOutput = output
        // Of a process that is meant to end by a signal nobody wants to read where it stood.
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["SWIFT_BACKTRACE": "enable=no"]
        ) { $1 }
        try process.run()
        // Only the child writes, so that its end is the end of the pipe.
        try output.fileHandleForWriting.close()
    }

    /// Reads until `count` lines are there or the child has ended; `false` at its end.
    @discardableResult
    func read(lineCount count: Int) -> Bool {
        while lines.count < count {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return false }
            rest.append(more)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                rest = Data(rest[(end + 1)...])
            }
        }
        return true
    }

    /// Kills the child and reads what it had said.
    func kill() {
        Foundation.kill(process.processIdentifier, SIGKILL)
        while read(lineCount: lines.count + 1) {}
        process.waitUntilExit()
    }

    /// To be asked once it has ended.
    var wasEndedBySignal: Bool { process.terminationReason == .uncaughtSignal }

    func waitForEnd() -> Int32 {
        while read(lineCount: lines.count + 1) {}
        process.waitUntilExit()
        return process.terminationStatus
    }
}
