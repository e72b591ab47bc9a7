import Foundation
import RoostTestSupport
import Testing

@Suite struct DiskFullTests {
    /// Fills a small file system that a child process has for itself, where the system lets an
    /// ordinary user mount one.
    @Test(arguments: [3, 6, 20])
    func aFullDiskIsAClearErrorAndLosesNothing(sizeMebibytes: Int) async throws {
        try await withTemporaryDirectory { path in
            let script = """
                mount -t tmpfs -o size=\(sizeMebibytes)m tmpfs "$1" || exit 77
                exec "$2" "$1/data" 1 fill
                """
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = [
                "unshare", "-rm", "sh", "-c", script, "sh", path, CrashWriter.executable.path,
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let said = String(
                decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            guard process.terminationStatus != 77, process.terminationStatus != 127,
                !said.isEmpty || process.terminationStatus == 0
            else {
                print("skipped: this system does not let a user mount a file system")
                return
            }
            print("a disk of \(sizeMebibytes) MiB: \(said.split(separator: "\n"))")
            #expect(process.terminationStatus == 0)
            #expect(said.contains("full outOfSpace"))
            #expect(said.contains("kept all"))
        }
    }
}
