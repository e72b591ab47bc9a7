import Foundation
import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@Suite struct SnapshotDamageTests {
    /// One flipped bit at every byte: each read gives what was written, or says where the damage is.
    @Test func aFlippedBitNeverGivesAWrongValue() async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(60, &random).filter {
            $0.key.count < 60 && ($0.value?.count ?? 0) < 100
        }
        let dictionary = CompressionDictionary(
            bytes: Array("value of bytes, again and again".utf8), recordCount: 9)
        try await withTemporaryDirectory { path in
            let name = "\(path)/\(FileName.snapshot(1).text)"
            _ = try writeSnapshot(records, dictionary: dictionary, at: path)
            let original = try readBytes(name)
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            var damages = 0
            for byte in original.indices {
                var damaged = original
                damaged[byte] ^= 1 << UInt8(random.below(8))
                try writeBytes(damaged, to: name)
                do {
                    let reader = try SnapshotReader(number: 1, in: directory)
                    for record in records.shuffled(using: &random).prefix(12) {
                        do {
                            #expect(try reader.sample(record.key) == record, "byte \(byte)")
                        } catch { damages += check(error, name, byte) }
                    }
                    do { #expect(try reader.allSamples() == records) } catch {
                        damages += check(error, name, byte)
                    }
                } catch { damages += check(error, name, byte) }
            }
            #expect(damages > original.count / 2)
        }
    }

    private func check(_ error: any Error, _ name: String, _ byte: Int) -> Int {
        guard let error = error as? RoostError else {
            Issue.record("byte \(byte): \(error)")
            return 0
        }
        #expect(
            error.code == .corrupt || (error.code == .unsupportedVersion && (8..<12).contains(byte))
        )
        #expect(error.file == name)
        #expect(error.offset != nil)
        return 1
    }

    @Test func everyTruncationIsCorrupt() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            let name = "\(path)/\(FileName.snapshot(1).text)"
            _ = try writeSnapshot(randomRecords(20, &random), at: path)
            let original = try readBytes(name)
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            for count in stride(from: 0, to: original.count, by: 7) {
                try writeBytes(original[..<count], to: name)
                #expect { _ = try SnapshotReader(number: 1, in: directory) } throws: {
                    ($0 as? RoostError)?.code == .corrupt
                }
            }
        }
    }
}
