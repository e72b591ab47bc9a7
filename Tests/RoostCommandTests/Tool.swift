import Foundation
import RoostTestSupport
import Testing

/// The built executable, run as a child process.
enum Tool {
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String

        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    struct NotBuilt: Error { var searched: [String] }

    /// Beside the test bundle, where the build puts both.
    private static func executable() throws -> URL {
        var directories = [URL(fileURLWithPath: CommandLine.arguments[0])]
        directories += Bundle.allBundles.map(\.bundleURL)
        if let main = Bundle.main.executableURL { directories.append(main) }
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        directories.append(package.appendingPathComponent(".build/debug/tests"))
        let candidates = directories.map {
            $0.deletingLastPathComponent().appendingPathComponent("roost")
        }
        for candidate in candidates
        where FileManager.default.isExecutableFile(atPath: candidate.path) {
            return candidate
        }
        throw NotBuilt(searched: candidates.map(\.path))
    }

    /// Runs the tool to its end. Its streams are files, so that no pipe can fill up.
    static func run(_ arguments: String..., input: String = "") async throws -> Outcome {
        try await run(arguments, input: input)
    }

    /// The tool, not started yet.
    static func process(_ arguments: String...) throws -> Process { try process(arguments) }

    static func process(_ arguments: [String]) throws -> Process {
        let process = Process()
        process.executableURL = try executable()
        process.arguments = arguments
        return process
    }

    static func run(_ arguments: [String], input: String = "") async throws -> Outcome {
        try await withTemporaryDirectory { path in
            let directory = URL(fileURLWithPath: path)
            let inputFile = directory.appendingPathComponent("input")
            let outputFile = directory.appendingPathComponent("output")
            let errorFile = directory.appendingPathComponent("errors")
            try Data(input.utf8).write(to: inputFile)
            for file in [outputFile, errorFile] { try Data().write(to: file) }
            let process = Process()
            process.executableURL = try executable()
            process.arguments = arguments
            process.standardInput = try FileHandle(forReadingFrom: inputFile)
            process.standardOutput = try FileHandle(forWritingTo: outputFile)
            process.standardError = try FileHandle(forWritingTo: errorFile)
            let status = try await status(of: process)
            return Outcome(
                status: status,
                output: String(decoding: try Data(contentsOf: outputFile), as: UTF8.self),
                errors: String(decoding: try Data(contentsOf: errorFile), as: UTF8.self))
        }
    }

    private static func status(of process: Process) async throws -> Int32 {
        try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { process in
                continuation.resume(returning: process.terminationStatus)
            }
            do { try process.run() } catch {
                process.terminationHandler = nil
                continuation.resume(throwing: error)
            }
        }
    }
}

/// Flips bits in the records of a workspace's first snapshot: it still opens.
func damageFirstSnapshot(of workspace: String) throws {
    let name = try #require(try fileNames(in: workspace, prefix: "snapshot-").first)
    var bytes = try readBytes("\(workspace)/\(name)")
    for offset in bytes.count / 4..<bytes.count / 4 + 8 { bytes[offset] ^= 0x55 }
    try writeBytes(bytes, to: "\(workspace)/\(name)")
}

/// The record lines of `count` values.
func lines(_ range: Range<Int>, value: (Int) -> String = { "\($0)" }) -> String {
    range.map { "{\"dictionary\":\"d\",\"key\":\"k\($0)\",\"value\":\(value($0))}\n" }.joined()
}
