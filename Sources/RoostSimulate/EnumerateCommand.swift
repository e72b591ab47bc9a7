import ArgumentParser
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

    func run() async throws {
        var stateCount = 0
        var nestedCount = 0
        var failureCount = 0
        for workload in CrashWorkload.all {
            do {
                let enumeration = try await workload.explore()
                stateCount += enumeration.stateCount
                nestedCount += enumeration.nestedStateCount
            } catch {
                failureCount += 1
                print("\(workload.name): \(error)")
            }
        }
        print(
            #"{"workloads":\#(CrashWorkload.all.count),"states":\#(stateCount),"#
                + #""nested_states":\#(nestedCount),"failures":\#(failureCount)}"#)
        if failureCount > 0 { throw ExitCode.failure }
    }
}
