import RoostIO

/// A segment of an earlier opening, whose frames may not be on disk.
///
/// A sync of it may have failed before this opening. The kernel then still shows the pages and
/// takes them for clean: a sync would succeed without writing them. So what nothing proves to be on
/// disk is written once more, where it stands, before a sync counts. That may be the whole of a long
/// log, and waits for the first sync; an opening that is killed before it leaves all as it was.
package struct EarlierSegment: Sendable {
    let file: any File
    private let region: MappedRegion
    private let uncertain: Range<Int>

    init(_ reader: LogReader, uncertain: Range<Int>) {
        file = reader.file
        region = reader.region
        self.uncertain = uncertain
    }

    /// Returns once all of it is on disk; blocks.
    package func bringToDisk() throws {
        try rewrite()
        try file.syncData()
    }

    func rewrite() throws {
        var begin = uncertain.lowerBound
        while begin < uncertain.upperBound {
            let end = min(begin + Self.pieceSizeBytes, uncertain.upperBound)
            let bytes = UnsafeRawBufferPointer(rebasing: region.bytes[begin..<end])
            try file.write(bytes, at: UInt64(begin))
            // The write has brought the pages into this process's memory: a long log would fill it.
            region.dropPages(offset: begin, sizeBytes: end - begin)
            begin = end
        }
    }

    private static let pieceSizeBytes = 4 << 20
}
