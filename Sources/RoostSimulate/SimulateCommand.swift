import ArgumentParser
import Foundation
import RoostSimulation
import RoostSimulator
import Synchronization

@main
struct SimulateCommand: AsyncParsableCommand {
    static func main() async {
        // Runs are short, and each takes what the one before gave back: kept, it need not be taken
        // from the kernel again, zeroed, and mapped page by page.
        keepFreedMemory()
        await main(nil)
    }

    static let configuration = CommandConfiguration(
        commandName: "roost-simulate",
        abstract: "Runs the store over a simulated disk.",
        subcommands: [
            SeedsCommand.self, ObjectsCommand.self, EnumerateCommand.self, DamageCommand.self,
        ],
        defaultSubcommand: SeedsCommand.self)
}

/// Runs seeds over the simulated file system and ends with one line of JSON.
struct SeedsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "seeds",
        abstract: "Runs the store over a simulated disk with crashes and faults.",
        discussion: """
            The last line is JSON: what was run, how often each kind of fault hit, and how many \
            seeds failed. For each seed that fails, a command that runs it again as it ran. Exit \
            status 1 where one did.
            """)

    @Option(help: "How many seeds to run.") var seeds = 100
    @Option(help: "The first seed.") var firstSeed: UInt64 = 1
    @Option(help: "Steps of each run.") var steps = 40
    @Option(help: "Seeds at a time.") var width = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: "Print what each failing run did.") var trace = false
    @Flag(help: "End with the first seed that fails.") var stopAtFailure = false
    @Flag(help: "Of encrypted workspaces, whose keys change from opening to opening.")
    var encrypted = false

    func validate() throws { try requireWork(seeds, steps) }

    func run() async throws {
        if encrypted { SimulatedEncryption.begin() }
        let progress = Progress(seedCount: seeds)
        let isTraced = trace
        let stopsAtFailure = stopAtFailure
        let steps = steps
        let outcome = await Simulator.run(
            first: firstSeed, count: seeds, steps: steps, width: max(1, width)
        ) { outcome in
            progress.note(outcome)
            for failed in outcome.failed {
                var lines = [
                    "seed \(failed.seed): \(failed.reason)",
                    "  replay: swift run -c release roost-simulate --seeds 1"
                        + " --first-seed \(failed.seed) --steps \(steps) --trace"
                        + (SimulatedEncryption.isOn ? " --encrypted" : ""),
                ]
                if isTraced {
                    lines =
                        await Simulator.run(seed: failed.seed, steps: steps, isTraced: true)
                        .failed.flatMap(\.trace) + lines
                }
                FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
                if stopsAtFailure { Foundation.exit(1) }
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(outcome.counts), as: UTF8.self))
        if !outcome.failed.isEmpty { throw ExitCode.failure }
    }
}

/// A run of nothing would pass.
func requireWork(_ seeds: Int, _ steps: Int) throws {
    if seeds < 1 || steps < 1 { throw ValidationError("Without seeds or steps nothing is shown.") }
}

/// Says on standard error how far it is, every few seconds.
private final class Progress: Sendable {
    private struct State {
        var doneCount = 0
        var failureCount = 0
        var next = ContinuousClock.now + .seconds(10)
    }

    private let seedCount: Int
    private let state = Mutex(State())

    init(seedCount: Int) { self.seedCount = seedCount }

    func note(_ outcome: Simulator.Outcome) {
        let line = state.withLock { state -> String? in
            state.doneCount += 1
            state.failureCount += outcome.failed.count
            guard ContinuousClock.now >= state.next else { return nil }
            state.next = .now + .seconds(10)
            return "\(state.doneCount) of \(seedCount) seeds, \(state.failureCount) failed\n"
        }
        if let line { FileHandle.standardError.write(Data(line.utf8)) }
    }
}
