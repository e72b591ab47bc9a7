import Foundation
import RoostTestSupport
import Testing

@testable import RoostCommand

/// Files that a command reads whole may be pipes.
@Suite struct InputFileTests {
    @Test(arguments: [
        ("json", #"[{"id":"a"},{"id":"b"}]"#), ("csv", "id\na\nb\n"),
        ("jsonl", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"),
        (
            "plist",
            #"<?xml version="1.0"?><plist version="1.0"><dict><key>a</key><true/><key>b</key><true/></dict></plist>"#
        ),
    ])
    func anImportReadsPipes(_ format: String, _ text: String) async throws {
        try await withTemporaryDirectory { path in
            try writeBytes(Array(text.utf8), to: "\(path)/in")
            let roost = try #require(try Tool.process().executableURL?.path)
            let shell = Process()
            shell.executableURL = URL(fileURLWithPath: "/bin/sh")
            shell.arguments = [
                "-c",
                """
                cat "$2/in" | "$1" import "$2/w" /dev/stdin --format \(format) --into X &&
                mkfifo "$2/pipe" && { cat "$2/in" > "$2/pipe" & } &&
                "$1" import "$2/w" "$2/pipe" --format \(format) --into Y
                """, "sh", roost, path,
            ]
            try shell.run()
            shell.waitUntilExit()
            #expect(shell.terminationStatus == 0)
            for name in ["X", "Y"] {
                #expect(try await Tool.run("keys", "\(path)/w", name).lines.count == 2, "\(name)")
            }
        }
    }

    @Test func aPipeThatIsReadTwiceGivesTheSameAgain() async throws {
        try await withTemporaryDirectory { path in
            let pipe = "\(path)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            Thread.detachNewThread {
                let handle = FileHandle(forWritingAtPath: pipe)
                try? handle?.write(contentsOf: Data("my words\n".utf8))
                try? handle?.close()
            }
            for _ in 0..<2 {
                let read = try InputFile.contents(of: pipe)
                #expect(read == Data("my words\n".utf8))
            }
        }
    }

    @Test func aKeyIsNotReadFromWhatHasNoEnd() throws {
        #expect(throws: Failure.self) { try InputFile.shortContents(of: "/dev/zero") }
        #expect(throws: Failure.self) { try InputFile.secret(in: "/dev/zero") }
    }

    @Test func whyAFileCannotBeReadIsSaid() async throws {
        try await withTemporaryDirectory { path in
            for (place, reason) in [("\(path)/none", "No such file"), (path, "a directory")] {
                let outcome = try await Tool.run(
                    "import", "\(path)/w", place, "--format", "json", "--into", "X")
                #expect(outcome.status == 2 && outcome.errors.contains(reason), "\(outcome.errors)")
            }
        }
    }

    @Test func anEmptyVariableNamesNoKey() async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("set", "\(path)/w", "d", "k", "1").status == 0)
            let process = try Tool.process("get", "\(path)/w", "d", "k")
            process.environment = ["ROOST_KEY_FILE": "", "ROOST_PASSPHRASE_FILE": ""]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }
}
