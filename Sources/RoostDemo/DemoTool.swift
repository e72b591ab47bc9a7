import ArgumentParser
import Foundation

/// `make demo`: the whole life of a workspace on real records, measured as it goes. A program of its own, which
/// builds little more than the library.
@main
struct DemoTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost-demo",
        abstract: "Shows what a workspace goes through.",
        subcommands: [DemoCommand.self, WriterCommand.self, ReaderCommand.self],
        defaultSubcommand: DemoCommand.self)
}

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Writes, is killed, recovers, compacts and reads, and prints what it took.",
        discussion: """
            Works in a temporary directory, which it removes. Every figure is measured in this \
            run. Exit status 3 where anything acknowledged is missing.
            """)

    @Option(help: "Records to store, as JSON Lines.", completion: .file())
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
        let outcome: Result<Void, any Error>
        do {
            var run = DemoRun(options: self, directory: directory.path)
            try await run.all()
            outcome = .success(())
        } catch { outcome = .failure(error) }
        try FileManager.default.removeItem(at: directory)
        do { try outcome.get() } catch let missing as MissingWrites {
            printError("\(missing)")
            throw ExitCode(3)
        }
    }
}

/// What was acknowledged is not there, or not as it was written.
struct MissingWrites: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The demo could not go on, for a reason that is not the store's.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Progress goes to standard error, so that the table alone can be kept.
func printError(_ text: String) {
    FileHandle.standardError.write(Data("roost-demo: \(text)\n".utf8))
}
