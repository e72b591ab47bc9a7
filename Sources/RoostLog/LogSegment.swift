import RoostFormat
import RoostIO

/// One preallocated file of the log that is being, or was, appended to in this opening.
package final class LogSegment: Sendable {
    package let number: UInt64
    package let file: any File
    /// What readers see: the file's own pages, or a copy in memory where it cannot be mapped.
    package let region: MappedRegion
    /// Whether `region` is the file; else each frame is also written to it.
    package let isMapped: Bool

    package var sizeBytes: Int { region.sizeBytes }

    private init(number: UInt64, file: any File, region: MappedRegion, isMapped: Bool) {
        self.number = number
        self.file = file
        self.region = region
        self.isMapped = isMapped
    }

    /// Creates and preallocates the file of segment `number`; its header stays blank until the
    /// segment is begun. Leaves no file behind where it fails.
    package static func create(
        number: UInt64, sizeBytes: Int, in directory: any Directory
    ) throws -> LogSegment {
        let name = FileName.segment(number).text
        let file = try directory.createFile(name)
        do {
            try file.preallocate(sizeBytes: UInt64(sizeBytes))
            if let region = try file.map(sizeBytes: sizeBytes, writable: true) {
                return LogSegment(number: number, file: file, region: region, isMapped: true)
            }
            let region = file.memory(sizeBytes: sizeBytes)
            return LogSegment(number: number, file: file, region: region, isMapped: false)
        } catch {
            do { try directory.remove(name) } catch let second {
                throw RoostError(
                    .io, "could not create a log segment, nor remove what there was of it",
                    file: file.path, cause: second)
            }
            throw error
        }
    }

    /// Makes `[offset, offset + count)` of the region part of the file.
    package func persist(offset: Int, count: Int) throws {
        if isMapped { return }
        let start = UnsafeRawPointer(region.base) + offset
        try file.write(.init(start: start, count: count), at: UInt64(offset))
    }
}
