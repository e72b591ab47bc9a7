import Roost
import RoostTestSupport
import Testing

/// Numbers of a configuration that come from a file of settings: what is not allowed is an error of the opening.
@Suite struct OpeningSettingsTests {
    @Test(arguments: [0, 3, -4, 2048, Int.min, Int.max])
    func aNumberOfShardsThatCannotBeIsAnError(count: Int) async throws {
        try await withTemporaryDirectory { path in
            let configuration = Workspace.Configuration(shardCount: count)
            let errors = [
                #expect(throws: RoostError.self) {
                    try Workspace(at: path, configuration: configuration)
                },
                await #expect(throws: RoostError.self) {
                    try await Workspace.open(at: path, configuration: configuration)
                },
                await #expect(throws: RoostError.self) {
                    try await Workspace.inMemory(configuration: configuration)
                },
            ]
            for error in errors {
                #expect(error?.code == .io)
                #expect(error?.message.contains("\(count) shards") == true)
                #expect(error?.message.contains("power of two from 1 to 1,024") == true)
            }
            // Nothing is locked.
            try await Workspace.open(at: path, configuration: .init(shardCount: 1024)).close()
        }
    }

    @Test func aBudgetOfLessThanNothingIsAnError() async throws {
        let error = await #expect(throws: RoostError.self) {
            try await Workspace.inMemory(configuration: .init(memoryBudgetBytes: -1))
        }
        #expect(error?.code == .io && error?.message.contains("-1") == true)
    }
}
