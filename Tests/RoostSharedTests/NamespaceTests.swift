import Roost
import RoostIO
import RoostShared
import Testing

/// Who makes a namespace.
struct NamespaceTests {
    private func connect(
        _ engine: MemoryEngine, makesNamespace: Bool
    ) async throws -> SharedWorkspace {
        var configuration = SharedWorkspace.Configuration()
        configuration.makesNamespace = makesNamespace
        configuration.callDeadline = .seconds(120)
        return try await .connect(
            to: .memory(engine), namespace: "shop", configuration: configuration)
    }

    @Test func whatOnlyReadsMakesNone() async throws {
        // An engine is closed with what could not be connected to it.
        let error = await #expect(throws: RoostError.self) {
            _ = try await connect(MemoryEngine(), makesNamespace: false)
        }
        #expect(error?.code == .io)
        #expect("\(error!)".contains("there is no namespace \"shop\""))
    }

    @Test func whatOnlyReadsFindsOneThatIsThere() async throws {
        let engine = MemoryEngine()
        let writer = try await connect(engine, makesNamespace: true)
        try await writer.dictionary("d").set(1, forKey: "k")
        let reader = try await connect(engine, makesNamespace: false)
        #expect(try await reader.dictionary("d").load("k", as: Int.self) == 1)
    }
}
