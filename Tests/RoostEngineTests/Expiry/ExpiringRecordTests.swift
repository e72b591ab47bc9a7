import RoostFormat
import RoostIO
import RoostSnapshot
import RoostTestSupport
import Testing

@testable import RoostEngine

/// What flushes and merges make of records that expire.
@Suite struct ExpiringRecordTests {
    private typealias Put = (key: String, deadline: UInt64?)

    private struct Fixture {
        let directory: any Directory
        let samples = SampleOperations()

        init(_ path: String) throws {
            directory = try PosixFileSystem().openDirectory(at: path, create: false)
        }

        func table(_ puts: [Put], sequence: UInt64) -> LogTable {
            var table = LogTable()
            table.hold(samples.region)
            for (key, deadline) in puts {
                let value = EncodedValue(
                    kind: ValueKind.bytes.rawValue, payload: .bytes(.init(repeating: 7, count: 100))
                ).with(deadline: deadline.map { Deadline(milliseconds: $0) } ?? .never)
                table.insert(
                    samples.add(Array(key.utf8), sequence: sequence, value),
                    hash: sampleHash(Array(key.utf8)), sequence: sequence)
            }
            return table
        }

        /// Writes snapshot `number` at the time `now`; `nil` where nothing remains.
        func build(
            _ origin: SnapshotBuilder.Job.Origin, number: UInt64, now: UInt64,
            dropsTombstones: Bool
        ) throws -> SnapshotReader? {
            let builder = SnapshotBuilder(
                directory: directory, workspace: .init(first: 1, second: 2), hashSeed: sampleSeed,
                dictionary: .init(), dropsTombstones: dropsTombstones, clears: [:],
                clock: ExpiryClock { now }, isStopping: { false })
            let footer = try builder.build(
                .init(number: number, lowerBound: [], origin: origin))
            return try footer.map { _ in try SnapshotReader(number: number, in: directory) }
        }

        func flush(
            _ puts: [Put], number: UInt64, now: UInt64, isFirst: Bool
        ) throws -> SnapshotReader? {
            let sorted = SortedTable([table(puts, sequence: number)])
            return try build(
                .operations(sorted, sorted.operations.indices), number: number, now: now,
                dropsTombstones: isFirst)
        }

        func merge(
            _ snapshots: [SnapshotReader], number: UInt64, now: UInt64, isAll: Bool
        ) throws -> SnapshotReader? {
            let tiers = snapshots.map { ColdTier([.init(snapshot: $0, lowerBound: [])]) }
            return try build(
                .tiers(tiers, upper: nil), number: number, now: now, dropsTombstones: isAll)
        }
    }

    private func content(_ reader: SnapshotReader?) throws -> [String] {
        guard let reader else { return [] }
        let cursor = SnapshotCursor(reader)
        try cursor.moveToFirst()
        var found: [String] = []
        while let record = cursor.record {
            let until = record.deadline == .never ? "" : " until \(record.deadline.milliseconds)"
            let what = record.isPut ? "put" : "tombstone"
            found.append("\(what) \(String(decoding: cursor.key, as: UTF8.self))\(until)")
            if record.isPut {
                try reader.withValue(of: record) { value in
                    #expect(ValueHeader(value)?.deadline == record.deadline)
                    #expect(value.suffix(100).allSatisfy { $0 == 7 })
                }
            }
            try cursor.moveToNext()
        }
        return found
    }

    @Test func aFlushMakesTombstonesOfWhatHasExpiredWhereSomethingOlderMayLieBelow() async throws {
        try await withTemporaryDirectory { path in
            let fixture = try Fixture(path)
            let puts: [Put] = [("a", 1000), ("b", 1001), ("c", nil)]
            let newer = try fixture.flush(puts, number: 2, now: 1000, isFirst: false)
            #expect(try content(newer) == ["tombstone a", "put b until 1001", "put c"])
            let bottom = try fixture.flush(puts, number: 3, now: 1000, isFirst: true)
            #expect(try content(bottom) == ["put b until 1001", "put c"])
            #expect(try fixture.flush([("a", 1000)], number: 4, now: 1000, isFirst: true) == nil)
        }
    }

    @Test func aMergeDropsWhatHasExpiredAndRevealsNothingOlder() async throws {
        try await withTemporaryDirectory { path in
            let fixture = try Fixture(path)
            let oldest = try fixture.flush(
                [("a", nil), ("c", 9)], number: 1, now: 0, isFirst: true)!
            let middle = try fixture.flush(
                [("a", 10), ("b", 10)], number: 2, now: 0, isFirst: false)!
            let newest = try fixture.flush([("b", nil)], number: 3, now: 0, isFirst: false)!
            #expect(middle.footer.earliestDeadline.milliseconds == 10)
            #expect(newest.footer.earliestDeadline == .never)
            let all = [newest, middle, oldest]
            let partial = try fixture.merge([newest, middle], number: 4, now: 10, isAll: false)
            #expect(try content(partial) == ["tombstone a", "put b"])
            let whole = try fixture.merge(all, number: 5, now: 10, isAll: true)
            #expect(try content(whole) == ["put b"])
            let before = try fixture.merge(all, number: 6, now: 8, isAll: true)
            #expect(try content(before) == ["put a until 10", "put b", "put c until 9"])
            #expect(before?.footer.earliestDeadline.milliseconds == 9)
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
