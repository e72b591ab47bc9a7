import RoostFormat
import RoostIO
import RoostSnapshot

/// A record as a test wants it in a snapshot.
struct SampleRecord: Equatable {
    var key: [UInt8]
    var sequence: UInt64
    /// `nil` makes a tombstone.
    var value: [UInt8]?
}

let sampleSeed = HashSeed(first: 1, second: 2)

/// Writes `records`, which are in key order, as snapshot 1 of the directory at `path`.
func writeSnapshot(
    _ records: [SampleRecord], dictionary: CompressionDictionary? = nil, at path: String,
    number: UInt64 = 1
) throws -> SnapshotReader {
    let directory = try PosixFileSystem().openDirectory(at: path, create: false)
    var writer = try SnapshotWriter(
        directory: directory, number: number, workspace: .init(first: 9, second: 8),
        hashSeed: sampleSeed, dictionary: dictionary, expectedRecordCount: records.count)
    for record in records {
        try record.key.withUnsafeBytes { key in
            if let value = record.value {
                try value.withUnsafeBytes {
                    try writer.add(key: key, sequence: record.sequence, value: $0)
                }
            } else {
                try writer.addTombstone(key: key, sequence: record.sequence)
            }
        }
    }
    _ = try writer.finish()
    return try SnapshotReader(number: number, in: directory)
}

extension SnapshotReader {
    /// The record of a key as the test wrote it.
    func sample(_ key: [UInt8]) throws -> SampleRecord? {
        try key.withUnsafeBytes { (bytes) -> SampleRecord? in
            guard let record = try find(bytes, hash: sampleSeed.hash(bytes)) else { return nil }
            return SampleRecord(
                key: key, sequence: record.sequence,
                value: record.isPut ? try self.value(of: record) : nil)
        }
    }

    /// Every record, in the snapshot's order.
    func allSamples() throws -> [SampleRecord] {
        let cursor = SnapshotCursor(self)
        try cursor.moveToFirst()
        var records: [SampleRecord] = []
        while let record = cursor.record {
            records.append(
                SampleRecord(
                    key: Array(cursor.key), sequence: record.sequence,
                    value: record.isPut ? try self.value(of: record) : nil))
            try cursor.moveToNext()
        }
        return records
    }

    private func value(of record: RecordGroup.Record) throws -> [UInt8] {
        var value: [UInt8] = []
        try withValue(of: record) { value = Array($0) }
        return value
    }
}
