import Foundation
import RoostTestSupport

@testable import DocumentationBlocks

/// Programs that the build puts beside the tests.
enum Executable {
    struct Outcome {
        var status: Int32
        var output: String
        var errors: String
    }

    struct NotBuilt: Error { var name: String }

    static func beside(_ name: String) throws -> URL {
        var places = [URL(fileURLWithPath: CommandLine.arguments[0])]
        places += Bundle.allBundles.map(\.bundleURL)
        if let main = Bundle.main.executableURL { places.append(main) }
        places.append(Documents.root.appendingPathComponent(".build/debug/tests"))
        for place in places {
            let candidate = place.deletingLastPathComponent().appendingPathComponent(name)
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
        }
        throw NotBuilt(name: name)
    }

    /// Runs a program to its end. Its streams are files, so that no pipe can fill up.
    static func run(
        _ program: URL, _ arguments: [String], in directory: String, path: String? = nil
    ) async throws -> Outcome {
        try await withTemporaryDirectory { streams in
            let files = ["output", "errors"].map { URL(fileURLWithPath: "\(streams)/\($0)") }
            for file in files { try Data().write(to: file) }
            let process = Process()
            process.executableURL = program
            process.arguments = arguments
            process.currentDirectoryURL = URL(fileURLWithPath: directory)
            var environment = ProcessInfo.processInfo.environment
            environment["HOME"] = directory
            if let path { environment["PATH"] = path }
            process.environment = environment
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = try FileHandle(forWritingTo: files[0])
            process.standardError = try FileHandle(forWritingTo: files[1])
            let status: Int32 = try await withCheckedThrowingContinuation { continuation in
                process.terminationHandler = {
                    continuation.resume(returning: $0.terminationStatus)
                }
                do { try process.run() } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
            return Outcome(
                status: status,
                output: String(decoding: try Data(contentsOf: files[0]), as: UTF8.self),
                errors: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self))
        }
    }
}
