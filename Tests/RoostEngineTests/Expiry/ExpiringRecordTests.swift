import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@testable import RoostEngine

/// What a merge makes of records that expire, run by run.
@Suite struct ExpiringRecordTests {
    private func merge(
        _ runs: [[(key: String, deadline: UInt64?)]], dropsTombstones: Bool, in path: String
    ) throws -> [String] {
        let directory = try PosixFileSystem().openDirectory(at: path, create: false)
        let samples = SampleOperations()
        var sequence: UInt64 = 100
        var tables: [LogTable] = []
        for run in runs {
            var table = LogTable()
            table.hold(samples.region)
            for (key, deadline) in run {
                let value = EncodedValue(
                    kind: ValueKind.bytes.rawValue, payload: .bytes(.init(repeating: 7, count: 100))
                ).with(deadline: deadline.map { Deadline(milliseconds: $0) } ?? .never)
                table.insert(
                    samples.add(Array(key.utf8), sequence: sequence, value),
                    hash: sampleHash(Array(key.utf8)), sequence: sequence)
            }
            tables.append(table)
            sequence -= 10
        }
        let builder = SnapshotBuilder(
            directory: directory, workspace: .init(first: 1, second: 2), hashSeed: sampleSeed,
            compresses: true, clears: [:], clock: ExpiryClock { 1000 }, isStopping: { false })
        let footer = try builder.build(
            .init(
                runs: tables.map { RecordRun(SortedTable($0)) }, expectedRecordCount: 9,
                dropsTombstones: dropsTombstones),
            number: 1, shard: 0, dictionary: .init())
        guard footer != nil else { return [] }
        let reader = try SnapshotReader(number: 1, in: directory)
        let cursor = SnapshotCursor(reader)
        try cursor.moveToFirst()
        var found: [String] = []
        while let record = cursor.record {
            let until = record.deadline == .never ? "" : " until \(record.deadline.milliseconds)"
            let what = record.isPut ? "put" : "tombstone"
            found.append("\(what) \(String(decoding: cursor.key, as: UTF8.self))\(until)")
            try cursor.moveToNext()
        }
        return found
    }

    @Test func anExpiredPutBecomesATombstoneAboveOlderSnapshots() async throws {
        try await withTemporaryDirectory { path in
            let found = try merge(
                [[("a", 1000), ("b", 1001), ("c", nil)]], dropsTombstones: false, in: path)
            #expect(found == ["tombstone a", "put b until 1001", "put c"])
        }
    }

    @Test func anExpiredPutLeavesNothingWhereNothingIsOlder() async throws {
        try await withTemporaryDirectory { path in
            let found = try merge(
                [[("a", 1000)], [("a", nil), ("b", 5)]], dropsTombstones: true, in: path)
            #expect(found == [])
        }
    }

    @Test func aNewerPutThatStaysHidesAnOlderThatExpired() async throws {
        try await withTemporaryDirectory { path in
            let found = try merge([[("a", nil)], [("a", 10)]], dropsTombstones: false, in: path)
            #expect(found == ["put a"])
        }
    }
}

extension SampleOperations {
    func add(_ key: [UInt8], sequence: UInt64, _ value: EncodedValue) -> Operation {
        var bytes = [UInt8](repeating: 0, count: value.count)
        bytes.withUnsafeMutableBytes { value.write(to: $0.baseAddress!) }
        return add(key, sequence: sequence, value: bytes, kind: value.operationKind)
    }
}
