import Foundation
import Roost
import RoostCoding
import RoostIO
import RoostTestSupport
import Synchronization
import Testing

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A file that is cut while a value of it is decoded: after its checksum held.
@Suite(.serialized) struct LostWhileReadTests {
    private func withStore(
        isCompacted: Bool, _ body: (Workspace, WorkspaceDictionary, [String]) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            // A slow machine may pause for so long that the log would be flushed.
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process),
                fileSystem: PosixFileSystem()
            ) { $0.restDelay = .seconds(3600) }
            let values = workspace.dictionary("values")
            try await values.set(Cutting(random: testSeed()), forKey: "key")
            if isCompacted { try await workspace.compact() }
            let prefix = isCompacted ? "snapshot-" : "log-"
            // The next segment of a log may have been made by now.
            let files = try fileNames(in: path, prefix: prefix).map { "\(path)/\($0)" }
            try await body(workspace, values, files)
            do { try await workspace.close() } catch is RoostError {}
        }
    }

    private func expectLost(
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) {
        #expect(sourceLocation: sourceLocation) {
            try body()
        } throws: {
            ($0 as? RoostError)?.code == .io
        }
    }

    @Test(arguments: [true, false]) func aValueThatIsLostWhileItIsDecodedIsAnError(
        isCompacted: Bool
    ) async throws {
        try await withStore(isCompacted: isCompacted) { workspace, values, files in
            Cutting.nextCut.withLock { $0 = files }
            expectLost { _ = try values.value(forKey: "key", as: Cutting.self) }
            #expect(workspace.statistics.residentCount == 0)
            expectLost { _ = try values.value(forKey: "key", as: Cutting.self) }
        }
    }

    @Test(arguments: [true, false]) func aValueOfAViewOrAnEntryThatIsLostIsAnError(
        isCompacted: Bool
    ) async throws {
        try await withStore(isCompacted: isCompacted) { workspace, values, files in
            Cutting.nextCut.withLock { $0 = files }
            expectLost {
                try workspace.read { view in
                    _ = try view.value(forKey: "key", as: Cutting.self, in: values)
                }
            }
        }
        try await withStore(isCompacted: isCompacted) { workspace, values, files in
            Cutting.nextCut.withLock { $0 = files }
            expectLost { _ = try values.entry(forKey: "key", as: Cutting.self) }
        }
    }

    @Test(arguments: [true, false]) func aScanThatMeetsWhatIsLostIsAnError(
        isCompacted: Bool
    ) async throws {
        try await withStore(isCompacted: isCompacted) { workspace, values, files in
            Cutting.nextCut.withLock { $0 = files }
            expectLost { _ = try values.page(as: Cutting.self, limit: 10) }
        }
        try await withStore(isCompacted: isCompacted) { workspace, values, files in
            var random = SeededGenerator(seed: testSeed())
            let bytes = (0..<1 << 20).map { _ in UInt8(random.below(256)) }
            try await values.set(bytes, forKey: "bytes")
            if isCompacted { try await workspace.compact() }
            expectLost {
                try workspace.read { view in
                    try view.forEachBytes(of: values, prefix: "bytes") { _, value in
                        let directory = URL(fileURLWithPath: files[0]).deletingLastPathComponent()
                            .path
                        for name in try fileNames(
                            in: directory, prefix: isCompacted ? "snap" : "log")
                        {
                            truncate("\(directory)/\(name)", 8192)
                        }
                        // The page is not there: zeros are.
                        #expect(
                            value.unsafeLoadUnaligned(fromByteOffset: 1 << 19, as: UInt64.self) == 0
                        )
                    }
                }
            }
        }
    }
}

/// Bytes whose decoding cuts a file half way.
private struct Cutting: BinaryCodable, Equatable, Sendable {
    /// The files that the next decoding cuts.
    static let nextCut = Mutex<[String]>([])

    var first: [UInt8]
    var second: [UInt8]

    init(random seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        first = (0..<1 << 18).map { _ in UInt8(random.below(256)) }
        second = (0..<1 << 20).map { _ in UInt8(random.below(256)) }
    }

    func encode(into writer: inout BinaryWriter) {
        writer.field(1, first)
        writer.field(2, second)
    }

    init(from reader: inout BinaryReader) throws {
        first = try reader.field(1)
        let files = Self.nextCut.withLock { files in
            defer { files = [] }
            return files
        }
        for file in files { truncate(file, 8192) }
        second = try reader.field(2)
    }
}
