import RoostFormat
import RoostIO
import RoostSnapshot

/// Writes one shard's records, from a frozen table or from snapshots to be merged, into a new
/// snapshot. Blocks; runs on a build thread.
struct SnapshotBuilder: Sendable {
    let directory: any Directory
    let workspace: WorkspaceIdentifier
    let hashSeed: HashSeed
    let compresses: Bool
    /// Records older than their dictionary's entry are left out.
    let clears: [[UInt8]: UInt64]
    /// Values that have expired are left out; a tombstone hides what is older.
    let clock: ExpiryClock
    /// `nil` where no value is to be rewritten.
    var rewriter: (any ValueRewriter)?
    /// Asked now and then; `true` gives the work up.
    let isStopping: @Sendable () -> Bool

    /// One snapshot to be written.
    struct Job: Sendable {
        enum Origin: Sendable {
            /// A flush.
            case table(LogTable)
            /// A merge of these, the newest first.
            case snapshots([SnapshotReader])
        }

        let shard: Int
        let number: UInt64
        let origin: Origin
        /// All of the shard's snapshots, the newest first; a merge's are the first of them.
        let existing: [SnapshotReader]
    }

    private enum Records {
        case table(SortedTable)
        case runs([RecordRun])
    }

    private struct Source {
        let records: Records
        let expectedRecordCount: Int
        /// Nothing older than these records is left, so tombstones have nothing to hide.
        let dropsTombstones: Bool
        let dictionary: CompressionDictionary
    }

    /// The finished file's footer, or `nil` where no record remained and there is no file.
    func build(_ job: Job) throws -> SnapshotFooter? {
        try write(source(job), number: job.number, shard: job.shard)
    }

    private func source(_ job: Job) throws -> Source {
        var dictionary = try job.existing.last?.dictionary() ?? .init()
        switch job.origin {
        case .table(let table):
            let sorted = SortedTable(table)
            let count = sorted.operations.count
            if compresses, dictionary.isOutgrown(byRecordCount: count) {
                dictionary = Self.trainDictionary(sorted)
            }
            return Source(
                records: .table(sorted), expectedRecordCount: count,
                dropsTombstones: job.existing.isEmpty, dictionary: dictionary)
        case .snapshots(let snapshots):
            for snapshot in snapshots { snapshot.region.readAhead() }
            let isAll = snapshots.count == job.existing.count
            let count = snapshots.reduce(0) { $0 + Int($1.footer.recordCount) }
            if isAll, compresses, dictionary.isOutgrown(byRecordCount: count),
                let largest = snapshots.max(by: { $0.footer.recordCount < $1.footer.recordCount })
            {
                dictionary = try Self.trainDictionary(largest, recordCount: count)
            }
            return Source(
                records: .runs(try snapshots.map(RecordRun.init)), expectedRecordCount: count,
                dropsTombstones: isAll, dictionary: dictionary)
        }
    }

    private func write(_ source: Source, number: UInt64, shard: Int) throws -> SnapshotFooter? {
        var writer = try SnapshotWriter(
            directory: directory, number: number, shard: shard, workspace: workspace,
            hashSeed: hashSeed, dictionary: compresses ? source.dictionary : nil,
            expectedRecordCount: source.expectedRecordCount)
        do {
            switch source.records {
            case .table(let table): try add(table, to: &writer, source.dropsTombstones)
            case .runs(let runs): try add(runs, to: &writer, source.dropsTombstones)
            }
            if writer.recordCount > 0 { return try writer.finish() }
        } catch {
            try writer.discard()
            throw error
        }
        try writer.discard()
        return nil
    }

    private func add(
        _ table: SortedTable, to writer: inout SnapshotWriter, _ dropsTombstones: Bool
    ) throws {
        for (index, operation) in table.operations.enumerated() {
            if index % Self.pauseInterval == 0 { try pause() }
            // The records lie in the log in the order of their writing.
            if index + Self.lookAhead < table.operations.count {
                table.operations[index + Self.lookAhead].prefetch()
            }
            let key = operation.key
            let sequence = operation.sequence
            guard isKept(key, sequence) else { continue }
            if operation.isPut, clock.isLive(operation.deadline) {
                if try rewrite(operation.value, of: key, sequence, to: &writer) { continue }
                try writer.add(key: key, sequence: sequence, value: operation.value)
            } else if !dropsTombstones {
                try writer.addTombstone(key: key, sequence: sequence)
            }
        }
    }

    private func add(
        _ runs: [RecordRun], to writer: inout SnapshotWriter, _ dropsTombstones: Bool
    ) throws {
        for run in runs { try run.prepareCopies(to: writer.dictionary) }
        let cursor = MergeCursor(runs)
        var steps = 0
        while let run = cursor.current {
            steps += 1
            if steps % Self.pauseInterval == 0 { try pause() }
            if isKept(run.key, run.sequence) {
                if run.isPut, clock.isLive(run.deadline) {
                    try copy(run, to: &writer)
                } else if !dropsTombstones {
                    try writer.addTombstone(key: run.key, sequence: run.sequence)
                }
            }
            try cursor.moveToNext()
        }
    }

    private func copy(_ run: RecordRun, to writer: inout SnapshotWriter) throws {
        // Only values that may be rewritten are decompressed for the question.
        if let rewriter, rewriter.prefix(of: run.key) != nil {
            let isRewritten = try run.withValue {
                try rewrite($0, of: run.key, run.sequence, to: &writer)
            }
            if isRewritten { return }
        }
        try run.copyPut(to: &writer)
    }

    /// Adds what the value is to be from now on; `false` where it stays as it is.
    private func rewrite(
        _ value: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer, _ sequence: UInt64,
        to writer: inout SnapshotWriter
    ) throws -> Bool {
        guard let rewriter, let prefix = rewriter.prefix(of: key),
            let newer = rewriter.rewrite(value, inDictionary: prefix)
        else { return false }
        var bytes = [UInt8](repeating: 0, count: newer.count)
        try bytes.withUnsafeMutableBytes { buffer in
            // A value has a kind at least.
            newer.write(to: buffer.baseAddress!)
            try writer.add(key: key, sequence: sequence, value: UnsafeRawBufferPointer(buffer))
        }
        return true
    }

    private static let lookAhead = 8

    /// Once in a tenth of a millisecond or two.
    private static let pauseInterval = 128

    private func pause() throws {
        giveWay()
        if isStopping() { throw RoostError(.closed, "the workspace is being closed") }
    }

    private func isKept(_ key: UnsafeRawBufferPointer, _ sequence: UInt64) -> Bool {
        guard !clears.isEmpty, let (name, _) = splitRecordKey(key),
            let cleared = clears[[UInt8(name.count)] + Array(name)]
        else { return true }
        return sequence >= cleared
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
    static func trainDictionary(_ snapshot: SnapshotReader, recordCount: Int) throws
        -> CompressionDictionary
    {
        let stride = max(1, snapshot.groupCount / sampleCount)
        var samples: [[UInt8]] = []
        for index in Swift.stride(from: 0, to: snapshot.groupCount, by: stride) {
            let group = try snapshot.group(index)
            var cursor = try snapshot.cursor(group)
            var taken = 0
            while !cursor.isAtEnd, taken < max(1, sampleCount / snapshot.groupCount),
                let record = cursor.next()
            {
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
