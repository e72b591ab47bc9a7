import Foundation

/// A child process. Spawned directly, as thousands of them are.
struct WriterProcess {
    private let identifier: pid_t

    /// Starts this executable with `arguments`, by the program and the arguments in `launcher` where there are some.
    init(_ arguments: [String], through launcher: [String] = []) throws {
        guard let executable = Bundle.main.executablePath else {
            throw CrashFailure("this executable's path is unknown")
        }
        var pointers: [UnsafeMutablePointer<CChar>?] = (launcher + [executable] + arguments).map {
            strdup($0)
        }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var identifier: pid_t = 0
        let number = posix_spawn(
            &identifier, launcher.first ?? executable, nil, nil, pointers, environ)
        guard number == 0 else { throw CrashFailure("could not start a writer: error \(number)") }
        self.identifier = identifier
    }

    /// Whether it has ended, and how: `nil` while it runs.
    private func status() -> Int32? {
        var status: Int32 = 0
        return waitpid(identifier, &status, WNOHANG) == identifier ? status : nil
    }

    /// Looks without taking note of its end, which `kill` does.
    var isRunning: Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(identifier), &information, WEXITED | WNOHANG | WNOWAIT) == 0
            && information.si_signo == 0
    }

    /// Returns once it has ended by itself.
    func waitForEnd() async throws {
        while status() == nil { try await Task.sleep(for: .milliseconds(5)) }
    }

    /// Halts it where it stands, until it is to go on.
    func halt() { _ = Foundation.kill(identifier, SIGSTOP) }

    func goOn() { _ = Foundation.kill(identifier, SIGCONT) }

    /// Kills it; returns how it ended once it is gone.
    func kill() async throws -> Int32 {
        _ = Foundation.kill(identifier, SIGKILL)
        while true {
            if let status = status() { return status }
            try await Task.sleep(for: .microseconds(200))
        }
    }
}
