import Foundation

/// The blocks that the file system has given a directory's files, preallocated ones included.
func allocatedBytes(in directory: String) throws -> UInt64 {
    // What `st_blocks` counts, whatever the file system's own block is.
    let blockSizeBytes: UInt64 = 512
    return try FileManager.default.contentsOfDirectory(atPath: directory).reduce(0) { sum, name in
        var status = stat()
        // A file may be removed between the two calls, by a compaction.
        guard lstat("\(directory)/\(name)", &status) == 0 else { return sum }
        return sum + UInt64(status.st_blocks) * blockSizeBytes
    }
}
