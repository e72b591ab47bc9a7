import RoostFormat
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

@testable import RoostEngine

@Suite struct PoisonedCompactionTests {
    /// Where the manifest could not be replaced it is not known which one a crash would leave. A compaction that had been
    /// asked for before, and waited for its turn, wrote another one and removed what it did not list.
    @Test func whatWaitedForACompactionThatPoisonedChangesNothing() async throws {
        try await withTemporaryDirectory { path in
            let fails = Atomic(false)
            let changeCount = Atomic(0)
            let fileSystem = ObservedFileSystem { call in
                changeCount.wrappingAdd(1, ordering: .relaxed)
                guard case .rename(_, let target) = call, target == FileName.manifest.text else {
                    return
                }
                if fails.load(ordering: .relaxed) { throw RoostError(.io, "no new name today") }
            }
            var configuration = EngineConfiguration()
            configuration.shardCount = 2
            let engine = try await Engine.open(
                at: path, fileSystem: fileSystem, configuration: configuration)
            let name = try #require(DictionaryName("d"))
            let value = EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes([1]))
            _ = try await engine.write(value, key: "k", name: name, durability: .process)
            fails.store(true, ordering: .relaxed)
            await #expect(throws: RoostError.self) { try await engine.compact() }
            fails.store(false, ordering: .relaxed)
            let before = changeCount.load(ordering: .relaxed)
            do {
                try await engine.compactor.compactAll()
                Issue.record("it was made")
            } catch let error as RoostError { #expect(error.code == .poisoned) }
            #expect(changeCount.load(ordering: .relaxed) == before)
            do { try await engine.close() } catch is RoostError {}
            let again = try await Engine.open(
                at: path, fileSystem: PosixFileSystem(), configuration: configuration)
            let version = try again.findVersioned("k", name: name).version
            #expect(version.sequence == 1)
            try await again.close()
        }
    }
}
