import RoostSimulator
import Testing

/// Short workloads, each crashed at every step in every way that it may leave the disk.
@Suite("Crash states")
struct CrashEnumerationTests {
    /// `roost-simulate enumerate` takes all of them.
    @Test(arguments: Array(stride(from: 0, to: CrashWorkload.all.count, by: 12)))
    func everyStateOpensWithWhatWasSafe(index: Int) async throws {
        let workload = CrashWorkload.all[index]
        let enumeration = try await workload.explore()
        print(
            "\(workload.name): \(enumeration.stateCount) states, \(enumeration.nestedStateCount) nested"
        )
        #expect(enumeration.stateCount > 0)
    }

    @Test func thereAreTwentyWorkloads() { #expect(CrashWorkload.all.count >= 20) }
}
