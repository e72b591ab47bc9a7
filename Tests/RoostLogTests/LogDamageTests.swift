import Foundation
import RoostFormat
import RoostIO
import RoostLog
import RoostTestSupport
import Testing

@Suite struct LogDamageTests {
    /// Expects that recovering `path` is refused as damage of segment `number`, and changes nothing.
    private func expectCorrupt(
        _ path: String, _ number: UInt64, durableSequence: UInt64 = 0, _ comment: Comment
    ) throws {
        let before = try contents(ofDirectory: path)
        do {
            let found = try SampleRecovery(at: path, durableSequence: durableSequence)
            Issue.record(
                "\(comment): \(found.payloads.count) frames found, \(found.recovery.tornTails)")
        } catch let error as RoostError {
            #expect(error.code == .corrupt, comment)
            #expect(error.file == segmentPath(path, number), comment)
            #expect(error.offset != nil, comment)
        }
        #expect(try contents(ofDirectory: path) == before, comment)
    }

    @Test func aFlippedBitBeforeTheDurablePointIsCorrupt() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            for number in 0..<6 {
                try log.append([UInt8](repeating: UInt8(number), count: 9), isAwaited: true)
            }
            try await log.syncer.sync()
            // This frame says that the six before it are on disk.
            try log.append([7])
            let original = try readBytes(segmentPath(path, 1))
            let size = Frame.sizeBytes(payloadCount: 9)
            for byte in 0..<(SegmentHeader.sizeBytes + 6 * size) {
                let inFrame = (byte - SegmentHeader.sizeBytes) % size
                // Padding is not under the checksum.
                if byte >= SegmentHeader.sizeBytes && inFrame >= Frame.headerSizeBytes + 9 {
                    continue
                }
                var damaged = original
                damaged[byte] ^= 1 << UInt8(byte % 8)
                try writeBytes(damaged, to: segmentPath(path, 1))
                try expectCorrupt(path, 1, "byte \(byte)")
            }
        }
    }

    /// The evidence stands in a frame whose sequence number is further from the break than its whole
    /// segment has room for frames.
    @Test func damageIsCorruptWhenAFrameFarBehindItSaysThatItWasOnDisk() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(
                at: path, sizeBytes: 64 << 10, minimumSegmentSizeBytes: 4096)
            for number in 0..<1000 { try log.append([UInt8(number % 251)]) }
            // The header of the next one is written before anything is on disk.
            _ = try log.writer.rotate()
            try log.writer.shrink()
            try log.append([1])
            try await log.syncer.sync()
            try log.append([2])
            let original = try readBytes(segmentPath(path, 1))
            for byte in [SegmentHeader.sizeBytes + 40, original.count / 4] {
                var damaged = original
                damaged[byte] ^= 1
                try writeBytes(damaged, to: segmentPath(path, 1))
                try expectCorrupt(path, 1, "byte \(byte)")
            }
        }
    }

    @Test func damageInASealedSegmentIsCorruptWhenTheNextSaysItWasOnDisk() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            for number in 0..<4 { try log.append([UInt8(number)]) }
            try await log.syncer.sync()
            _ = try log.writer.rotate()
            try log.append([9])
            for byte in [0, 20, 63, 64, 70, 88, 120] {
                var damaged = try readBytes(segmentPath(path, 1))
                let original = damaged
                damaged[byte] ^= 4
                try writeBytes(damaged, to: segmentPath(path, 1))
                try expectCorrupt(path, 1, "byte \(byte)")
                try writeBytes(original, to: segmentPath(path, 1))
            }
            try FileManager.default.removeItem(atPath: segmentPath(path, 1))
            try expectCorrupt(path, 2, "the first segment is missing")
        }
    }

    @Test func aLogShorterThanTheManifestSaysIsCorrupt() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            for number in 0..<4 { try log.append([UInt8(number)]) }
            #expect(
                try SampleRecovery(at: path, cuts: false, durableSequence: 4).payloads.count == 4)
            try expectCorrupt(path, 1, durableSequence: 5, "a batch is missing at the end")
            withExtendedLifetime(log) {}
        }
    }

    @Test func aSegmentOfRandomBytesIsCorruptAndStays() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            for size in [100, 4096, 70_000] {
                try writeBytes(random.bytes(size), to: segmentPath(path, 1))
                try expectCorrupt(path, 1, "\(size) random bytes")
            }
        }
    }

    @Test func randomBytesBehindValidFramesNeverTrap() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            for number in 0..<4 { try log.append([UInt8(number)]) }
            let original = try readBytes(segmentPath(path, 1))
            for round in 0..<400 {
                var damaged = original
                let start = 192 + random.below(300)
                let fill =
                    random.once(in: 3) ? 0xff : random.once(in: 2) ? nil : UInt8(random.below(3))
                for index in start..<min(4096, start + random.below(600)) {
                    damaged[index] = fill ?? random.bytes(1)[0]
                }
                try writeBytes(damaged, to: segmentPath(path, 1))
                do {
                    let found = try SampleRecovery(at: path, cuts: false)
                    #expect(found.payloads == [[0], [1], [2], [3]], "round \(round)")
                } catch let error as RoostError { #expect(error.code == .corrupt) }
            }
        }
    }

    @Test func aForeignSegmentIsCorrupt() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            try log.append([1])
            // The same bytes under another number: an intact file in a wrong place.
            try FileManager.default.moveItem(
                atPath: segmentPath(path, 1), toPath: segmentPath(path, 2))
            try expectCorrupt(path, 2, "moved")
        }
    }

    @Test func aLaterVersionIsUnsupportedAndStays() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            try log.append([1])
            var bytes = try readBytes(segmentPath(path, 1))
            bytes[8] = 2
            bytes.withUnsafeMutableBytes { bytes in
                let start = bytes.baseAddress!
                start.store(ChecksumSeed(0).checksum(UnsafeRawPointer(start), count: 60), at: 60)
            }
            try writeBytes(bytes, to: segmentPath(path, 1))
            let before = try contents(ofDirectory: path)
            #expect { _ = try SampleRecovery(at: path) } throws: {
                ($0 as? RoostError)?.code == .unsupportedVersion
            }
            #expect(try contents(ofDirectory: path) == before)
        }
    }

    /// The story: each eight random bytes whose length fitted counted against the work that a salvage does, so that it gave
    /// a large segment up within a few kibibytes of the first damaged frame.
    @Test(arguments: [true, false])
    func aSalvageGoesOnBehindALargeDamagedValue(isHeaderDamaged: Bool) async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 16 << 20)
            var payloads: [[UInt8]] = []
            for _ in 0..<20 {
                payloads.append(random.bytes(64 << 10))
                try log.append(payloads[payloads.count - 1])
            }
            var bytes = try readBytes(segmentPath(path, 1))
            let second = SegmentHeader.sizeBytes + Frame.sizeBytes(payloadCount: 64 << 10)
            bytes[second + 5000] ^= 1
            if isHeaderDamaged { bytes[30] ^= 1 }
            try writeBytes(bytes, to: segmentPath(path, 1))
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            let reader = try LogReader(number: 1, in: directory, writable: false)
            let seed = try #require(reader.salvagedSeed)
            var found: [[UInt8]] = []
            var breakCount = 0
            _ = reader.forEachSalvagedFrame(seed) { _ in
                breakCount += 1
            } _: { frame in
                let start = frame.start + Frame.headerSizeBytes
                found.append(Array(UnsafeRawBufferPointer(start: start, count: frame.payloadCount)))
            }
            payloads.remove(at: 1)
            #expect(found == payloads)
            #expect(breakCount == 1)
        }
    }

    /// A file may be longer than any memory, as `truncate -s` makes one at no cost.
    @Test func aSegmentThatSomebodyHasMadeVeryLongIsAnErrorWhereItIsCopied() async throws {
        try await withTemporaryDirectory { path in
            let log = try SampleLog(at: path, sizeBytes: 4096)
            try log.append([1])
            guard truncate(segmentPath(path, 1), 4 << 40) == 0 else {
                return print("not run: no file here may be so long")
            }
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            #expect {
                _ = try LogReader(number: 1, in: directory, writable: false, copies: true)
            } throws: {
                let error = $0 as? RoostError
                return error?.code == .io && error?.file == segmentPath(path, 1)
            }
            let reader = try LogReader(number: 1, in: directory, writable: false)
            guard case .valid(let header) = reader.header else {
                Issue.record("the header is whole")
                return
            }
            var count = 0
            _ = try reader.scan(header, expected: 1) { _ in count += 1 }
            #expect(count == 1)
        }
    }
}
