import ArgumentParser
import Foundation
import RoostSimulator

/// Runs seeds of objects with indexes and ends with one line of JSON.
struct ObjectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "objects",
        abstract: "Runs objects, indexes and queries over a simulated disk with crashes.",
        discussion: """
            Indexes are declared and dropped from opening to opening, and the machine stops at any call. \
            Every index that says it is built has just the entries of its objects; queries answer what \
            a filter answers. The last line is JSON. Exit status 1 where a seed failed.
            """)

    @Option(help: "How many seeds to run.") var seeds = 100
    @Option(help: "The first seed.") var firstSeed: UInt64 = 1
    @Option(help: "Steps of each run.") var steps = 40
    @Option(help: "Seeds at a time.") var width = ProcessInfo.processInfo.activeProcessorCount
    @Flag(help: "Print what each failing run did.") var trace = false

    @Flag(help: "Of encrypted workspaces.") var encrypted = false

    func validate() throws { try requireWork(seeds, steps) }

    func run() async throws {
        if encrypted { SimulatedEncryption.begin() }
        let (isTraced, steps) = (trace, steps)
        let outcome = await ObjectSimulator.run(
            first: firstSeed, count: seeds, steps: steps, width: max(1, width)
        ) { outcome in
            for failed in outcome.failed {
                var lines = [
                    "seed \(failed.seed): \(failed.reason)",
                    "  replay: swift run -c release roost-simulate objects --seeds 1"
                        + " --first-seed \(failed.seed) --steps \(steps) --trace",
                ]
                if isTraced {
                    lines =
                        await ObjectSimulator.run(seed: failed.seed, steps: steps, isTraced: true)
                        .failed.flatMap(\.trace) + lines
                }
                FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        print(String(decoding: try encoder.encode(outcome.counts), as: UTF8.self))
        if !outcome.failed.isEmpty { throw ExitCode.failure }
    }
}
