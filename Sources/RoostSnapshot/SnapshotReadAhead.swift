import RoostFormat

/// Asks for the groups that a long walk through a snapshot will come to: the kernel was told to expect
/// random reads.
package struct SnapshotReadAhead {
    /// Groups walked through since the last seek, and where reading ahead has got to.
    private var walkedCount = 0
    private var aheadEnd = 0

    /// This much is asked for before the walk comes there.
    private static let aheadSizeBytes = 512 << 10

    package init() {}

    /// The walk has come to `group`.
    package mutating func note(
        _ group: UnsafeRawBufferPointer, of snapshot: SnapshotReader, _ order: ScanOrder
    ) {
        walkedCount += 1
        guard walkedCount > 8 else { return }
        let offset = group.baseAddress! - UnsafeRawPointer(snapshot.region.base)
        let size = Self.aheadSizeBytes
        switch order {
        case .ascending:
            guard offset + size / 2 > aheadEnd else { return }
            let begin = max(offset, aheadEnd)
            snapshot.region.readAhead(offset: begin, sizeBytes: size)
            aheadEnd = begin + size
        case .descending:
            if walkedCount == 9 { aheadEnd = offset }
            guard offset - size / 2 < aheadEnd, aheadEnd > 0 else { return }
            let begin = max(0, aheadEnd - size)
            snapshot.region.readAhead(offset: begin, sizeBytes: aheadEnd - begin)
            aheadEnd = begin
        }
    }
}
