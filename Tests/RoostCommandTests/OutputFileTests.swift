import Foundation
import RoostTestSupport
import Testing

@testable import RoostCommand

/// What `export` writes is there whole under its name, or what was there before is.
@Suite struct OutputFileTests {
    private func filled(_ path: String) async throws -> String {
        let imported = try await Tool.run("import", "\(path)/w", input: lines(0..<300))
        #expect(imported.status == 0, "\(imported.errors)")
        return "\(path)/w"
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
    }

    @Test func anExportThatFailsLeavesTheFileAsItWas() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            #expect(try await Tool.run("compact", w).status == 0)
            try damageFirstSnapshot(of: w)
            try writeBytes(Array("keep\n".utf8), to: "\(path)/out")
            let damaged = try await Tool.run("export", w, "\(path)/out")
            #expect(damaged.status == 3, "\(damaged.errors)")
            #expect(try text("\(path)/out") == "keep\n")
            #expect(try await Tool.run("export", w, "\(path)/new").status == 3)
            let names = try FileManager.default.contentsOfDirectory(atPath: path).sorted()
            #expect(names == ["out", "w"], "nothing is left of what failed")
        }
    }

    @Test func aLinkAndTheModeOfWhatIsReplacedStay() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            try writeBytes(Array("old\n".utf8), to: "\(path)/real")
            #expect(chmod("\(path)/real", 0o640) == 0)
            #expect(symlink("\(path)/real", "\(path)/link") == 0)
            try writeBytes(Array("of one that was killed".utf8), to: "\(path)/real.incomplete")
            let exported = try await Tool.run("export", w, "\(path)/link")
            #expect(exported.status == 0, "\(exported.errors)")
            #expect(try text("\(path)/real").hasPrefix(#"{"dictionary":"d","key":"k0","#))
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/real")
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "\(path)/link")
                    == "\(path)/real")
            #expect(!FileManager.default.fileExists(atPath: "\(path)/real.incomplete"))
        }
    }

    @Test func aFileThatAnotherCommandIsWritingIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            let first = try OutputFile(path: "\(path)/out")
            try first.handle.write(contentsOf: Data("first\n".utf8))
            let second = try await Tool.run("export", w, "\(path)/out")
            #expect(second.status == 5)
            #expect(second.errors.contains("another command is writing it"), "\(second.errors)")
            #expect(throws: Failure.self) { try OutputFile(path: "\(path)/out") }
            try first.complete()
            #expect(try text("\(path)/out") == "first\n")
            #expect(try await Tool.run("export", w, "\(path)/out").status == 0)
            #expect(try text("\(path)/out").hasPrefix(#"{"dictionary":"d","key":"k0","#))
        }
    }

    @Test func aDeviceIsWrittenAsItIs() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            #expect(try await Tool.run("export", w, "/dev/null").status == 0)
            #expect(!FileManager.default.fileExists(atPath: "/dev/null.incomplete"))
        }
    }

    /// A file took its place, without what stood in it, and one without a name had another at /dev/stdout.
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/dev/fd/3"])
    func whatIsOpenAlreadyIsWrittenWhereItStands(_ name: String) async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            try writeBytes(Array("before\n".utf8), to: "\(path)/log")
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            let tool = try #require(try Tool.process().executableURL)
            process.arguments = [
                "-c", "exec \"$0\" export \"$1\" \"$2\" >> \"$3\" 3>&1", tool.path, w, name,
                "\(path)/log",
            ]
            process.standardInput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            let text = try text("\(path)/log")
            #expect(text.hasPrefix("before\n{\"dictionary\":\"d\",\"key\":\"k0\","))
            #expect(text.split(separator: "\n").count == 301)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["log", "w"])
        }
    }

    @Test func aWorkspacesOwnFilesAreNotReplaced() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            #expect(symlink("\(w)/MANIFEST", "\(path)/link") == 0)
            for place in ["\(w)/MANIFEST", "\(path)/link", "\(w)/snapshot-000000000009"] {
                let refused = try await Tool.run("export", w, place)
                #expect(refused.status == 2, "\(refused.errors)")
                #expect(refused.errors.contains("a workspace's own file"), "\(refused.errors)")
            }
            #expect(try await Tool.run("verify", w).status == 0)
        }
    }

    @Test func aDictionaryThatIsNotThereIsNotFound() async throws {
        try await withTemporaryDirectory { path in
            let w = try await filled(path)
            for arguments in [
                ["export", w, "\(path)/out"], ["export", w], ["copy", w, "\(path)/c"],
            ] {
                let outcome = try await Tool.run(arguments + ["--dictionary", "nosuch"])
                #expect(outcome.status == 1, "\(arguments): \(outcome.errors)")
                #expect(outcome.errors.contains("nosuch"), "\(outcome.errors)")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["w"])
        }
    }
}
