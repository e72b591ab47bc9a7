import Roost
import RoostFormat
import RoostIO
import RoostSnapshot

/// Writes what the manifest says, one fact on a line.
struct ManifestDump {
    let preview: ValuePreview
    let output: Output

    func dump(in directory: any Directory) throws {
        let read = try ManifestFile.read(in: directory, entries: try directory.entries())
        guard let manifest = read else {
            throw RoostError(.io, "there is no manifest here", file: directory.path)
        }
        try output.writeLine(
            "# \(FileName.manifest.text): generation \(manifest.generation), "
                + "log from segment \(manifest.firstSegment), "
                + "flushed up to batch \(manifest.flushedSequence), "
                + "on disk up to batch \(manifest.durableSequence)")
        for clear in manifest.clears {
            let name = clear.prefix.withUnsafeBytes { preview.dictionary($0) }
            try output.writeLine("\(clear.sequence)  removed all  \(name)")
        }
        for (tier, snapshots) in manifest.tiers.enumerated() {
            for snapshot in snapshots {
                try output.writeLine(
                    "tier \(tier)  \(FileName.snapshot(snapshot.number).text)  "
                        + "\(grouped(snapshot.recordCount)) records, "
                        + "\(grouped(snapshot.fileSizeBytes)) bytes, batches "
                        + "\(snapshot.minimumSequence) to \(snapshot.maximumSequence)")
            }
        }
    }
}
