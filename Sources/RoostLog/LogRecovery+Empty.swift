import RoostFormat
import RoostIO

// What openings leave that write nothing and end without a close. docs/decisions/0297.

extension LogRecovery {
    /// So many segments without a batch may stand before the last one until an opening removes them, which costs two
    /// syncs.
    static let emptySegmentLimit = 16

    /// Removes the segments that hold a header alone, where they are many; the last one stays.
    ///
    /// Safe to be stopped anywhere: without batches they leave no gap, and what their headers say of the batches before
    /// them, the last segment's header says too. That one is on disk before they go.
    mutating func removeEmptySegments(in directory: any Directory) throws {
        guard tornTails.isEmpty, let last = readers.last, kept[last.number] != nil else { return }
        let empty = Set(readers.dropLast().filter(isEmpty).map(\.number))
        guard empty.count >= Self.emptySegmentLimit else { return }
        try EarlierSegment(last, uncertain: uncertainRange(of: last)).bringToDisk()
        try directory.sync()
        for number in empty.sorted() {
            try directory.remove(FileName.segment(number).text)
        }
        try directory.sync()
        readers.removeAll { empty.contains($0.number) }
    }

    private func isEmpty(_ reader: LogReader) -> Bool {
        kept[reader.number]?.endOffset == SegmentHeader.sizeBytes
    }
}
