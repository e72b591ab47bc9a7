import RoostFormat
import RoostIO
import RoostTestSupport
import Testing

@testable import RoostEngine

/// What a copy of a workspace stands on: the log as it was written, also after a flush, and an engine
/// that follows it.
struct LogTapTests {
    private let name = DictionaryName("d")!

    private func open(
        _ path: String, follows: Bool = false
    ) async throws -> Engine {
        var configuration = EngineConfiguration()
        configuration.isMirror = follows
        configuration.shardCount = 4
        configuration.segmentSizeBytes = 64 << 10
        return try await Engine.open(
            at: path, fileSystem: PosixFileSystem(), configuration: configuration)
    }

    private func write(_ engine: Engine, _ numbers: Range<Int>) async throws {
        for number in numbers {
            var batch = EncodedBatch(hashSeed: engine.hashSeed)
            if number % 11 == 10 { batch.clear(name) }
            if number % 7 == 6 { batch.remove("k\(number - 1)", in: name) }
            let text = String(repeating: "v", count: number % 300)
            for key in ["k\(number)", "all"] {
                batch.put(
                    EncodedValue(
                        kind: ValueKind.string.rawValue, payload: .string("\(number) \(text)")),
                    forKey: key, in: name)
            }
            _ = try await engine.commit(batch, durability: .process)
        }
    }

    private func records(_ engine: Engine) throws -> [[UInt8]: [UInt8]] {
        let view = try engine.view()
        defer { view.close() }
        var found: [[UInt8]: [UInt8]] = [:]
        try view.scan(name).forEachRecord(limit: .max) { found[Array($0)] = Array($1) }
        return found
    }

    private func apply(_ piece: LogTap.Piece, to engine: Engine) async throws {
        for run in piece.runs {
            let bytes = UnsafeMutableRawBufferPointer.allocate(
                byteCount: run.bytes.count, alignment: 8)
            defer { bytes.deallocate() }
            bytes.copyBytes(from: run.bytes)
            var offset = 0
            while let frame = Frame.view(
                in: UnsafeRawBufferPointer(bytes), at: offset, seed: ChecksumSeed(run.seed))
            {
                try await engine.apply(frame)
                offset += frame.sizeBytes
            }
            #expect(offset == run.bytes.count)
        }
    }

    @Test func anEngineThatFollowsHasEveryBatchUnderItsNumber() async throws {
        try await withTemporaryDirectory { path in
            let (writer, follower) = (
                try await open("\(path)/w"), try await open("\(path)/f", follows: true)
            )
            var (_, tap) = try await writer.pinBaseAndTap(limitBytes: 1 << 30)
            for round in 0..<6 {
                try await write(writer, (round * 100)..<((round + 1) * 100))
                // What is not read yet goes through a flush, and its files are gone.
                if round % 2 == 1 { try await writer.compact() }
                if round % 3 == 2 { continue }
                let boundary = try await writer.syncLog()
                while let piece = try tap.read(through: boundary, maximumSizeBytes: 5_000) {
                    #expect(piece.firstSequence == tap.position + 1)
                    try await apply(piece, to: follower)
                    tap.advance(to: piece.lastSequence)
                }
                #expect(follower.lastSequence == writer.lastSequence)
                #expect(try records(follower) == records(writer))
            }
            await #expect(throws: RoostError.self) { try await write(follower, 0..<1) }
            await #expect(throws: RoostError.self) { try await follower.compact() }
            follower.endMirroring()
            try await write(follower, 0..<1)
            try await writer.close()
            try await follower.close()
        }
    }

    @Test func aBatchThatIsNotTheNextIsRefused() async throws {
        try await withTemporaryDirectory { path in
            let (writer, follower) = (
                try await open("\(path)/w"), try await open("\(path)/f", follows: true)
            )
            var (_, tap) = try await writer.pinBaseAndTap(limitBytes: 1 << 30)
            try await write(writer, 0..<3)
            let piece = try tap.read(through: 3, maximumSizeBytes: 1 << 20)!
            try await apply(piece, to: follower)
            await #expect(throws: RoostError.self) { try await apply(piece, to: follower) }
            try await writer.close()
            try await follower.close()
        }
    }

    @Test func whatIsNotReadIsHeldWithinItsBound() async throws {
        try await withTemporaryDirectory { path in
            let writer = try await open("\(path)/w")
            var (_, bounded) = try await writer.pinBaseAndTap(limitBytes: 100)
            var (_, tap) = try await writer.pinBaseAndTap(limitBytes: 1 << 30)
            try await write(writer, 0..<200)
            try await writer.compact()
            #expect(throws: LogTapLost.self) {
                _ = try bounded.read(through: 200, maximumSizeBytes: 1 << 30)
            }
            #expect(try tap.read(through: 200, maximumSizeBytes: 1 << 30)?.lastSequence == 200)
            try await writer.close()
        }
    }

    @Test func onlyTheSameLogIsProven() async throws {
        try await withTemporaryDirectory { path in
            var writer = try await open("\(path)/w")
            try await write(writer, 0..<10)
            var (_, tap) = try await writer.pinBaseAndTap(limitBytes: 1 << 30)
            let piece = try tap.read(through: 7, maximumSizeBytes: 1 << 30)!
            try await writer.close()
            writer = try await open("\(path)/w")
            func isProven(_ sequence: UInt64, _ engine: Engine) throws -> Bool {
                try engine.tap(after: sequence, proof: piece.proof, limitBytes: 1 << 30) != nil
            }
            #expect(try isProven(7, writer))
            #expect(try !isProven(6, writer))
            // The same batches in another log, as after a restore.
            let other = try await open("\(path)/o")
            try await write(other, 0..<10)
            #expect(try !isProven(7, other))
            // Gone into snapshots, where no frame says whose it was.
            try await writer.compact()
            #expect(try !isProven(7, writer))
            try await writer.close()
            try await other.close()
        }
    }
}
