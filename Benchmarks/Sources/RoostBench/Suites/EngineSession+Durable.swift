import Foundation

extension EngineSession {
    /// Each client waits for its write to be on disk before the next.
    mutating func writeDurably(_ path: String, clients: Int) async throws {
        let engine = try await open(path, .synced)
        let perClient = min(operations, 20_000) / (clients < 8 ? 4 : clients < 64 ? 8 : 16)
        let generation = nextGeneration()
        let stretches = (0..<clients).map { client in
            Stretch(
                .set, (0..<max(perClient, 10)).map { $0 * clients + client }, workload,
                generation: generation)
        }
        let result = try await runClients(engine, stretches)
        note(
            "durable", Double(result.operations) / result.seconds, clients: clients,
            durability: .synced)
        try await check(engine, stretches)
        try await engine.close()
    }

    mutating func writeBatchesDurably(_ path: String) async throws {
        let engine = try await open(path, .synced)
        let indices = Array(workload.shuffledIndices().prefix(min(operations, 200_000)))
        let stretch = Stretch(.batch, indices, workload, generation: nextGeneration())
        let result = try await runClients(engine, [stretch])
        note("durable-batch", Double(result.operations) / result.seconds, durability: .synced)
        try await check(engine, [stretch])
        try await engine.close()
    }

    /// Reads back what was written, so that no engine is measured doing nothing.
    private func check(_ engine: Engine, _ stretches: [Stretch]) async throws {
        for stretch in stretches {
            let written = Stretch(.read, stretch.indices, workload)
            _ = try await runClients(engine, [written])
        }
    }
}
