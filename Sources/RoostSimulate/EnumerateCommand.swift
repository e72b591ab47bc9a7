import ArgumentParser
import Foundation
import RoostSimulator

/// Tries every state that a crash may leave of short workloads.
struct EnumerateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "enumerate",
        abstract: "Opens every state that a crash may leave of short workloads.",
        discussion: """
            The opening of some of the states is crashed at each of its steps too. The last line \
            is JSON. Exit status 1 where a state shows what it must not.
            """)

    @Option(help: "Workloads at a time.") var width = ProcessInfo.processInfo.activeProcessorCount

    private struct Outcome: Sendable {
        var stateCount = 0
        var nestedCount = 0
        var failure: String?
    }

    @Flag(help: "Of encrypted workspaces.") var encrypted = false

    func run() async throws {
        if encrypted { SimulatedEncryption.begin() }
        let width = max(1, width)
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            var outcomes: [Outcome] = []
            for (index, workload) in CrashWorkload.all.enumerated() {
                if index >= width, let outcome = await group.next() { outcomes.append(outcome) }
                group.addTask { await Self.explore(workload) }
            }
            for await outcome in group { outcomes.append(outcome) }
            return outcomes
        }
        let failures = outcomes.compactMap(\.failure)
        for failure in failures { print(failure) }
        print(
            #"{"workloads":\#(outcomes.count),"#
                + #""states":\#(outcomes.reduce(0) { $0 + $1.stateCount }),"#
                + #""nested_states":\#(outcomes.reduce(0) { $0 + $1.nestedCount }),"#
                + #""failures":\#(failures.count)}"#)
        if !failures.isEmpty { throw ExitCode.failure }
    }

    private static func explore(_ workload: CrashWorkload) async -> Outcome {
        do {
            let enumeration = try await workload.explore()
            return Outcome(
                stateCount: enumeration.stateCount, nestedCount: enumeration.nestedStateCount)
        } catch { return Outcome(failure: "\(workload.name): \(error)") }
    }
}
