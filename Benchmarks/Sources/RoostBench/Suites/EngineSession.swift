import Foundation

/// One round of one engine at one number of keys: every workload that is wanted, in fresh
/// directories that are removed again.
struct EngineSession<Engine: KeyValueEngine> {
    let workload: Workload
    let wanted: Set<EngineWorkload>
    /// Operations per workload that does not go over all keys.
    let operations: Int
    let directory: String
    let round: Int
    let zipfian: Zipfian

    private(set) var samples: [Sample] = []
    /// The first index that is not in the store; workloads that insert move it.
    var firstNewKey: Int
    private var generation: UInt64

    var keyCount: Int { workload.keyCount }

    init(
        workload: Workload, wanted: Set<EngineWorkload>, operations: Int, directory: String,
        round: Int, zipfian: Zipfian
    ) {
        self.workload = workload
        self.wanted =
            Engine.abilities.isWholeFile
            ? wanted.intersection(EngineWorkload.onWholeFiles) : wanted
        self.operations = min(operations, workload.keyCount)
        self.directory = directory
        self.round = round
        self.zipfian = zipfian
        firstNewKey = workload.keyCount
        generation = UInt64(round) << 12
    }

    mutating func run() async throws -> [Sample] {
        if !wanted.isDisjoint(with: EngineWorkload.onFilledStore) {
            try await inDirectory { session, path in try await session.runOnFilledStore(path) }
        }
        if wanted.contains(.fillRandom) {
            try await inDirectory { session, path in try await session.fillRandomly(path) }
        }
        if wanted.contains(.space) {
            try await inDirectory { session, path in try await session.measureSpace(path) }
        }
        if wanted.contains(.openAfterKill) {
            try await inDirectory { session, path in try session.openAfterKill(path) }
        }
        if Engine.abilities.durabilities.contains(.synced) {
            for clients in wanted.contains(.durable) ? [1, 8, 64] : [] {
                try await inDirectory { session, path in
                    try await session.writeDurably(path, clients: clients)
                }
            }
            if wanted.contains(.durableBatch), Engine.abilities.hasAtomicBatches {
                try await inDirectory { session, path in
                    try await session.writeBatchesDurably(path)
                }
            }
        }
        return samples
    }

    mutating func note(
        _ workload: String, _ value: Double, _ unit: FigureUnit = .operationsPerSecond,
        clients: Int = 1, durability: RowDurability = .process, sampledOperations: Int? = nil
    ) {
        let size = self.workload.valueSizeBytes
        let name = size == 100 ? workload : "\(workload), \(ByteCount(size))"
        samples.append(
            Sample(
                place: .init(workload: name, clients: clients, durability: durability),
                unit: unit, value: value, sampledOperations: sampledOperations))
    }

    mutating func nextGeneration() -> UInt64 {
        generation += 1
        return generation
    }

    func open(_ path: String, _ durability: RowDurability = .process) async throws -> Engine {
        try await Engine.open(
            at: path, options: EngineOptions(durability: durability, expectedKeys: keyCount))
    }

    private mutating func inDirectory(
        _ body: (inout EngineSession, String) async throws -> Void
    ) async throws {
        let store = try StoreDirectory(in: directory)
        defer { store.remove() }
        try await body(&self, store.path)
    }
}
