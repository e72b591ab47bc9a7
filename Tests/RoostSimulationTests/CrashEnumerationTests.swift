import RoostEngine
import RoostFormat
import RoostSimulation
import RoostSimulator
import Testing

/// Short workloads, each crashed at every step in every way that it may leave the disk.
@Suite("Crash states", .serialized)
struct CrashEnumerationTests {
    typealias Step = CrashEnumeration.Step

    private func put(_ key: String, _ number: UInt8, _ count: Int = 20, in dictionary: String = "a")
        -> History.Change
    {
        let value = [ValueKind.data.rawValue, number] + [UInt8](repeating: number, count: count)
        return .put(dictionary: dictionary, key: key, value: value)
    }

    private func remove(_ key: String) -> History.Change { .remove(dictionary: "a", key: key) }
    private let compact = Step.call { try await $0.compact() }
    private let synchronize = Step.call { try await $0.synchronize() }
    private let close = Step.call { try await $0.close() }

    private func explore(
        _ openings: [[Step]], threshold: UInt64 = 1 << 20, allowsMapping: Bool = true,
        _ name: String = #function
    ) async throws {
        var enumeration = CrashEnumeration()
        enumeration.configuration.flushThresholdBytes = threshold
        enumeration.allowsMapping = allowsMapping
        try await enumeration.explore(openings)
        print("\(name): \(enumeration.stateCount) states, \(enumeration.nestedStateCount) nested")
        #expect(enumeration.stateCount > 0)
    }

    @Test func synced() async throws {
        try await explore([[.write([put("x", 1)], .synced), .write([put("x", 2)], .synced)]])
    }

    @Test func unsyncedThenSynced() async throws {
        try await explore([
            [.write([put("x", 1)]), .write([put("y", 2, 900)]), .write([put("x", 3)], .synced)]
        ])
    }

    @Test func batches() async throws {
        try await explore([
            [
                .write([put("x", 1, 600), put("y", 1, 600), put("z", 1, 600)]), synchronize,
                .write([put("x", 2, 600), remove("y"), put("z", 2, 600)], .synced),
            ]
        ])
    }

    @Test func closingAndOpening() async throws {
        try await explore([
            [.write([put("x", 1)]), close], [.write([put("x", 2)]), close], [.write([remove("x")])],
        ])
    }

    @Test func compaction() async throws {
        try await explore([
            [
                .write([put("x", 1), put("y", 1)]), compact, .write([put("x", 2)], .synced),
                compact, .write([remove("y")]),
            ]
        ])
    }

    @Test func clearing() async throws {
        try await explore([
            [
                .write([put("x", 1), put("y", 1, in: "b")]), compact,
                .write([.clear(dictionary: "a"), put("z", 2)], .synced), .write([put("x", 3)]),
                compact, .write([.clear(dictionary: "b")]), compact,
            ]
        ])
    }

    @Test func rotation() async throws {
        try await explore(
            [(1...5).map { .write([put("x", $0, 500), put("y", $0, 300)], $0 == 3 ? .synced : .process) }],
            threshold: 1200)
    }

    @Test func killedWhileUnsynced() async throws {
        try await explore([
            [.write([put("x", 1)], .synced), .write([put("x", 2, 700)])],
            [.write([put("y", 3)])], [.write([put("y", 4)], .synced)],
        ])
    }

    @Test func killedBehindACompaction() async throws {
        try await explore([
            [.write([put("x", 1)], .synced), compact], [.write([put("x", 2)], .synced), compact],
            [.write([put("y", 3)], .synced)],
        ])
    }

    @Test func withoutMapping() async throws {
        try await explore(
            [
                [.write([put("x", 1, 700)]), .write([put("y", 1)], .synced), compact],
                [.write([put("x", 2)]), .write([put("z", 3)], .synced), close],
            ], allowsMapping: false)
    }
}
