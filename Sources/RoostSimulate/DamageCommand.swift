import ArgumentParser
import Foundation
import RoostSimulator

/// Damages small stores in every place and looks at what the store makes of it.
struct DamageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "damage",
        abstract: "Flips every bit and cuts every length of small stores, one after another.",
        discussion: "The last line is JSON. Exit status 1 where damage gave a wrong answer.")

    @Flag(help: "One bit of each byte, and few of the zeros.") var sample = false
    @Flag(help: "Every bit of what was written, and one of each byte of zeros.") var bytes = false
    @Option(help: "Cases at a time.") var width = ProcessInfo.processInfo.activeProcessorCount

    @Flag(help: "Of encrypted workspaces.") var encrypted = false

    func run() async throws {
        if encrypted { SimulatedEncryption.begin() }
        let width = max(1, width)
        let extent: DamageSweep.Extent = sample ? .sample : bytes ? .everyByte : .everyBit
        let counts = await withTaskGroup(of: DamageSweep.Counts.self) { group in
            for part in 0..<width {
                group.addTask { await DamageSweep.run(extent, part: part, partCount: width) }
            }
            return await group.reduce(into: DamageSweep.Counts()) { $0.add($1) }
        }
        for failure in counts.failures { print(failure) }
        print(
            #"{"cases":\#(counts.cases),"refused":\#(counts.refused),"#
                + #""declared_torn":\#(counts.declaredTorn),"harmless":\#(counts.harmless),"#
                + #""failures":\#(counts.failures.count)}"#)
        if !counts.failures.isEmpty { throw ExitCode.failure }
    }
}
