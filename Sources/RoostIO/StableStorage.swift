#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#else
    import Glibc
#endif

// What a system has to be asked for so that bytes are on the disk and not in its cache: the one place where
// the systems differ in it.

/// Brings a file's content, and what of its metadata is needed to read that, onto the disk; negative with
/// `errno` where that fails.
func syncFileContent(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        return syncThroughDriveCache(descriptor)
    #else
        return fdatasync(descriptor)
    #endif
}

/// Brings a directory's entries onto the disk; negative with `errno` where that fails.
func syncDirectoryEntries(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
        return syncThroughDriveCache(descriptor)
    #else
        return fsync(descriptor)
    #endif
}

#if canImport(Darwin)
    /// There, `fsync` hands bytes to the drive, whose cache a power cut empties.
    private func syncThroughDriveCache(_ descriptor: Int32) -> Int32 {
        let result = fcntl(descriptor, F_FULLFSYNC)
        // File systems of other makers, and network shares, have no such call.
        guard result < 0, errno == ENOTSUP || errno == EINVAL || errno == ENOTTY else {
            return result
        }
        return fsync(descriptor)
    }
#endif
