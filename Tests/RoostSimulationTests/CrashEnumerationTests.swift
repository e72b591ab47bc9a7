import RoostSimulator
import Testing

/// Short workloads, each crashed at every step in every way that it may leave the disk: every third,
/// as `make enumerate`, which is a part of `make test` too, tries all of them.
@Suite("Crash states", .serialized)
struct CrashEnumerationTests {
    @Test(arguments: Array(stride(from: 0, to: CrashWorkload.all.count, by: 3)))
    func everyStateOpensWithWhatWasSafe(index: Int) async throws {
        let workload = CrashWorkload.all[index]
        let enumeration = try await workload.explore()
        print("\(workload.name): \(enumeration.stateCount) states, \(enumeration.nestedStateCount) nested")
        #expect(enumeration.stateCount > 0)
    }

    @Test func thereAreTwentyWorkloads() { #expect(CrashWorkload.all.count >= 20) }
}
