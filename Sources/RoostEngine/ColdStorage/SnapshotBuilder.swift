import RoostFormat
import RoostIO
import RoostSnapshot

/// Writes the records of a range of keys, from a flush's operations or from the tiers of a merge, into a
/// new snapshot. Blocks; runs on a build thread.
struct SnapshotBuilder: Sendable {
    let directory: any Directory
    let workspace: WorkspaceIdentifier
    let hashSeed: HashSeed
    /// What values are compressed against; `nil` where they are not to be compressed.
    let dictionary: CompressionDictionary?
    /// Nothing older than the records is left, so tombstones have nothing to hide.
    let dropsTombstones: Bool
    /// Records older than their dictionary's entry are left out.
    let clears: [[UInt8]: UInt64]
    /// Values that have expired are left out; a tombstone hides what is older.
    let clock: ExpiryClock
    /// `nil` where no value is to be rewritten.
    var rewriter: (any ValueRewriter)?
    /// Throws where the directory is not the workspace's any more; called before a snapshot gets its name.
    var checksDirectory: @Sendable () throws -> Void = {}
    /// Asked now and then; `true` gives the work up.
    let isStopping: @Sendable () -> Bool

    /// One snapshot to be written.
    struct Job: Sendable {
        enum Origin: Sendable {
            /// A flush: some of these.
            case operations(SortedTable, Range<Int>)
            /// A merge: what these tiers, the newest first, have from the lower bound up to `upper`.
            case tiers([ColdTier], upper: [UInt8]?)

            /// Throws `.io` where a page of what it is made from could not be read.
            func checkRead() throws {
                switch self {
                case .operations(let table, _): try table.checkRead()
                case .tiers(let tiers, _):
                    for part in tiers.lazy.flatMap(\.parts) { try part.snapshot.region.checkRead() }
                }
            }
        }

        let number: UInt64
        /// No record of the job stands before it, and all that come before the job's do.
        let lowerBound: [UInt8]
        let origin: Origin
    }

    /// The finished file's footer, or `nil` where no record remained and there is no file.
    func build(_ job: Job) throws -> SnapshotFooter? {
        var writer = try SnapshotWriter(
            directory: directory, number: job.number, workspace: workspace, hashSeed: hashSeed,
            dictionary: dictionary, expectedRecordCount: expectedRecordCount(job))
        do {
            switch job.origin {
            case .operations(let table, let range): try add(table, range, to: &writer)
            case .tiers(let tiers, let upper):
                let range = RecordRange(prefix: [], lower: job.lowerBound, upper: upper)
                try add(ViewScan(newestOf: tiers, range), to: &writer)
            }
            if writer.recordCount > 0 {
                return try writer.finish(checksDirectory: checksDirectory)
            }
        } catch {
            // The first failure is the one to tell; the next opening removes what stays.
            do { try writer.discard() } catch {}
            throw error
        }
        try writer.discard()
        return nil
    }

    private func expectedRecordCount(_ job: Job) -> Int {
        switch job.origin {
        case .operations(_, let range): range.count
        case .tiers: 0
        }
    }

    private func add(
        _ table: SortedTable, _ range: Range<Int>, to writer: inout SnapshotWriter
    ) throws {
        for index in range {
            if index % Self.pauseInterval == 0 { try pause() }
            // The records lie in the log in the order of their writing.
            if index + Self.lookAhead < range.upperBound {
                table.operations[index + Self.lookAhead].prefetch()
            }
            let operation = table.operations[index]
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

    private func add(_ scan: ViewScan, to writer: inout SnapshotWriter) throws {
        var copies = CopyableSnapshots(writer.dictionary)
        var steps = 0
        while let head = scan.currentHead {
            steps += 1
            if steps % Self.pauseInterval == 0 { try pause() }
            let key = head.pointee.key
            let sequence = head.pointee.sequence
            if isKept(key, sequence) {
                if head.pointee.flags.contains(.put), clock.isLive(head.pointee.deadline) {
                    try copy(head, of: scan, to: &writer, &copies)
                } else if !dropsTombstones {
                    try writer.addTombstone(key: key, sequence: sequence)
                }
            }
            try scan.moveToNext()
        }
    }

    /// Adds the current put, as it is stored where the writer's dictionary allows.
    private func copy(
        _ head: UnsafePointer<RecordHead>, of scan: ViewScan, to writer: inout SnapshotWriter,
        _ copies: inout CopyableSnapshots
    ) throws {
        let (key, sequence) = (head.pointee.key, head.pointee.sequence)
        // Only values that may be rewritten are decompressed for the question.
        if let rewriter, rewriter.prefix(of: key) != nil,
            try rewrite(scan.value(), of: key, sequence, to: &writer)
        {
            return
        }
        if !head.pointee.flags.isCompressed {
            // Its reason for not being compressed, its size or its bytes, holds still.
            try writer.add(
                key: key, sequence: sequence, flags: head.pointee.flags,
                stored: head.pointee.stored, rawCount: head.pointee.rawCount)
        } else if try copies.contains(scan.reader) {
            try writer.add(
                key: key, sequence: sequence, flags: head.pointee.flags,
                stored: head.pointee.stored, rawCount: head.pointee.rawCount)
        } else {
            try writer.add(key: key, sequence: sequence, value: scan.value())
        }
    }

    /// Adds what the value is to be from now on; `false` where it stays as it is.
    private func rewrite(
        _ value: UnsafeRawBufferPointer, of key: UnsafeRawBufferPointer, _ sequence: UInt64,
        to writer: inout SnapshotWriter
    ) throws -> Bool {
        guard let rewriter, let prefix = rewriter.prefix(of: key),
            let newer = rewriter.rewrite(value, inDictionary: prefix),
            // A longer one, and the records beside it, could not be read again: it stays as it is.
            newer.count <= Limits.valueSizeBytes + Limits.valueOverheadBytes
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
}

/// Which of a merge's snapshots have the writer's compression dictionary, so that their compressed values
/// are copied as they stand. Compared once for each snapshot: there are few.
private struct CopyableSnapshots {
    private let dictionary: CompressionDictionary
    private var known: [(snapshot: UnsafeMutableRawPointer, isCopyable: Bool)] = []

    init(_ dictionary: CompressionDictionary) { self.dictionary = dictionary }

    mutating func contains(_ snapshot: Unmanaged<SnapshotReader>) throws -> Bool {
        let address = snapshot.toOpaque()
        for one in known where one.snapshot == address { return one.isCopyable }
        let isCopyable = try snapshot._withUnsafeGuaranteedRef {
            try $0.dictionary() == dictionary
        }
        known.append((address, isCopyable))
        return isCopyable
    }
}
