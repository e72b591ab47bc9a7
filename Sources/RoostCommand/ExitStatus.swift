import ArgumentParser
import Foundation
import Roost

/// What the process ends with; scripts rely on the numbers.
enum ExitStatus: Int32 {
    case done = 0
    case notFound = 1
    /// The arguments, or the lines of an import, are not what they should be.
    case usage = 2
    case damaged = 3
    case locked = 4
    /// Any other `RoostError`, or an error of the operating system.
    case failed = 5
}

/// What ends a command early.
struct Failure: Error {
    var status: ExitStatus
    /// For standard error; `nil` where everything has been said.
    var message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    /// `nil` for ArgumentParser's own errors.
    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as RoostError:
            let status: ExitStatus =
                switch error.code {
                case .corrupt: .damaged
                case .locked: .locked
                default: .failed
                }
            self.init(status, error.description)
        case is ValidationError, is CleanExit, is ExitCode: return nil
        case let error as CocoaError: self.init(.failed, error.localizedDescription)
        case let error as POSIXError: self.init(.failed, error.localizedDescription)
        case let error where RoostTool.exitCode(for: error) == .failure:
            self.init(.failed, "\(error)")
        default: return nil
        }
    }
}

/// Writes one line to standard error, without what a terminal would take for a command to it.
func printError(_ message: String) {
    let line = visible(message.split(whereSeparator: \.isNewline).joined(separator: " "))
    writeError("roost: \(line)\n")
}

/// Writes to standard error. What cannot be written there, as where its disk is full, is passed over: there is
/// no other place to tell of it, and the exit status, which scripts rely on, has to be that of the command.
func writeError(_ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
    }
}
