import Roost
import RoostFormat
import RoostIO
import RoostSnapshot

/// Writes the records of a snapshot, one on a line: the sequence number, what it is, and the
/// value with what it takes in the file where it is compressed.
struct SnapshotDump {
    let preview: ValuePreview
    let output: Output

    func dump(snapshot number: UInt64, in directory: any Directory) throws {
        let reader = try SnapshotReader(number: number, in: directory)
        let footer = reader.footer
        try output.writeLine(
            "# \(FileName.snapshot(number).text): "
                + "\(grouped(footer.recordCount)) records (\(grouped(footer.tombstoneCount)) "
                + "tombstones) in \(grouped(footer.groupCount)) groups, batches "
                + "\(footer.minimumSequence) to \(footer.maximumSequence), "
                + "\(grouped(footer.fileSizeBytes)) bytes for \(grouped(footer.rawSizeBytes))")
        let cursor = SnapshotCursor(reader)
        try cursor.moveToFirst()
        while let record = cursor.record {
            let key = preview.key(cursor.key)
            if record.isPut {
                var value = ""
                try reader.withValue(of: record) { value = preview.value($0) }
                let compressed =
                    record.flags.isCompressed
                    ? "  (\(record.rawCount) bytes in \(record.stored.count))" : ""
                try output.writeLine("\(record.sequence)  put  \(key)  \(value)\(compressed)")
            } else {
                try output.writeLine("\(record.sequence)  tombstone  \(key)")
            }
            try cursor.moveToNext()
        }
    }
}
