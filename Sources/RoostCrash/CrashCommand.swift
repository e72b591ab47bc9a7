import ArgumentParser
import Foundation

/// Runs that kill real processes.
@main
struct CrashTool: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost-crash",
        abstract: "Kills processes that have a workspace open, and compares.",
        subcommands: [
            CrashCommand.self, IndexCommand.self, FollowersCommand.self, PutCostCommand.self,
            CrashWriterCommand.self, IndexBuilderCommand.self, FollowedCommand.self,
            FollowerCommand.self,
        ], defaultSubcommand: CrashCommand.self)
}

/// Kills writers of real workspaces at random moments and checks, each time, that what they were
/// told is written is there.
struct CrashCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "kills",
        abstract: "Kills writers with SIGKILL, reopens what they leave, and compares.",
        discussion: """
            The last line is JSON. Exit status 1 where anything was lost, torn, stale or failed; \
            the workspace that shows it is then kept, and its path printed. So too where nobody was killed or \
            no write acknowledged.
            """)

    @Option(help: "Kills in all; 0 for no limit.") var kills = 1000
    @Option(help: "What the writers do follows from it; when they die does not.") var seed: UInt64?
    @Option(help: "Stop after so long, whatever the number of kills.") var seconds = Int.max
    @Option(help: "process, interval, synced or mixed.") var durability = DurabilityChoice.mixed
    @Option(help: "Where the workspaces are made.")
    var directory = FileManager.default.temporaryDirectory.path
    @Flag(help: "Encrypted workspaces, by a quick cipher for tests.") var encrypted = false
    @Option(help: "Workspaces at a time.") var width = ProcessInfo.processInfo.activeProcessorCount

    func run() async throws {
        let seed = seed ?? .random(in: 0..<1_000_000_000)
        printLine(
            "roost-crash --kills \(kills) --seed \(seed) --durability \(durability.rawValue)"
                + (encrypted ? " --encrypted" : ""))
        let root = "\(directory)/roost-crash-\(seed)-\(ProcessInfo.processInfo.processIdentifier)"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        let tally = CrashTally(killLimit: kills == 0 ? .max : kills, seconds: seconds)
        let (durability, isEncrypted) = (durability, encrypted)
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<max(1, width) {
                group.addTask {
                    var supervisor = CrashSupervisor(
                        seed: seed, worker: worker, root: root, durability: durability,
                        isEncrypted: isEncrypted, tally: tally)
                    await supervisor.run()
                }
            }
            group.addTask { await tally.showProgress() }
        }
        let counts = tally.counts
        if let omission = counts.omission { printLine(omission) }
        if counts.isSound { try FileManager.default.removeItem(atPath: root) }
        printLine(counts.json)
        if !counts.isSound || counts.omission != nil { throw ExitCode.failure }
    }
}

/// Writes a line to standard output at once, as others may be waiting for it.
func printLine(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }
