import Foundation

/// What a directory's files take.
struct DiskUsage {
    private(set) var fileCount = 0
    /// The files' lengths, preallocated parts included.
    private(set) var sizeBytes: UInt64 = 0
    /// The blocks that the file system has given them.
    private(set) var allocatedBytes: UInt64 = 0

    /// `st_blocks` counts these, whatever the file system's own block is.
    private static let blockSizeBytes: UInt64 = 512

    init(directory: String) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) {
            var status = stat()
            // A file may be removed between the two calls, by a compaction.
            guard lstat("\(directory)/\(name)", &status) == 0 else { continue }
            fileCount += 1
            sizeBytes += UInt64(status.st_size)
            allocatedBytes += UInt64(status.st_blocks) * Self.blockSizeBytes
        }
    }
}
