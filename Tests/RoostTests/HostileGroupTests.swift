import Foundation
import Roost
import RoostFormat
import RoostTestSupport
import Testing

/// Bytes of a group that somebody changed and gave the right checksum: reads and scans give a value or
/// say that it is corrupt, whatever the lengths in it claim.
@Suite struct HostileGroupTests {
    private static let keyCount = 10

    private func write(at path: String) async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(shardCount: 1, durability: .process))
        let dictionary = workspace.dictionary("d")
        for number in 0..<Self.keyCount {
            let value = "a value like others, a value like others, \(number)"
            if number % 5 == 4 {
                try await dictionary.set(
                    value, forKey: "k\(number)",
                    expiresAt: Date(timeIntervalSince1970: 7_258_118_400))
            } else {
                try await dictionary.set(value, forKey: "k\(number)")
            }
        }
        try await workspace.compact()
        try await workspace.close()
    }

    /// Reads everything in every way; how many of them were refused.
    private func readAll(_ path: String) async throws -> Int {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(access: .readOnly))
        let dictionary = workspace.dictionary("d")
        var refusedCount = 0
        func reading(_ body: () throws -> Void) {
            do { try body() } catch {
                // A value's own bytes may have become those of another kind, or of a later version.
                let codes: [RoostError.Code] = [
                    .corrupt, .typeMismatch, .decodingFailed, .unsupportedVersion,
                ]
                #expect((error as? RoostError).map { codes.contains($0.code) } ?? false, "\(error)")
                refusedCount += 1
            }
        }
        for number in 0..<Self.keyCount {
            reading { _ = try dictionary["k\(number)", as: String.self] }
        }
        for order in [ScanOrder.ascending, .descending] {
            do {
                for try await _ in dictionary.entries(as: String.self, order: order) {}
            } catch { reading { throw error } }
        }
        let report = try await workspace.verify()
        if !report.isSound { refusedCount += 1 }
        try await workspace.close()
        return refusedCount
    }

    @Test func aGroupWithTheRightChecksumIsStillNotBelieved() async throws {
        var random = SeededGenerator(seed: testSeed())
        try await withTemporaryDirectory { path in
            try await write(at: path)
            let name = try #require(
                try contents(ofDirectory: path).keys.first { $0.hasPrefix("snapshot-") })
            let original = try readBytes("\(path)/\(name)")
            let footer = original.withUnsafeBytes { bytes -> SnapshotFooter? in
                if case .valid(let footer) = SnapshotFooter.read(bytes) { footer } else { nil }
            }
            let start = Int(try #require(footer).groupsOffset)
            let seed = try #require(footer).groupSeed.part(0)
            let size = original.withUnsafeBytes {
                Int(($0.baseAddress! + start).load(UInt32.self, at: 4))
            }
            #expect(try await readAll(path) == 0)
            var refusedCount = 0
            for offset in 8..<size {
                var hostile = original
                hostile[start + offset] =
                    [0xff, 0x7f, 0, UInt8(random.below(256))][random.below(4)]
                hostile.withUnsafeMutableBytes { bytes in
                    let group = bytes.baseAddress! + start
                    group.store(seed.checksum(group + 4, count: size - 4), at: 0)
                }
                try writeBytes(hostile, to: "\(path)/\(name)")
                if try await readAll(path) > 0 { refusedCount += 1 }
            }
            print("groups that were refused: \(refusedCount) of \(size - 8)")
            #expect(refusedCount > 20)
        }
    }
}
