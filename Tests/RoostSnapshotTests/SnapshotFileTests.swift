import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@Suite struct SnapshotFileTests {
    @Test(arguments: [1, 2, 15, 16, 17, 500, 3_000])
    func everyRecordIsFoundAndVisitedInOrder(count: Int) async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(count, &random)
        let dictionary = CompressionDictionary.train(
            samples: records.compactMap(\.value), recordCount: count)
        for dictionary in [nil, CompressionDictionary(), dictionary] {
            try await withTemporaryDirectory { path in
                let reader = try writeSnapshot(records, dictionary: dictionary, at: path)
                #expect(try reader.allSamples() == records)
                for record in records { #expect(try reader.sample(record.key) == record) }
                #expect(reader.footer.recordCount == UInt64(count))
                #expect(reader.footer.tombstoneCount == UInt64(records.count { $0.value == nil }))
                #expect(reader.footer.minimumSequence == records.map(\.sequence).min())
                #expect(reader.footer.maximumSequence == records.map(\.sequence).max())
            }
        }
    }

    @Test func absentKeysAreNotFound() async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(800, &random)
        let present = Set(records.map(\.key))
        try await withTemporaryDirectory { path in
            let reader = try writeSnapshot(records, at: path)
            for record in records {
                for key in [
                    record.key + [0], record.key + [255], Array(record.key.dropLast()),
                    record.key + [97],
                ]
                where !key.isEmpty && !present.contains(key) {
                    #expect(try reader.sample(key) == nil)
                }
            }
        }
    }

    @Test func theCursorMovesToTheFirstKeyNotBeforeATarget() async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(400, &random)
        try await withTemporaryDirectory { path in
            let reader = try writeSnapshot(records, at: path)
            let cursor = SnapshotCursor(reader)
            for _ in 0..<400 {
                var target = records[random.below(records.count)].key
                if random.once(in: 2) { target = Array(target.dropLast(random.below(3))) }
                if random.once(in: 2) { target.append(random.bytes(1)[0]) }
                try target.withUnsafeBytes { try cursor.move(to: $0) }
                let expected = records.first { !$0.key.lexicographicallyPrecedes(target) }
                #expect(cursor.record == nil ? expected == nil : Array(cursor.key) == expected?.key)
            }
        }
    }

    @Test func findAgreesWithALinearScanOfTheGroup() async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(600, &random)
        try await withTemporaryDirectory { path in
            let reader = try writeSnapshot(records, at: path)
            for index in 0..<reader.groupCount {
                let group = try reader.group(index)
                for _ in 0..<40 {
                    var key = records[random.below(records.count)].key
                    if random.once(in: 3) { key.append([0, 97, 255][random.below(3)]) }
                    let firstKey = reader.footer.firstKey
                    #expect(found(key, group, firstKey) == linear(key, group, firstKey))
                }
            }
        }
    }

    /// Mutated groups, as if their checksum had been made to hold: any answer will do, no trap.
    @Test func hostileGroupsAreWalkedWithoutATrap() async throws {
        var random = SeededGenerator(seed: testSeed())
        let records = randomRecords(300, &random).filter {
            ($0.value?.count ?? 0) < 200 && $0.key.count < 100
        }
        try await withTemporaryDirectory { path in
            let reader = try writeSnapshot(records, dictionary: .init(), at: path)
            for round in 0..<15_000 {
                var hostile = Array(try reader.group(round % reader.groupCount))
                for _ in 0..<(1 + random.below(4)) {
                    let at = 8 + random.below(hostile.count - 8)
                    hostile[at] = random.once(in: 3) ? 0xff : random.bytes(1)[0]
                }
                if random.once(in: 4) { hostile.removeLast(random.below(hostile.count - 9)) }
                hostile.withUnsafeBytes { hostile in
                    let key = records[random.below(records.count)].key
                    let firstKey = reader.footer.firstKey
                    _ = found(key, hostile, firstKey)
                    guard
                        var cursor = RecordGroup.Cursor(hostile, firstKeyCount: firstKey.count)
                    else { return }
                    while !cursor.isAtEnd, let record = cursor.next() {
                        #expect(record.suffix.count + record.stored.count <= hostile.count)
                    }
                }
            }
        }
    }

    private func found(
        _ key: [UInt8], _ group: UnsafeRawBufferPointer, _ firstKey: FirstKey
    ) -> UInt64? {
        key.withUnsafeBytes { key in
            if case .found(let record) = RecordGroup.find(key, in: group, firstKey: firstKey) {
                record.sequence
            } else {
                nil
            }
        }
    }

    private func linear(
        _ key: [UInt8], _ group: UnsafeRawBufferPointer, _ firstKey: FirstKey
    ) -> UInt64? {
        guard var cursor = RecordGroup.Cursor(group, firstKeyCount: firstKey.count) else {
            return nil
        }
        var current = firstKey.withBytes { Array($0) }
        while !cursor.isAtEnd, let record = cursor.next() {
            current = Array(current.prefix(record.shared)) + Array(record.suffix)
            if current == key { return record.sequence }
        }
        return nil
    }

    /// An opening refuses what is longer; the workspace with it.
    @Test func aManifestThatCouldNotBeReadAgainIsNotWritten() async throws {
        try await withTemporaryDirectory { path in
            let directory = try PosixFileSystem().openDirectory(at: path, create: false)
            let old = ManifestRecord(
                workspace: .init(first: 1, second: 2), hashSeed: .init(first: 3, second: 4))
            try ManifestFile.replace(with: old, in: directory)
            var long = old
            long.clears = (0..<(Limits.manifestSizeBytes / 272 + 1)).map { number in
                let name = String(repeating: "n", count: 245) + String(1_000_000_000 + number)
                return .init(prefix: [255] + Array(name.utf8), sequence: 1)
            }
            var last = old
            last.generation = Limits.number
            for (record, code) in [(long, RoostError.Code.io), (last, .corrupt)] {
                #expect {
                    try ManifestFile.replace(with: record, in: directory)
                } throws: {
                    ($0 as? RoostError)?.code == code
                }
                #expect(
                    try ManifestFile.read(in: directory, entries: directory.entries()) == old)
            }
        }
    }
}
