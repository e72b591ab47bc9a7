import RoostFormat
import RoostIO

/// A segment that another opening writes, or wrote, and this one reads.
package final class FollowedSegment: Sendable {
    package let header: SegmentHeader
    package let file: any File
    /// What the tables point into. Only what was found whole by calls is looked at here: the rest may be
    /// cut off any time, and a look at it would be a fault.
    package let region: MappedRegion

    package var number: UInt64 { header.number }

    package init(header: SegmentHeader, file: any File, region: MappedRegion) {
        self.header = header
        self.file = file
        self.region = region
    }

    package var forHistory: LogHistory.Segment {
        LogHistory.Segment(
            number: header.number, firstSequence: header.firstSequence, seed: header.seed,
            region: region)
    }

    /// Opens segment `number`; `nil` where it is not begun yet, or gone.
    static func open(
        _ number: UInt64, in directory: any Directory, workspace: WorkspaceIdentifier,
        sharing: MemorySharing
    ) throws -> FollowedSegment? {
        guard
            let (header, file, bytes) = try begin(of: number, in: directory, workspace: workspace)
        else { return nil }
        let size = Int(try file.sizeBytes())
        if sharing == .mapped, let region = try file.map(sizeBytes: size, writable: false) {
            return FollowedSegment(header: header, file: file, region: region)
        }
        let region = try MappedRegion.anonymous(sizeBytes: size, for: file.path)
        // A backup takes the segment from here.
        region.base.copyMemory(from: bytes, byteCount: min(size, bytes.count))
        return FollowedSegment(header: header, file: file, region: region)
    }

    /// The header of segment `number` and its file, as they are now; `nil` as for `open`.
    static func begin(
        of number: UInt64, in directory: any Directory, workspace: WorkspaceIdentifier
    ) throws -> (header: SegmentHeader, file: any File, bytes: [UInt8])? {
        let name = FileName.segment(number).text
        let found = try directory.ifThere(name) { try directory.openFile(name, writable: false) }
        guard let file = found else { return nil }
        var bytes = [UInt8](repeating: 0, count: SegmentHeader.sizeBytes)
        let count = try bytes.withUnsafeMutableBytes { try file.readUp(to: $0, at: 0) }
        // Half of one is one that is being written.
        guard count == bytes.count else { return nil }
        switch bytes.withUnsafeBytes(SegmentHeader.read) {
        case .blank, .damaged: return nil
        case .unsupported(let version):
            throw RoostError(
                .unsupportedVersion,
                "the log segment is of format \(version); this version reads \(Limits.formatVersion)",
                file: file.path, offset: 8)
        case .valid(let header):
            guard header.number == number, header.workspace == workspace else {
                throw RoostError(
                    .corrupt,
                    "the log segment belongs to another workspace or another place in the log",
                    file: file.path, offset: 16)
            }
            return (header, file, bytes)
        }
    }

    /// The frame at `offset`, which was found whole.
    package func frame(at offset: Int) -> Frame.View? {
        Frame.unchecked(in: region.bytes, at: offset, limit: region.sizeBytes)
    }
}
