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

    /// Other keys in the place of those of the first group, with the right checksum.
    private func rewriteGroup(_ path: String, keys: [[UInt8]], sequence: UInt64 = 1) throws {
        let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
        var bytes = try readBytes("\(path)/\(name)")
        let footer = try #require(Self.footer(bytes))
        var builder = RecordGroup.Builder()
        for key in keys {
            let value: [UInt8] = [16, 5]
            key.withUnsafeBytes { key in
                value.withUnsafeBytes {
                    builder.add(
                        key: key, sequence: sequence, flags: .put, stored: $0, rawCount: $0.count)
                }
            }
        }
        var group = OutputBuffer()
        builder.finish(seed: footer.groupSeed.part(0), into: &group)
        let start = Int(footer.groupsOffset)
        let size = bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: start + 4, as: UInt32.self)
        }
        try #require(group.count <= Int(size) + 7)
        withExtendedLifetime(group) { group in
            bytes.replaceSubrange(start..<(start + group.count), with: Array(group.bytes))
        }
        try writeBytes(bytes, to: "\(path)/\(name)")
    }

    private static func footer(_ bytes: [UInt8]) -> SnapshotFooter? {
        bytes.withUnsafeBytes {
            if case .valid(let footer) = SnapshotFooter.read($0) { footer } else { nil }
        }
    }

    private func makeSmall(_ path: String) async throws {
        let workspace = try await Workspace.open(
            at: path, configuration: .init(shardCount: 1, durability: .process))
        try await workspace.dictionary("d").setAll(
            (0..<20).map { String(UnicodeScalar(UInt8(97 + $0))) }.map { ($0, [5] as [UInt8]) })
        try await workspace.compact()
        try await workspace.close()
    }

    /// A scan took a key for one of its range, and the process ended where the key had no dictionary to cut off.
    @Test(
        arguments: [[[1, 100, 97], [255], [1, 100, 98]], [[1, 100, 97], [255]]] as [[[UInt8]]])
    func keysThatAreOutOfOrderAreRefusedByScans(keys: [[UInt8]]) async throws {
        try await withTemporaryDirectory { path in
            try await makeSmall(path)
            try rewriteGroup(path, keys: keys)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            let dictionary = workspace.dictionary("d")
            var refusedCount = 0
            func scanning(_ body: () throws -> Void) {
                do { try body() } catch {
                    #expect((error as? RoostError)?.code == .corrupt, "\(error)")
                    refusedCount += 1
                }
            }
            for order in [ScanOrder.ascending, .descending] {
                scanning {
                    try workspace.read { _ = try $0.keys(of: dictionary, order: order) }
                }
                scanning {
                    try workspace.read { view in
                        try view.forEachBytes(of: dictionary, order: order) { _, _ in }
                    }
                }
                scanning { _ = try dictionary.page(as: [UInt8].self, limit: 10, order: order) }
                do {
                    for try await _ in dictionary.entries(as: [UInt8].self, order: order) {}
                } catch { scanning { throw error } }
            }
            // On the way up those after the last key of the range are not looked for.
            #expect(refusedCount == (keys.count == 3 ? 8 : 4))
            try await workspace.close()
        }
    }

    /// The merge with records of numbers that are far from it ended the process.
    @Test(arguments: [Limits.number, .max])
    func aNumberBeyondTheLimitIsRefusedByReadsAndMerges(sequence: UInt64) async throws {
        try await withTemporaryDirectory { path in
            try await makeSmall(path)
            try rewriteGroup(path, keys: [[1, 100, 97]], sequence: sequence)
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process))
            let dictionary = workspace.dictionary("d")
            #expect { _ = try dictionary["a", as: [UInt8].self] } throws: {
                ($0 as? RoostError)?.code == .corrupt
            }
            try await dictionary.set([6] as [UInt8], forKey: "z")
            await #expect { try await workspace.compact() } throws: {
                ($0 as? RoostError)?.code == .corrupt
            }
            do { try await workspace.close() } catch let error as RoostError {
                #expect(error.code == .corrupt)
            }
        }
    }

    /// Such a log was replayed, and the counts of the snapshot that its flush wrote could not be read.
    @Test(arguments: [Workspace.Configuration.Access.readWrite, .readOnly])
    func aKeyWithoutAWholeDictionaryNameIsRefusedByOpenings(
        access: Workspace.Configuration.Access
    ) async throws {
        try await withTemporaryDirectory { path in
            let workspace = try await Workspace.open(
                at: path, configuration: .init(shardCount: 1, durability: .process))
            try await workspace.dictionary("d").set([5] as [UInt8], forKey: "k")
            try await workspace.close()
            let name = try #require(try fileNames(in: path, prefix: "log").first)
            var bytes = try readBytes("\(path)/\(name)")
            try bytes.withUnsafeMutableBytes { bytes in
                guard case .valid(let header) = SegmentHeader.read(.init(bytes)) else {
                    Issue.record("no segment")
                    return
                }
                let frame = try #require(
                    Frame.view(
                        in: .init(bytes), at: SegmentHeader.sizeBytes, seed: header.seed))
                let start = bytes.baseAddress! + SegmentHeader.sizeBytes
                (start + Frame.headerSizeBytes + Operation.headerSizeBytes).storeBytes(
                    of: 255, as: UInt8.self)
                Frame.finish(
                    at: start, payloadCount: frame.payloadCount, sequence: frame.sequence,
                    durableSequence: frame.durableSequence, flags: frame.flags, seed: header.seed)
            }
            try writeBytes(bytes, to: "\(path)/\(name)")
            await #expect {
                _ = try await Workspace.open(at: path, configuration: .init(access: access))
            } throws: { ($0 as? RoostError)?.code == .corrupt }
        }
    }

    /// What every count of keys adds up.
    @Test func countsBeyondTheRecordsAreRefused() async throws {
        try await withTemporaryDirectory { path in
            try await makeSmall(path)
            let name = try #require(try fileNames(in: path, prefix: "snapshot-").first)
            var bytes = try readBytes("\(path)/\(name)")
            var footer = try #require(Self.footer(bytes))
            let counts = Int(footer.countsOffset)
            bytes.withUnsafeMutableBytes { bytes in
                let start = bytes.baseAddress! + counts
                start.storeBytes(of: UInt64(1) << 61, as: UInt64.self)
                footer.countsChecksum = footer.countsSeed.checksum(
                    .init(start: start, count: Int(footer.countsSizeBytes)))
                footer.write(to: bytes.baseAddress! + bytes.count - SnapshotFooter.sizeBytes)
            }
            try writeBytes(bytes, to: "\(path)/\(name)")
            let workspace = try await Workspace.open(
                at: path, configuration: .init(access: .readOnly))
            #expect { _ = try workspace.dictionary("d").count } throws: {
                ($0 as? RoostError)?.code == .corrupt
            }
            try await workspace.close()
        }
    }

    /// Such a store was opened and written to, and the process ended at the first flush, or the next opening found
    /// nothing of what had been acknowledged.
    @Test(arguments: 0..<4) func numbersWithoutASuccessorAreNotWrittenAfter(which: Int) async throws
    {
        try await withTemporaryDirectory { path in
            try await makeSmall(path)
            let original = try readBytes("\(path)/MANIFEST")
            let last = Limits.number - 1
            if which == 3 {
                try writeBytes([], to: "\(path)/\(FileName.segment(last).text)")
            } else {
                guard case .valid(var manifest) = original.withUnsafeBytes(ManifestRecord.read)
                else {
                    Issue.record("no manifest")
                    return
                }
                switch which {
                case 0: manifest.generation = last
                case 1: manifest.nextSnapshotNumber = last
                default: manifest.flushedSequence = last
                }
                let encoded = manifest.encoded()
                try withExtendedLifetime(encoded) {
                    try writeBytes(Array($0.bytes), to: "\(path)/MANIFEST")
                }
            }
            await #expect { _ = try await Workspace.open(at: path) } throws: {
                ($0 as? RoostError)?.code == .corrupt
            }
            // Nothing was done to it.
            if which == 3 {
                try FileManager.default.removeItem(
                    atPath: "\(path)/\(FileName.segment(last).text)")
            } else {
                try writeBytes(original, to: "\(path)/MANIFEST")
            }
            let workspace = try await Workspace.open(at: path)
            #expect(try workspace.dictionary("d").count == 20)
            try await workspace.close()
        }
    }
}
