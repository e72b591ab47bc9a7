import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// A page that was lost once, of whatever workspace, makes later scans ask no more than once.
@Suite struct FaultLookTests {
    @Test(arguments: [false, true]) func aScanAsksOnceBehindAnOldFault(isCold: Bool) async throws {
        let count = 10_000
        let engine = try await Engine.open(
            at: "d", fileSystem: MemoryFileSystem(), configuration: .init())
        let name = DictionaryName("d")!
        for number in 0..<count {
            _ = try await engine.write(
                EncodedValue(kind: 7, payload: .inline(UInt64(number), count: 8)),
                key: "\(number)", name: name, durability: .process)
        }
        if isCold { try await engine.compact() }
        MappedRegion.noteDoubt()
        let view = try engine.view()
        defer { view.close() }
        let scan = try view.scan(RecordRange(name), .ascending)
        var visited = 0
        while scan.recordKey != nil {
            visited += try scan.withValue { $0.count > 0 ? 1 : 0 }
            try scan.moveToNext()
            if visited == count / 2 { MappedRegion.noteDoubt() }
        }
        #expect(visited == count)
        // Other tests of the process may lose pages meanwhile.
        #expect(scan.faultLookCount >= 1 && scan.faultLookCount < count / 10)
        let each = try view.scan(RecordRange(name), .ascending)
        visited = 0
        try each.forEachRecord(limit: .max) { _, _ in visited += 1 }
        #expect(visited == count)
        #expect(each.faultLookCount < count / 10)
        try await engine.close()
    }
}
