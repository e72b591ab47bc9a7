import ArgumentParser
import Foundation
import Roost

/// `roost demo`: the whole life of a workspace on real records, measured as it goes.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Writes, is killed, recovers, compacts and reads, and prints what it took.",
        discussion: """
            Works in a temporary directory, which it removes. Every figure is measured in this \
            run. Exit status 3 where anything acknowledged is missing.
            """)

    @Option(help: "Records to import, as JSON Lines.", completion: .file())
    var fixture = "Fixtures/packages.jsonl"
    @Option(help: "How many integers, and how many structs, to write.")
    var count = 40_000
    @Option(help: "Kill the writing child after about this many acknowledged writes.")
    var killAfter = 5_000
    @Option(help: "How many whole-file writes of the comparison to measure.")
    var baselineCount = 80

    static let integerDictionaryName = "integers"
    static let structDictionaryName = "structs"

    static func key(_ index: Int) -> String { "key-\(index)" }

    func validate() throws {
        guard count >= 100, killAfter > 0, baselineCount > 0, baselineCount <= count else {
            throw ValidationError(
                "count is at least 100, kill-after at least 1, baseline-count 1 to count")
        }
    }

    func run() async throws {
        let directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("roost-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        do {
            var run = DemoRun(options: self, directory: directory.path)
            try await run.all()
        } catch {
            try FileManager.default.removeItem(at: directory)
            throw error
        }
        try FileManager.default.removeItem(at: directory)
    }
}
