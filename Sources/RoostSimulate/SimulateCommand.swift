import ArgumentParser
import Foundation
import RoostSimulator

/// Runs seeds over the simulated file system and ends with one line of JSON.
@main
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roost-simulate",
        abstract: "Runs the store over a simulated disk with crashes and faults.")

    @Option(help: "How many seeds to run.") var seeds = 100
    @Option(help: "The first seed.") var firstSeed: UInt64 = 1
    @Option(help: "Steps of each run.") var steps = SimulateCommand.usualStepCount
    @Option(help: "Seeds at a time.") var width = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: "Print what each failing run did.") var trace = false

    static let usualStepCount = 80

    func run() async throws {
        let isTraced = trace
        let steps = steps
        let outcome = await Simulator.run(
            first: firstSeed, count: seeds, steps: steps, width: max(1, width)
        ) { outcome in
            for failed in outcome.failed {
                if isTraced { for line in failed.trace { print(line) } }
                print("seed \(failed.seed): \(failed.reason)")
                print(
                    "  replay: swift run -c release roost-simulate --seeds 1"
                        + " --first-seed \(failed.seed) --steps \(steps) --trace")
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(outcome.counts), as: UTF8.self))
        if !outcome.failed.isEmpty { throw ExitCode.failure }
    }
}
