import RoostFormat
import RoostIO
import Testing

@testable import RoostEngine

/// A batch that gives way to what others have written since a view began.
@Suite(.timeLimit(.minutes(5))) struct OvertakenChangesTests {
    private let name = DictionaryName("d")!

    private func value(_ byte: UInt8) -> EncodedValue {
        EncodedValue(kind: ValueKind.uint8.rawValue, payload: .inline(UInt64(byte), count: 1))
    }

    private func batch(_ engine: Engine, _ keys: [String]) -> EncodedBatch {
        var batch = EncodedBatch(hashSeed: engine.hashSeed)
        for key in keys { batch.put(value(1), forKey: key, in: name) }
        return batch
    }

    private func last(_ key: String, _ engine: Engine) throws -> UInt8? {
        let view = try engine.view()
        defer { view.close() }
        guard let found = try view.find(key, name: name) else { return nil }
        return withExtendedLifetime(found) { $0.bytes.last }
    }

    @Test func whatOthersHaveChangedOrRemovedIsLeftToThem() async throws {
        let engine = try await Engine.open(
            at: "/overtaken", fileSystem: MemoryFileSystem(), configuration: EngineConfiguration())
        let keys = (0..<40).map { "k\($0)" }
        _ = try await engine.commit(batch(engine, keys), durability: nil)
        let view = try engine.view()
        defer { view.close() }
        _ = try await engine.write(value(2), key: "k3", name: name, durability: nil)
        _ = try await engine.write(nil, key: "k4", name: name, durability: nil)
        _ = try await engine.write(value(2), key: "new", name: name, durability: nil)
        let asked = batch(engine, keys + ["new", "other"])
        let left = try #require(engine.withoutOvertaken(asked, since: view))
        #expect(left.changes.count == 39)
        var reads = TransactionReads(view)
        reads.includesChanges = true
        // Whole, it would undo what others did.
        #expect(try await engine.commit(asked, reads: reads, durability: nil) == nil)
        #expect(try await engine.commit(left, reads: reads, durability: nil) != nil)
        #expect(try last("k3", engine) == 2)
        #expect(try last("k4", engine) == nil)
        #expect(try last("new", engine) == 2)
        #expect(try last("k5", engine) == 1)
        #expect(try last("other", engine) == 1)
        try await engine.close()
    }

    /// Once a flush has put away the table that the view began on, nobody knows what came since.
    @Test func afterAFlushNothingIsKnown() async throws {
        let engine = try await Engine.open(
            at: "/flushed", fileSystem: MemoryFileSystem(), configuration: EngineConfiguration())
        _ = try await engine.commit(batch(engine, ["a"]), durability: nil)
        let view = try engine.view()
        defer { view.close() }
        try await engine.compact()
        #expect(engine.withoutOvertaken(batch(engine, ["b"]), since: view) == nil)
        var reads = TransactionReads(view)
        reads.includesChanges = true
        #expect(
            try await engine.commit(batch(engine, ["b"]), reads: reads, durability: nil) == nil)
        try await engine.close()
    }
}
