import Foundation
import Testing

/// A pseudo-terminal that a program runs in, and what it has written so far.
final class Terminal {
    struct Missing: Error, CustomStringConvertible {
        var description: String
    }

    private let leader: Int32
    private let follower: Int32
    private let home: String
    private var seen = ""

    init(home: String) throws {
        self.home = home
        typealias OpenTerminal =
            @convention(c) (
                UnsafeMutablePointer<Int32>, UnsafeMutablePointer<Int32>, UnsafeMutableRawPointer?,
                UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
            ) -> Int32
        // The C library's module does not show it on Linux.
        let address = try #require(dlsym(dlopen(nil, RTLD_NOW), "openpty"))
        let openTerminal = unsafeBitCast(address, to: OpenTerminal.self)
        var descriptors: (Int32, Int32) = (-1, -1)
        try #require(openTerminal(&descriptors.0, &descriptors.1, nil, nil, nil) == 0)
        (leader, follower) = descriptors
        _ = fcntl(leader, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(leader)
        close(follower)
    }

    /// Whether the system has a library that edits lines.
    var isEdited: Bool {
        let names = [
            "libedit.dylib", "libreadline.so.8", "libedit.so.2", "libreadline.so.7",
            "libreadline.so",
        ]
        return names.contains { (name: String) in dlopen(name, RTLD_LAZY) != nil }
    }

    func run(_ process: Process) throws {
        let handle = FileHandle(fileDescriptor: follower, closeOnDealloc: false)
        process.standardInput = handle
        process.standardOutput = handle
        process.standardError = handle
        var environment = ProcessInfo.processInfo.environment
        environment["TERM"] = "xterm"
        environment["HOME"] = home
        environment["ROOST_HISTORY"] = "\(home)/.history"
        process.environment = environment
        try process.run()
    }

    func send(_ keys: String) {
        let bytes = Array(keys.utf8)
        #expect(write(leader, bytes, bytes.count) == bytes.count)
    }

    /// Reads until `text` has come, and forgets what came up to its end.
    func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) throws {
        let end = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < end {
            if let found = seen.range(of: text) {
                seen.removeSubrange(..<found.upperBound)
                return
            }
            read()
        }
        throw Missing(description: "no \"\(text)\" in \"\(seen)\"")
    }

    func end(_ process: Process) async throws {
        let end = ContinuousClock.now + .seconds(120)
        while process.isRunning, ContinuousClock.now < end {
            read()
            try await Task.sleep(for: .milliseconds(10))
        }
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(leader, &bytes, bytes.count)
        if count > 0 {
            seen += String(decoding: bytes[..<count], as: UTF8.self)
        } else {
            usleep(5000)
        }
    }
}
