import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

@Suite(.timeLimit(.minutes(5))) struct ScanEndTests {
    /// The story: a scan could not read the next group of a snapshot, and was asked for its record all the same. It showed
    /// what stood behind the records of the last group in memory.
    @Test func aScanThatCannotReadOnIsAtItsEnd() async throws {
        try await withTemporaryDirectory { path in
            var configuration = EngineConfiguration()
            configuration.durability = .process
            let name = SampleNumbers.name
            let writer = try await Engine.open(
                at: path, fileSystem: PosixFileSystem(), configuration: configuration)
            for number in 0..<500 {
                // Nothing in them that compression makes smaller.
                let bytes = (0..<500).map { _ in UInt8.random(in: .min ... .max) }
                let value = EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes(bytes))
                _ = try await writer.write(value, key: "\(number)", name: name, durability: nil)
            }
            try await writer.compact()
            try await writer.close()
            let snapshots = try fileNames(in: path, prefix: "snapshot")
            let snapshot = try #require(snapshots.first)
            var bytes = try readBytes("\(path)/\(snapshot)")
            bytes[bytes.count / 2] ^= 1
            try writeBytes(bytes, to: "\(path)/\(snapshot)")
            let reader = try await Engine.open(
                at: path, fileSystem: PosixFileSystem(), configuration: configuration)
            let view = try reader.view()
            let scan = try view.scan(name)
            var passedCount = 0
            #expect(throws: RoostError.self) {
                while scan.recordKey != nil {
                    passedCount += 1
                    try scan.moveToNext()
                }
            }
            #expect(passedCount > 0)
            let isAtEnd = scan.recordKey == nil
            #expect(isAtEnd)
            view.close()
            try await reader.close()
        }
    }
}
