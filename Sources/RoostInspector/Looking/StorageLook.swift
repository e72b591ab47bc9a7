import Foundation
import Roost
import RoostFormat
import RoostForms

/// What a workspace takes, at one moment.
struct StorageLook {
    let date = Date()
    let figures: WorkspaceStatistics
    let files: Files

    /// What the files take, by their kinds. Zero of a workspace in memory.
    struct Files {
        var logSizeBytes: UInt64 = 0
        var snapshotSizeBytes: UInt64 = 0
        /// Torn tails, the manifest, and what is being written.
        var otherSizeBytes: UInt64 = 0
        var count = 0
    }

    init(_ workspace: Workspace) throws {
        figures = workspace.statistics
        files = try Files(directory: workspace.path)
    }

    /// How many of the records are live; costs as counting all dictionaries.
    static func live(_ workspace: Workspace) throws -> JSONValue {
        .members(["liveKeyCount": .integer(try workspace.liveKeyCount())])
    }

    var json: JSONValue {
        .members([
            "time": .integer(Int64(date.timeIntervalSince1970 * 1000)),
            "logSizeBytes": .integer(files.logSizeBytes),
            "snapshotSizeBytes": .integer(files.snapshotSizeBytes),
            "otherSizeBytes": .integer(files.otherSizeBytes),
            "fileCount": .integer(files.count),
            "logKeyCount": .integer(figures.logKeyCount),
            "snapshotRecordCount": .integer(figures.snapshotRecordCount),
            "snapshotCount": .integer(figures.snapshotCount),
            "snapshotTierCount": .integer(figures.snapshotTierCount),
            "logTableSizeBytes": .integer(figures.logTableSizeBytes),
            "residentSizeBytes": .integer(figures.residentSizeBytes),
            "residentCount": .integer(figures.residentCount),
            "residentReadCount": .integer(figures.residentReadCount),
            "logReadCount": .integer(figures.logReadCount),
            "coldReadCount": .integer(figures.coldReadCount),
            "lastSequence": .integer(figures.lastSequence),
            "durableSequence": .integer(figures.durableSequence),
            "logBytesAppended": .integer(figures.logBytesAppended),
            "snapshotBytesWritten": .integer(figures.snapshotBytesWritten),
            "writeAmplification": .number("\(figures.writeAmplification)"),
            "syncCount": .integer(figures.syncCount),
            "flushCount": .integer(figures.flushCount),
            "mergeCount": .integer(figures.mergeCount),
            "liveReadViewCount": .integer(figures.liveReadViewCount),
            "liveQueryCount": .integer(figures.liveQueryCount),
            "compactionFailure": figures.compactionFailure.map { .string($0) } ?? .null,
        ])
    }
}

extension StorageLook.Files {
    init(directory: String) throws {
        guard FileManager.default.fileExists(atPath: directory) else { return }
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            var status = stat()
            // A file may be removed between the two calls, by a compaction.
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            count += 1
            let sizeBytes = UInt64(status.st_size)
            switch FileName(name) {
            case .segment: logSizeBytes += sizeBytes
            case .snapshot: snapshotSizeBytes += sizeBytes
            default: otherSizeBytes += sizeBytes
            }
        }
    }
}
