import Foundation

/// Another run of this program, with its standard output in a pipe.
final class ChildProcess {
    private let process = Process()
    private let pipe = Pipe()
    private var pending: [UInt8] = []

    init(_ arguments: [String]) throws {
        guard let executable = Bundle.main.executableURL else {
            throw DemoFailure("this program cannot find its own file")
        }
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = pipe
        try process.run()
    }

    /// The next whole line of what it prints; `nil` once it has ended and all is read. Blocks.
    func nextLine() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeFirst(end + 1) }
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            // Blocks until there is something, and gives nothing only at the end.
            let chunk = pipe.fileHandleForReading.availableData
            if chunk.isEmpty { return nil }
            pending.append(contentsOf: chunk)
        }
    }

    /// Ends it at whatever instruction it is.
    func killNow() { kill(process.processIdentifier, SIGKILL) }

    /// Waits for its end; whether it was ended by SIGKILL, and else its status.
    func wait() -> (wasKilled: Bool, status: Int32) {
        process.waitUntilExit()
        let wasKilled =
            process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGKILL
        return (wasKilled, process.terminationStatus)
    }
}
