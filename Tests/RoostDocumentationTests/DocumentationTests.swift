import Foundation
import Roost
import RoostTestSupport
import Testing

@testable import DocumentationBlocks

@Suite(.timeLimit(.minutes(10))) struct DocumentationTests {
    @Test func theGeneratedFilesAreWhatTheDocumentsSay() throws {
        for (path, text) in try Documents.generated {
            let file = Documents.root.appendingPathComponent(path)
            #expect(
                try String(contentsOf: file, encoding: .utf8) == text,
                "\(path) is not what the documents say: make blocks")
        }
        #expect(try DocumentationBlocks.leftovers() == [], "make blocks")
    }

    @Test func everySwiftAndShellBlockHasANameOfItsOwn() throws {
        let blocks = try Documents.blocks.filter { ["swift", "sh"].contains($0.language) }
        for block in blocks where block.name == nil {
            Issue.record("\(block.file):\(block.line): no comment says what this block is called")
        }
        let names = blocks.compactMap(\.name)
        #expect(Set(names).count == names.count)
        #expect(names.count >= 20)
    }

    @Test(arguments: Blocks.all.map(\.name)) func aBlockRuns(name: String) async throws {
        let block = try #require(Blocks.all.first { $0.name == name })
        try await withTemporaryDirectory { home in
            guard block.isWatching else { return try await block.run(home) }
            let watching = Task { try await block.run(home) }
            try await Task.sleep(for: .milliseconds(300))
            watching.cancel()
            do { try await watching.value } catch let error as RoostError
                where error.code == .cancelled
            {
                // As documented for a call of a cancelled task.
            } catch is CancellationError {
                // On a busy machine it has not come to its first call.
            }
        }
    }

    @Test func theFirstProgramPrintsWhatTheReadmeSays() async throws {
        let blocks = try Documents.blocks(of: "README.md")
        let output = try #require(blocks.first { $0.options.contains("output") })
        try await withTemporaryDirectory { home in
            let program = try Executable.beside("roost-first-program")
            for run in output.code.indices {
                let outcome = try await Executable.run(program, [], in: home)
                #expect(outcome.status == 0, "\(outcome.errors)")
                #expect(outcome.output == output.code[run] + "\n", "run \(run + 1)")
            }
        }
    }

    @Test func manifestsAreManifests() async throws {
        for block in try Documents.blocks where block.options.contains("manifest") {
            try await withTemporaryDirectory { home in
                let text = block.code.joined(separator: "\n")
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(home)/Package.swift"))
                let outcome = try await Executable.run(
                    URL(fileURLWithPath: "/usr/bin/env"), ["swift", "package", "dump-package"],
                    in: home)
                #expect(outcome.status == 0, "\(block.file):\(block.line): \(outcome.errors)")
                #expect(outcome.output.contains("\"roost\""))
            }
        }
    }

    @Test(
        arguments: try Documents.blocks.filter { $0.language == "sh" && $0.options.contains("run") }
            .map(\.name!))
    func aShellBlockRuns(name: String) async throws {
        let block = try #require(try Documents.blocks.first { $0.name == name })
        try await withTemporaryDirectory { home in
            let script =
                "set -eu\n" + (block.given + block.code + block.expected).joined(separator: "\n")
            let tool = try Executable.beside("roost")
            let path = "\(tool.deletingLastPathComponent().path):/usr/local/bin:/usr/bin:/bin"
            let outcome = try await Executable.run(
                URL(fileURLWithPath: "/bin/sh"), ["-c", script], in: home, path: path)
            #expect(
                outcome.status == 0,
                "\(block.file):\(block.line): \(outcome.output)\(outcome.errors)")
        }
    }

    @Test func linksLeadSomewhere() throws {
        for file in try Documents.files {
            let place = Documents.root.appendingPathComponent(file)
            let text = try String(contentsOf: place, encoding: .utf8)
            for match in text.matches(of: /\]\(([^)#\s]+)(#[^)]*)?\)/) {
                let target = String(match.output.1)
                if target.contains("://") { continue }
                let path = place.deletingLastPathComponent().appendingPathComponent(target).path
                #expect(FileManager.default.fileExists(atPath: path), "\(file): \(target)")
            }
        }
    }
}
