import Foundation
import RoostTestSupport
import Testing

@testable import RoostCommand

/// What is not UTF-8 is refused: with a mark in the place of its bytes, different texts would be one.
@Suite struct UnicodeTests {
    /// Runs a line of the shell, in which $1 is the tool and $2 the directory.
    private func run(_ line: String, _ path: String) throws -> (status: Int32, errors: String) {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = [
            "-c", line, "sh", try #require(try Tool.process().executableURL?.path), path,
        ]
        let errors = Pipe()
        shell.standardError = errors
        shell.standardOutput = FileHandle.nullDevice
        try shell.run()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        shell.waitUntilExit()
        return (shell.terminationStatus, String(decoding: said, as: UTF8.self))
    }

    @Test(arguments: [
        #""$1" set "$2/w" s "$(printf '\377')" 1"#, #""$1" set "$2/w" "$(printf '\377')" k 1"#,
        #""$1" set "$2/w" s k --string "$(printf 'a\303')""#,
        #"printf '\376' | "$1" set "$2/w" s k --string -"#,
    ])
    func anArgumentThatIsNotUnicodeIsRefused(_ line: String) async throws {
        try await withTemporaryDirectory { path in
            let outcome = try run(line, path)
            #expect(outcome.status == 2 && outcome.errors.contains("is not UTF-8"), "\(outcome)")
            #expect(!FileManager.default.fileExists(atPath: "\(path)/w"))
        }
    }

    @Test func aLineOfTheShellThatIsNotUnicodeIsRefused() async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("set", "\(path)/w", "d", "k", "1").status == 0)
            let outcome = try run(
                #"printf 'use d\nset \377 2\nset l 3\n' | "$1" shell "$2/w""#, path)
            #expect(outcome.status == 2 && outcome.errors.contains("is not UTF-8"), "\(outcome)")
            #expect(try await Tool.run("keys", "\(path)/w", "d").lines == ["k"])
        }
    }

    @Test func linesOfTheShellMayEndAsOnOtherSystemsAndBeLong() async throws {
        try await withTemporaryDirectory { path in
            #expect(try await Tool.run("set", "\(path)/w", "d", "k", "1").status == 0)
            let long = String(repeating: "é", count: 20_000)
            let outcome = try await Tool.run(
                "shell", "\(path)/w", input: "use d\r\n\r\nset l \"\(long)\"\nget l\nget k")
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(outcome.lines == [long, "1"])
        }
    }

    @Test func theFirstLineOfASecretIsThereAndIsUnicode() async throws {
        try await withTemporaryDirectory { path in
            let file = "\(path)/words"
            for (bytes, reason) in [
                ([0x70, 0xff], "not UTF-8"), ([], "empty"), ([0x0a, 0x70], "empty"),
                ([0x0d, 0x0a], "empty"),
            ] as [([UInt8], String)] {
                try writeBytes(bytes, to: file)
                let failure = #expect(throws: Failure.self) { try InputFile.secret(in: file) }
                #expect(failure?.status == .usage)
                #expect(failure?.message?.contains(reason) == true, "\(bytes)")
            }
            try writeBytes(Array("my wörds\r\nand more".utf8), to: file)
            #expect(try InputFile.secret(in: file) == "my wörds")
        }
    }
}
