import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// Reads what can be read of a workspace, however damaged, and changes nothing in it. For one
/// user at a time; blocks; holds every key in memory.
///
/// - `winners` says for each record key which of its records is the newest that was found.
/// - A clear hides what is older than it, as in an open workspace.
package struct Salvage {
    enum Location {
        /// The address of an operation.
        case log(UInt)
        case group(snapshot: Int, index: Int, offset: Int)
    }

    /// A segment, and how many frames were found in it.
    struct Segment {
        var reader: LogReader
        var seed: ChecksumSeed
        var frameCount: Int
    }

    struct Winner {
        var sequence: UInt64
        var isPut: Bool
        var location: Location
    }

    let directory: any Directory
    let entries: [DirectoryEntry]
    /// `nil` where it cannot be read.
    let manifest: ManifestRecord?
    package internal(set) var report = SalvageReport()
    /// Why the first file did not open that is sealed under another key.
    package internal(set) var wrongKey: RoostError?
    var winners: [[UInt8]: Winner] = [:]
    var clears: [[UInt8]: UInt64] = [:]
    var snapshots: [SnapshotReader] = []
    /// Those of `snapshots` that were read from last, the last one at the end.
    var opened: [(index: Int, reader: SnapshotReader)] = []
    var segments: [Segment] = []
    /// The last batch that is taken from the log: after it is its unfinished end.
    var lastSequence: UInt64 = .max

    /// Looks at everything. Throws where the directory cannot be read at all, is in use, or is of
    /// a later format.
    package init(path: String, fileSystem: any FileSystem) throws {
        directory = try fileSystem.openDirectory(at: path, create: false)
        try directory.lock(exclusive: false)
        entries = try directory.entries()
        guard entries.contains(where: { FileName($0.name) != nil }) else {
            throw RoostError(.io, "there is no workspace here to read", file: path)
        }
        var failure: RoostError?
        manifest = try Self.readManifest(in: directory, entries, &failure)
        if let failure {
            noteWrongKey(failure)
            report.losses.append(
                .init(
                    file: FileName.manifest.text, offset: failure.offset,
                    reason: "\(failure.message). What was removed before the last flush may be back"
                ))
        } else {
            report.fileCount += 1
        }
        for clear in manifest?.clears ?? [] { clears[clear.prefix] = clear.sequence }
        try readSnapshots()
        try readLog()
    }

    private static func readManifest(
        in directory: any Directory, _ entries: [DirectoryEntry], _ failure: inout RoostError?
    ) throws -> ManifestRecord? {
        do {
            if let manifest = try ManifestFile.read(in: directory, entries: entries) {
                return manifest
            }
            failure = RoostError(.corrupt, "there is no manifest")
        } catch let error as RoostError where error.code != .unsupportedVersion {
            failure = error
        }
        return nil
    }

    // MARK: The records

    /// Whether no record was found, of those that were removed either.
    package var isEmpty: Bool { winners.isEmpty }

    /// The record keys that have a value, in the order of their bytes.
    package var recordKeys: [[UInt8]] {
        winners.filter { key, winner in
            winner.isPut && winner.sequence >= clearedSequence(of: key)
        }.keys.sorted { $0.lexicographicallyPrecedes($1) }
    }

    private func clearedSequence(of key: [UInt8]) -> UInt64 {
        guard !clears.isEmpty, let length = key.first else { return 0 }
        return clears[Array(key.prefix(1 + Int(length)))] ?? 0
    }

    /// The stored value of one of `recordKeys`; `nil`, and a loss in the report, where the file does not have it any
    /// more as it was found. The keys of other losses lie between `before` and `after`.
    package mutating func value(
        of recordKey: [UInt8], after: [UInt8]?, before: [UInt8]?
    ) throws -> [UInt8]? {
        do { return try value(of: recordKey) } catch let error as RoostError
            where error.code == .io || error.code == .corrupt
        {
            noteLoss(of: recordKey, after: after, before: before, error.message, error.offset)
            return nil
        }
    }

    private mutating func value(of recordKey: [UInt8]) throws -> [UInt8] {
        guard let winner = winners[recordKey] else { throw Self.changed(nil) }
        switch winner.location {
        case .log(let location):
            guard
                let region = segments.lazy.map(\.reader.region).first(where: {
                    $0.contains(location)
                })
            else { throw Self.changed(nil) }
            let operation = Operation(location: location)
            let (key, value) = (Array(operation.key), Array(operation.value))
            try region.checkRead(operation)
            guard key == recordKey else {
                throw Self.changed(UInt64(location - UInt(bitPattern: region.base)))
            }
            return value
        case .group(let snapshot, let index, let offset):
            let snapshot = reader(ofSnapshot: snapshot)
            return try recordKey.withUnsafeBytes { key in
                let group = try snapshot.group(index, at: offset)
                let search = RecordGroup.find(key, in: group, firstKey: snapshot.footer.firstKey)
                try snapshot.checkRead(group)
                guard case .found(let record) = search else {
                    throw Self.changed(UInt64(max(0, offset)))
                }
                var value: [UInt8] = []
                try snapshot.withValue(of: record) { value = Array($0) }
                return value
            }
        }
    }

    private static func changed(_ offset: UInt64?) -> RoostError {
        RoostError(
            .corrupt, "the file was changed while it was read: a value is not there any more",
            offset: offset)
    }

    /// A value of `recordKeys` that is not written.
    package mutating func noteLoss(
        of recordKey: [UInt8], after: [UInt8]?, before: [UInt8]?, _ reason: String,
        _ offset: UInt64? = nil
    ) {
        guard let winner = winners[recordKey] else { return }
        let file: String? =
            switch winner.location {
            case .log(let location):
                segments.first { $0.reader.region.contains(location) }?.reader.name
            case .group(let snapshot, _, _):
                FileName.snapshot(snapshots[snapshot].footer.number).text
            }
        report.noteRecord(
            .init(
                file: file ?? FileName.manifest.text, offset: offset, reason: reason,
                after: after.flatMap { $0.withUnsafeBytes(Self.place) },
                before: before.flatMap { $0.withUnsafeBytes(Self.place) },
                sequences: winner.sequence...winner.sequence),
            at: recordKey.withUnsafeBytes(Self.place))
    }

    package mutating func noteWritten(recordCount: Int) { report.recordCount += recordCount }

    mutating func noteWrongKey(_ error: RoostError) {
        if error.code == .wrongKey, wrongKey == nil { wrongKey = error }
    }

    mutating func note(
        _ key: [UInt8], _ sequence: UInt64, isPut: Bool, at location: Location
    ) {
        // Of several in one batch the last one counts.
        if let winner = winners[key], winner.sequence > sequence { return }
        winners[key] = Winner(sequence: sequence, isPut: isPut, location: location)
    }

    static func place(_ key: UnsafeRawBufferPointer) -> SalvageReport.Place? {
        splitRecordKey(key).map { name, key in
            .init(
                dictionary: String(decoding: name, as: UTF8.self),
                key: String(decoding: key, as: UTF8.self))
        }
    }
}
