import RoostFormat
import RoostIO
import RoostLog
import RoostSnapshot

/// What an opening does not take for a workspace that may be written to.
extension Opening {
    /// What the root of a file system has.
    private static let lostAndFound = "lost+found"

    func refuseIrregular(_ entries: [DirectoryEntry], _ path: String) throws {
        for entry in entries where !entry.isRegularFile && FileName(entry.name) != nil {
            throw RoostError(
                .io,
                "not a regular file: a workspace holds no links, pipes or directories. Move it elsewhere",
                file: "\(path)/\(entry.name)")
        }
        for entry in entries where !entry.isRegularFile && entry.name != Self.lostAndFound {
            guard entries.contains(where: { FileName($0.name) != nil }) else {
                throw RoostError(
                    .io,
                    "there is no workspace here, and one has a directory of its own: give another path",
                    file: path)
            }
            throw RoostError(
                .io, "the directory holds something that is not a regular file: move it elsewhere",
                file: "\(path)/\(entry.name)")
        }
    }

    /// A workspace that has lost its manifest is damaged, and no place where there is none.
    static func refuseData(
        _ entries: [DirectoryEntry], withoutManifestIn path: String
    ) throws {
        for entry in entries {
            switch FileName(entry.name) {
            case .segment, .snapshot:
                throw RoostError(
                    .corrupt,
                    "there are data files but no manifest. Restore a backup, or salvage what can be read",
                    file: "\(path)/\(FileName.manifest.text)")
            default: continue
            }
        }
    }

    /// No program has counted so far: such a number is a file's that somebody has made.
    func refuseSpent(
        _ recovered: LogRecovery, _ manifest: ManifestRecord, _ path: String
    ) throws {
        let segment = FileName.segment(recovered.highestNumber).text
        let name =
            recovered.highestNumber >= Limits.openedNumber
                && recovered.highestNumber >= manifest.firstSegment
            ? segment : FileName.manifest.text
        let numbers = [
            recovered.highestNumber, recovered.lastSequence, manifest.durableSequence,
            manifest.generation, manifest.nextSnapshotNumber,
        ]
        guard numbers.allSatisfy({ $0 < Limits.openedNumber }) else {
            throw RoostError(
                .corrupt,
                "a number is so high that none comes after it. Restore a backup, or salvage what can be read",
                file: "\(path)/\(name)")
        }
    }

    /// A flush writes no batch that is not on disk in the log first, so what a crash has left of one holds nothing that the
    /// log has not. A snapshot with later batches says that the manifest is an older one that was put back without
    /// its files: to remove the snapshot, as a leftover, would lose them.
    func refuseNewer(
        _ entries: [DirectoryEntry], _ manifest: ManifestRecord, lastSequence: UInt64,
        _ directory: any Directory
    ) throws {
        let live = Set(manifest.snapshots.map(\.number))
        for case .snapshot(let number)? in entries.map({ FileName($0.name) })
        where !live.contains(number) {
            let reader: SnapshotReader
            do { reader = try SnapshotReader(number: number, in: directory) } catch let error
                as RoostError
                where [.corrupt, .unsupportedVersion, .wrongKey].contains(error.code)
            { continue }
            guard reader.footer.workspace == manifest.workspace,
                reader.footer.maximumSequence > lastSequence
            else { continue }
            throw RoostError(
                .corrupt,
                "the manifest is older than this snapshot, which has batches after \(lastSequence), the last that the "
                    + "manifest and the log have. Restore a backup, or salvage what can be read",
                file: "\(directory.path)/\(FileName.snapshot(number).text)")
        }
    }

    func refuseFollowed(_ entries: [DirectoryEntry], _ path: String) throws {
        guard entries.contains(where: { $0.name == followedMarkName }) else { return }
        throw RoostError(
            .readOnly,
            "the directory follows a copy, and what is written here would be mixed into it: open it for "
                + "reading, or promote its follower; to go on alone from this state, remove this file",
            file: "\(path)/\(followedMarkName)")
    }
}
