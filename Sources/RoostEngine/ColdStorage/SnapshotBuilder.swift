import RoostFormat
import RoostIO
import RoostSnapshot

/// Writes one shard's records, from a frozen table or from snapshots to be merged, into a new
/// snapshot. Blocks; runs on the compactor's thread.
struct SnapshotBuilder {
    let directory: any Directory
    let workspace: WorkspaceIdentifier
    let hashSeed: HashSeed
    let compresses: Bool
    /// Records older than their dictionary's entry are left out.
    let clears: [[UInt8]: UInt64]
    /// Values that have expired are left out; a tombstone hides what is older.
    let clock: ExpiryClock
    /// Asked now and then; `true` gives the work up.
    let isStopping: () -> Bool

    struct Source {
        var runs: [RecordRun]
        var expectedRecordCount: Int
        /// Nothing older than these runs is left, so tombstones have nothing to hide.
        var dropsTombstones: Bool
    }

    /// The finished file's footer, or `nil` where no record remained and there is no file.
    func build(
        _ source: Source, number: UInt64, shard: Int, dictionary: CompressionDictionary
    ) throws -> SnapshotFooter? {
        let writer = try SnapshotWriter(
            directory: directory, number: number, shard: shard, workspace: workspace,
            hashSeed: hashSeed, dictionary: compresses ? dictionary : nil,
            expectedRecordCount: source.expectedRecordCount)
        do {
            let cursor = MergeCursor(source.runs)
            var steps = 0
            while let run = cursor.current {
                steps += 1
                if steps % 1024 == 0, isStopping() {
                    throw RoostError(.closed, "the workspace is being closed")
                }
                if isKept(run) {
                    if run.isPut, clock.isLive(run.deadline) {
                        try run.copyPut(to: writer)
                    } else if !source.dropsTombstones {
                        try writer.addTombstone(key: run.key, sequence: run.sequence)
                    }
                }
                try cursor.moveToNext()
            }
            if writer.recordCount > 0 { return try writer.finish() }
        } catch {
            try writer.discard()
            throw error
        }
        try writer.discard()
        return nil
    }

    private func isKept(_ run: RecordRun) -> Bool {
        guard !clears.isEmpty, let (name, _) = splitRecordKey(run.key),
            let cleared = clears[[UInt8(name.count)] + Array(name)]
        else { return true }
        return run.sequence >= cleared
    }

    /// A dictionary trained from values spread evenly over the table.
    static func trainDictionary(_ table: SortedTable) -> CompressionDictionary {
        let stride = max(1, table.operations.count / sampleCount)
        var samples: [[UInt8]] = []
        for index in Swift.stride(from: 0, to: table.operations.count, by: stride) {
            addSample(table.operations[index].value, to: &samples)
        }
        return .train(samples: samples, recordCount: table.operations.count)
    }

    /// A dictionary trained from values spread evenly over a snapshot.
    static func trainDictionary(_ snapshot: SnapshotReader, recordCount: Int) throws -> CompressionDictionary {
        let stride = max(1, snapshot.groupCount / sampleCount)
        var samples: [[UInt8]] = []
        for index in Swift.stride(from: 0, to: snapshot.groupCount, by: stride) {
            let group = try snapshot.group(index)
            guard var cursor = RecordGroup.Cursor(group) else { continue }
            var taken = 0
            while !cursor.isAtEnd, taken < max(1, sampleCount / snapshot.groupCount), let record = cursor.next() {
                guard record.isPut else { continue }
                try snapshot.withValue(of: record) { addSample($0, to: &samples) }
                taken += 1
            }
        }
        return .train(samples: samples, recordCount: recordCount)
    }

    private static let sampleCount = 1024
    private static let sampleSizeBytes = 1024

    private static func addSample(_ value: UnsafeRawBufferPointer, to samples: inout [[UInt8]]) {
        let value = value.dropFirst(ValueHeader.uncompressedCount(value))
        guard value.count >= ValueCompressor.minimumSizeBytes else { return }
        samples.append(Array(value.prefix(sampleSizeBytes)))
    }
}
