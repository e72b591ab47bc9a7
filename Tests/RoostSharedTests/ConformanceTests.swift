import Roost
import RoostConformance
import RoostShared
import RoostTestSupport
import Testing

/// The suite that engines are measured by, over the two that need no server.
@Suite struct ConformanceTests {
    private func expectKept(_ results: [ConformanceResult]) {
        #expect(results.count > 10)
        for result in results { #expect(result.failure == nil, "\(result)") }
    }

    @Test func theEmbeddedWorkspaceKeepsThePromises() async throws {
        let suite = ConformanceSuite.embedded(seed: testSeed()) { try await .inMemory() }
        expectKept(try await suite.run())
    }

    @Test func theEngineInMemoryKeepsThePromises() async throws {
        let engine = MemoryEngine()
        let suite = ConformanceSuite.shared(seed: testSeed(), connecting: .memory(engine))
        expectKept(try await suite.run())
    }
}
