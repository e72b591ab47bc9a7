import RoostFormat
import RoostIO

/// Reads and replaces the manifest.
package enum ManifestFile {
    /// `nil` where the directory has none.
    package static func read(in directory: any Directory, entries: [DirectoryEntry]) throws
        -> ManifestRecord?
    {
        let name = FileName.manifest.text
        guard entries.contains(where: { $0.name == name }) else { return nil }
        let file = try directory.openFile(name, writable: false)
        let size = try file.sizeBytes()
        guard size <= UInt64(Limits.manifestSizeBytes) else {
            throw RoostError(
                .corrupt, "the manifest is too long to be one", file: file.path, offset: 0)
        }
        let bytes = try file.read(count: Int(size), at: 0)
        if bytes.starts(with: sealedFileMagic) {
            throw RoostError(
                .wrongKey, "the workspace is encrypted: open it with its key", file: file.path)
        }
        switch bytes.withUnsafeBytes(ManifestRecord.read) {
        case .valid(let record): return record
        case .unsupported(let version):
            throw RoostError(
                .unsupportedVersion,
                "the workspace is of format \(version); this version reads \(Limits.formatVersion)",
                file: file.path, offset: 8)
        case .damaged(let offset, let reason):
            throw RoostError(
                .corrupt, "\(reason). Restore a backup, or salvage what can be read",
                file: file.path, offset: offset)
        }
    }

    /// Makes `record` the manifest: after a crash at any step the old one or the new one
    /// stands. Blocks for two syncs.
    package static func replace(with record: ManifestRecord, in directory: any Directory) throws {
        try prepare(record, in: directory)
        try publish(in: directory)
    }

    /// Writes what the next `publish` will make the manifest. Where it throws, nothing has
    /// changed.
    package static func prepare(_ record: ManifestRecord, in directory: any Directory) throws {
        // An opening would refuse it, and the workspace with it.
        guard record.isPlausible else {
            throw RoostError(
                .corrupt,
                "the manifest's numbers have come to their end: it could not be read again",
                file: "\(directory.path)/\(FileName.manifest.text)")
        }
        let encoded = record.encoded()
        guard encoded.count <= Limits.manifestSizeBytes else {
            throw RoostError(
                .io,
                "the manifest would be longer than an opening reads: too many dictionaries were emptied "
                    + "since all snapshots were merged. Compact the workspace",
                file: "\(directory.path)/\(FileName.manifest.text)")
        }
        let unfinished = FileName.newManifest.text
        if try directory.entries().contains(where: { $0.name == unfinished }) {
            try directory.remove(unfinished)
        }
        let file = try directory.createFile(unfinished)
        try withExtendedLifetime(encoded) { try file.write(encoded.bytes, at: 0) }
        try file.syncData()
    }

    /// Puts the prepared manifest in the old one's place. Where it throws, either may stand after
    /// a crash.
    package static func publish(in directory: any Directory) throws {
        try directory.rename(FileName.newManifest.text, to: FileName.manifest.text)
        try directory.sync()
    }
}
