import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

@testable import RoostEngine

/// Pages of the log that a reader beside a writer has found whole and loses before it looks at them in its mapping. Zeros
/// stand there: with them for its key a record is another's, and an older one of a snapshot was given out in its place.
@Suite(.timeLimit(.minutes(5))) struct FollowedLossTests {
    private let name = DictionaryName("d")!

    /// `body` gets the directory of a log that has one record, whose key is longer than a page, and what cuts that off.
    private func withLongKey(
        _ body: (any Directory, _ cut: () throws -> Void) async throws -> Void
    ) async throws {
        try await withTemporaryDirectory { path in
            var configuration = EngineConfiguration()
            configuration.durability = .process
            let engine = try await Engine.open(
                at: path, fileSystem: PosixFileSystem(), configuration: configuration)
            let value = EncodedValue(kind: ValueKind.bytes.rawValue, payload: .bytes([1]))
            _ = try await engine.write(
                value, key: String(repeating: "k", count: 30_000), name: name, durability: .process)
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            let segment = try #require(try fileNames(in: path, prefix: "log").first)
            // Elsewhere a reader looks at a copy.
            if case .mapped = try directory.sharing {
                try await body(directory) {
                    try directory.openFile(segment, writable: true).truncate(to: 16 << 10)
                }
            }
            do { try await engine.close() } catch is RoostError {}
        }
    }

    private func expectUnreadable(_ body: () throws -> Void) {
        #expect { try body() } throws: { error in
            let error = error as? RoostError
            return error?.code == .io && error?.file != nil && error?.offset == 16 << 10
        }
    }

    private func read(
        _ tail: inout LogTail, _ visit: (Frame.View, FollowedSegment) throws -> Void
    ) throws {
        _ = try tail.read(limitBytes: .max, looksFurther: true, isHeld: { _ in false }, visit)
    }

    @Test func tablesThatAreMadeAnewTellOfIt() async throws {
        try await withLongKey { directory, cut in
            let manifest = try FollowedState.readManifest(in: directory)
            var tail = try LogTail(manifest, in: directory)
            try read(&tail) { _, _ in }
            #expect(tail.lastSequence == 1)
            var sound = Rebuild(manifest, shardCount: 1)
            #expect(try sound.advance(to: tail, limitBytes: .max))
            try cut()
            var rebuild = Rebuild(manifest, shardCount: 1)
            expectUnreadable { _ = try rebuild.advance(to: tail, limitBytes: .max) }
        }
    }

    @Test func anOpeningTellsOfIt() async throws {
        try await withLongKey { directory, cut in
            let manifest = try FollowedState.readManifest(in: directory)
            var tail = try LogTail(manifest, in: directory)
            var replay = Replay(shardCount: 1, hashSeed: manifest.hashSeed)
            expectUnreadable {
                try read(&tail) { frame, segment in
                    try cut()
                    try replay.add(frame, segment.region, path: segment.file.path)
                }
            }
        }
    }

    @Test func aBatchOfWhichAnythingIsLostIsNotShown() async throws {
        try await withLongKey { directory, cut in
            let manifest = try FollowedState.readManifest(in: directory)
            var tail = try LogTail(manifest, in: directory)
            let engine = try await Engine.open(
                at: "/followed", fileSystem: MemoryFileSystem(),
                configuration: EngineConfiguration())
            let followed = FollowedShards(
                shards: engine.shards, feed: engine.feed, publication: engine.publication,
                hashSeed: engine.hashSeed, log: FollowedLog(lastSequence: 0, segments: []))
            expectUnreadable {
                try read(&tail) { frame, segment in
                    try cut()
                    try followed.apply(frame, segment)
                }
            }
            let view = try engine.view()
            #expect(try view.countLive(in: name).count == 0)
            view.close()
            try await engine.close()
        }
    }
}
