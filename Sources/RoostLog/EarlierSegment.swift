import RoostIO

/// A segment of an earlier opening, whose frames may not be on disk.
///
/// A sync of it may have failed before this opening. The kernel then still shows the pages and
/// takes them for clean: a sync would succeed without writing them. So what nothing proves to be on
/// disk is written once more, where it stands, before a sync counts. That may be the whole of a long
/// log, and waits for the first sync; an opening that is killed before it leaves all as it was.
///
/// It is read by calls: where a page of the mapping was lost, zeros stand, which must not take the place of what a disk
/// that reads again has, nor make a file that was cut look whole.
package struct EarlierSegment: Sendable {
    let file: any File
    private let uncertain: Range<Int>

    init(_ reader: LogReader, uncertain: Range<Int>) {
        file = reader.file
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
            let count = min(Self.pieceSizeBytes, uncertain.upperBound - begin)
            let bytes = try file.read(count: count, at: UInt64(begin))
            try bytes.withUnsafeBytes { try file.write($0, at: UInt64(begin)) }
            begin += count
        }
    }

    private static let pieceSizeBytes = 1 << 20
}
